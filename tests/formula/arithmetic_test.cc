// apply_range must contain every result of apply, and must say so when one of them could fault.
#include "formula/arithmetic.h"

#include <gtest/gtest.h>

#include <random>

namespace swizzleperf {
namespace {

constexpr int kOps = static_cast<int>(Op::kIlog2) + 1;

std::int64_t random_value(std::mt19937_64& random) {
  const int bits = static_cast<int>(random() % 64);
  const auto value = static_cast<std::int64_t>(random() >> bits);
  return random() % 2 == 0 ? value : ~value;
}

Range random_range(std::mt19937_64& random) {
  const std::int64_t a = random_value(random);
  if (random() % 4 == 0) return Range::of(a);
  std::int64_t b = random() % 2 == 0 ? random_value(random) : 0;
  if (random() % 3 == 0 && __builtin_add_overflow(a, std::int64_t(random() % 9), &b)) b = a;
  return {std::min(a, b), std::max(a, b)};
}

std::int64_t sample(const Range& range, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return range.lo;
    case 1:
      return range.hi;
    default:
      return std::uniform_int_distribution<std::int64_t>(range.lo, range.hi)(random);
  }
}

TEST(Arithmetic, RangesContainAllResultsAndMissNoFault) {
  std::mt19937_64 random(7);
  std::uint64_t contained = 0;
  std::uint64_t faults = 0;
  for (int i = 0; i < 400'000; ++i) {
    const auto op = static_cast<Op>(random() % kOps);
    const Range a = random_range(random);
    const Range b = random_range(random);
    const std::optional<Range> range = apply_range(op, a, b);
    for (int k = 0; k < 4; ++k) {
      const std::int64_t x = sample(a, random);
      const std::int64_t y = sample(b, random);
      std::int64_t result = 0;
      if (apply(op, x, y, result) != Fault::kNone) {
        ++faults;
        ASSERT_FALSE(range) << "op " << int(op) << " of " << x << ", " << y
                            << " faults unannounced";
      } else if (range) {
        ++contained;
        ASSERT_TRUE(range->contains(result))
            << "op " << int(op) << " of " << x << ", " << y << " = " << result << " outside ["
            << range->lo << ", " << range->hi << "]";
      }
    }
  }
  EXPECT_GT(contained, 400'000U);
  EXPECT_GT(faults, 50'000U);
}

}  // namespace
}  // namespace swizzleperf
