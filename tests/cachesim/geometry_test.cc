// Set maps: in range, balanced on dense lines, and the fold equal to its definition.
#include "cachesim/geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "support/random_launch.h"
#include "support/synthetic.h"

namespace swizzleperf::cachesim {
namespace {

TEST(Geometry, FoldXorsAllGroupsOfBits) {
  Random random(1);
  for (std::uint32_t bits = 0; bits <= 16; ++bits) {
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<std::uint32_t>(random.next());
      std::uint32_t wanted = 0;
      for (std::uint64_t rest = value; bits > 0 && rest != 0; rest >>= bits) {
        wanted ^= static_cast<std::uint32_t>(rest) & ((1U << bits) - 1U);
      }
      ASSERT_EQ(fold(value, bits), wanted) << value << " in groups of " << bits;
    }
  }
}

TEST(Geometry, SetsAreInRange) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const CacheModel model = synthetic::random_cache(random, 128);
    const SetMap set(model);
    ASSERT_EQ(set.sets(), model.sets());
    for (int i = 0; i < 300; ++i) {
      ASSERT_LT(set(static_cast<std::uint32_t>(random.next())).set, model.sets())
          << "seed " << seed;
    }
    ASSERT_LT(set(0).set, model.sets());
    ASSERT_LT(set(0xffffffffU).set, model.sets());
  }
}

/// Set and tag together tell every line from every other, and tags stay below their bound.
TEST(Geometry, TagsTellLinesApart) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const CacheModel model = synthetic::random_cache(random, 128);
    const SetMap map(model);
    const std::uint32_t lines = 1 + static_cast<std::uint32_t>(random.below(100'000));
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::uint32_t line = 0; line < lines; line += 1 + line / 64) {
      const auto [set, tag] = map(line);
      ASSERT_TRUE(seen.emplace(set, tag).second) << line;
      ASSERT_LE(tag, map.largest_tag(lines)) << line;
    }
    // Hashes must not meet anywhere in the whole range of line numbers.
    for (int i = 0; i < 200; ++i) {
      const auto a = static_cast<std::uint32_t>(random.next());
      const auto b = a ^ (1U << random.below(32));
      ASSERT_TRUE(map(a).set != map(b).set || map(a).tag != map(b).tag) << a << ' ' << b;
    }
  }
}

std::vector<std::uint32_t> occupancy_of(const CacheModel& model, std::uint32_t first,
                                        std::uint32_t lines) {
  const SetMap set(model);
  std::vector<std::uint32_t> count(set.sets());
  for (std::uint32_t i = 0; i < lines; ++i) ++count[set(first + i).set];
  return count;
}

/// A dense array exactly fills a cache whose sets are chosen by bits or by channel and bits, and
/// nearly evenly one that hashes.
TEST(Geometry, DenseArraysSpreadEvenly) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const CacheModel model = synthetic::random_cache(random, 128);
    if (model.index == SetIndex::kHashed) continue;
    const std::uint32_t period =
        std::max(model.sets(), model.channels * model.interleave_bytes / 128);
    const auto first = static_cast<std::uint32_t>(random.below(1000) * period);
    const auto count = occupancy_of(model, first, 4 * period);
    for (const std::uint32_t n : count) ASSERT_EQ(n, 4 * period / model.sets());
  }
  CacheModel hashed = *synthetic::mi300x().llc;
  hashed.bytes = 4 << 20;
  const auto count = occupancy_of(hashed, 12345, 64 * hashed.sets());
  const auto [least, most] = std::minmax_element(count.begin(), count.end());
  EXPECT_GT(*least, 20U);  // binomial of mean 64, deviation 8
  EXPECT_LT(*most, 120U);
}

/// What the channel hash is for, and what it leaves: rows a power of two apart use all channels,
/// but inside a channel only few sets.
TEST(Geometry, PowerOfTwoStridesUseAllChannelsButFewSets) {
  const CacheModel model = synthetic::mi300x().l2;
  const SetMap set(model);
  constexpr std::uint32_t kSetsPerChannel = 128;
  ASSERT_EQ(model.sets(), model.channels * kSetsPerChannel);
  std::vector<std::uint32_t> channels(model.channels);
  std::vector<std::uint32_t> sets(model.sets());
  for (std::uint32_t row = 0; row < 4096; ++row) {
    const std::uint32_t s = set(row * (65536 / 128)).set;
    ++channels[s / kSetsPerChannel];
    ++sets[s];
  }
  for (const std::uint32_t n : channels) EXPECT_EQ(n, 4096 / model.channels);
  EXPECT_LE(std::count_if(sets.begin(), sets.end(), [](std::uint32_t n) { return n > 0; }), 64);
}

/// A level behind keeps its capacity whatever line it states; it never has less than a set.
TEST(Geometry, LastLevelSetsStandBehindL2Sets) {
  Machine m = synthetic::mi300x();
  EXPECT_EQ(llc_sets_per_l2_set(m), 64U);
  m.llc->line_bytes = 64;
  EXPECT_EQ(llc_sets_per_l2_set(m), 64U);
  m.llc->bytes = 1024;
  EXPECT_EQ(llc_sets_per_l2_set(m), 1U);
  m.llc.reset();
  EXPECT_EQ(llc_sets_per_l2_set(m), 0U);
  std::vector<std::uint32_t> count(64);
  for (std::uint32_t tag = 0; tag < 64 * 1000; ++tag) ++count[llc_set_in_group(tag, 64)];
  const auto [least, most] = std::minmax_element(count.begin(), count.end());
  EXPECT_GT(*least, 800U);
  EXPECT_LT(*most, 1200U);
}

}  // namespace
}  // namespace swizzleperf::cachesim
