// Each deal once, and as many as the formula says.
#include "study/deals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace swizzleperf::study {
namespace {

using Sizes = std::vector<std::uint32_t>;

double factorial(std::uint32_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

double by_formula(const Sizes& sizes) {
  std::map<std::uint32_t, std::uint32_t> dies;
  std::uint32_t blocks = 0;
  double below = 1;
  for (const std::uint32_t size : sizes) {
    blocks += size;
    below *= factorial(size);
    if (size > 0) ++dies[size];
  }
  for (const auto& [size, number] : dies) below *= factorial(number);
  return factorial(blocks) / below;
}

/// What two deals that are one have in common: the sets of blocks, by how many.
std::vector<std::vector<std::uint32_t>> sets_of(const std::vector<std::uint32_t>& die_of,
                                                std::size_t dies) {
  std::vector<std::vector<std::uint32_t>> sets(dies);
  for (std::uint32_t b = 0; b < die_of.size(); ++b) sets[die_of[b]].push_back(b);
  std::sort(sets.begin(), sets.end());
  return sets;
}

TEST(Deals, EachComesOnceAndThereAreAsManyAsTheFormulaSays) {
  for (const Sizes& sizes :
       {Sizes{1}, Sizes{3}, Sizes{1, 1}, Sizes{2, 2}, Sizes{2, 1}, Sizes{1, 2}, Sizes{3, 3, 3},
        Sizes{2, 2, 2, 2}, Sizes{2, 2, 1, 1, 0}, Sizes{3, 2, 2, 3}, Sizes{4, 4},
        Sizes{1, 1, 1, 0, 0}, Sizes{2, 2, 2, 2, 2}, Sizes{5, 3, 1}, Sizes{2, 2, 2, 1, 1, 1, 1}}) {
    const Deals deals(sizes);
    ASSERT_EQ(deals.count(), static_cast<std::uint64_t>(by_formula(sizes)));
    EXPECT_NEAR(deals.approximate_count() / by_formula(sizes), 1, 1e-9);
    std::set<std::vector<std::vector<std::uint32_t>>> seen;
    for (std::uint64_t number = 0; number < deals.count(); ++number) {
      const std::vector<std::uint32_t> die_of = deals.die_of_block(number);
      Sizes counted(sizes.size());
      for (const std::uint32_t die : die_of) ++counted.at(die);
      ASSERT_EQ(counted, sizes);
      ASSERT_TRUE(seen.insert(sets_of(die_of, sizes.size())).second) << number;
    }
  }
}

TEST(Deals, SixteenBlocksOnEightDies) {
  EXPECT_EQ(Deals(Sizes(8, 2)).count(), 2027025U);
  EXPECT_EQ(Deals(Sizes(4, 4)).count(), 2627625U);
  EXPECT_EQ(Deals(Sizes(2, 8)).count(), 6435U);
}

TEST(Deals, TheFirstDealKeepsNeighboursAndTheLastDealsOutside) {
  const Deals deals(Sizes(2, 2));
  EXPECT_EQ(deals.die_of_block(0), (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(deals.die_of_block(2), (std::vector<std::uint32_t>{0, 1, 1, 0}));
}

TEST(Deals, TooManyToCountAreSaidToBe) {
  EXPECT_EQ(Deals(Sizes(8, 8)).count(), Deals::kTooMany);
  EXPECT_GT(Deals(Sizes(8, 8)).approximate_count(), 1e45);
  EXPECT_EQ(Deals(Sizes(8, 1000)).count(), Deals::kTooMany);
}

}  // namespace
}  // namespace swizzleperf::study
