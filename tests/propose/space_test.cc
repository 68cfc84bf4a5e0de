// The space must hold what experts use, and nothing that is not a bijection.
#include "propose/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

const std::vector<LaunchShape> kShapes = {
    {{64, 64, 1}, 8, 38}, {{7, 9, 1}, 8, 38},   {{13, 1, 1}, 8, 38}, {{1, 13, 1}, 4, 38},
    {{5, 3, 7}, 6, 38},   {{1000, 1, 1}, 1, 8}, {{2, 1, 1}, 8, 38},  {{40, 24, 1}, 2, 66}};

TEST(Space, EveryEnumeratedSwizzleIsABijectionOnItsLaunch) {
  for (const LaunchShape& shape : kShapes) {
    for (const std::string& spec : enumerate_swizzles(shape)) {
      EXPECT_TRUE(verify_grid(make_swizzle(spec).formula, shape).bijective) << spec;
    }
  }
}

TEST(Space, HoldsTheExpertsComposition) {
  const std::vector<std::string> specs = enumerate_swizzles({{64, 64, 1}, 8, 38});
  const std::set<std::string> known(specs.begin(), specs.end());
  for (const char* spec : {"die-contiguous", "die-contiguous+grouped:height=8,axis=y",
                           "die-contiguous+grouped:height=8,axis=x"}) {
    EXPECT_TRUE(known.contains(spec)) << spec;
  }
}

TEST(Space, EnumerationIsTheSameEveryTime) {
  for (const LaunchShape& shape : kShapes) {
    EXPECT_EQ(enumerate_swizzles(shape), enumerate_swizzles(shape));
  }
}

TEST(Space, NeighboursDifferInOneNumber) {
  const std::string spec = "chunked:chunk=64+grouped:height=8,axis=y";
  const std::vector<std::string> near = neighbours(spec, {{64, 64, 1}, 8, 38});
  ASSERT_FALSE(near.empty());
  std::set<std::string> distinct(near.begin(), near.end());
  EXPECT_EQ(distinct.size(), near.size());
  EXPECT_FALSE(distinct.contains(spec));
  EXPECT_TRUE(distinct.contains("chunked:chunk=64+grouped:height=9,axis=y"));
  EXPECT_TRUE(distinct.contains("chunked:chunk=72+grouped:height=8,axis=y"));
}

TEST(Space, ASwizzleWithoutNumbersHasNoNeighbours) {
  EXPECT_TRUE(neighbours("die-contiguous+snake:axis=x", {{8, 8, 1}, 8, 38}).empty());
}

}  // namespace
}  // namespace swizzleperf
