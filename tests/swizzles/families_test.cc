// The named swizzles against their mathematics: each is proved or refuted over the default range,
// and compared with its definition written down a second time, in C++.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

using ::testing::HasSubstr;
using Int = std::int64_t;

RangeVerdict prove(const std::string& spec) {
  return verify_range(make_swizzle(spec).formula, default_verify_range(), 2);
}

std::vector<Int> targets(const std::string& spec, const LaunchShape& shape) {
  return make_swizzle(spec).formula.evaluate(shape);
}

/// The family with default parameters, and with each parameter at a few other values.
std::vector<std::string> specifications(const SwizzleFamily& family) {
  std::vector<std::string> specs = {family.name};
  for (const SwizzleParameter& p : family.parameters) {
    for (const Int value : {p.minimum, Int{5}, p.maximum}) {
      if (value >= p.minimum && value <= p.maximum) {
        specs.push_back(family.name + ":" + p.name + "=" + std::to_string(value));
      }
    }
  }
  const std::vector<std::string> plain = specs;
  for (const std::string& axis : family.axes) {
    if (axis == family.axes.front()) continue;  // the default
    for (const std::string& spec : plain) {
      // Head-first on axis x takes the blocks of a head from the grid.
      if (spec.find("blocks=") != spec.npos && axis == "x") continue;
      specs.push_back(spec + (spec.find(':') == spec.npos ? ":" : ",") + "axis=" + axis);
    }
  }
  return specs;
}

class EveryFamily : public ::testing::TestWithParam<SwizzleFamily> {};

TEST_P(EveryFamily, IsProvedOrRefutedOverTheDefaultRange) {
  const SwizzleFamily& family = GetParam();
  if (family.always_bijective) {
    for (const std::string& spec : specifications(family)) {
      const RangeVerdict verdict = prove(spec);
      EXPECT_EQ(verdict.failed, 0U) << spec << ": " << describe(*verdict.smallest);
    }
    return;
  }
  const std::vector<SwizzleFamily>& all = swizzle_families();
  const auto exact = std::find_if(all.begin(), all.end(), [&](const SwizzleFamily& other) {
    return other.name == family.exact_form;
  });
  ASSERT_NE(exact, all.end()) << family.name << " names no exact form";
  EXPECT_TRUE(exact->always_bijective);
}

INSTANTIATE_TEST_SUITE_P(Swizzles, EveryFamily, ::testing::ValuesIn(swizzle_families()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(OnlyWhen, DieContiguousSimpleIsRefutedWithTheSmallestLaunch) {
  const RangeVerdict verdict = prove("die-contiguous-simple");
  ASSERT_TRUE(verdict.smallest);
  EXPECT_EQ(verdict.smallest->shape.grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(verdict.smallest->shape.num_xcds, 4U);
  EXPECT_EQ(verdict.smallest->num_duplicate, 1U);
  EXPECT_EQ(verdict.smallest->num_missing, 1U);
}

TEST(OnlyWhen, InverseSimpleIsRefutedWithTheSmallestLaunch) {
  const RangeVerdict verdict = prove("inverse-simple");
  ASSERT_TRUE(verdict.smallest);
  EXPECT_EQ(verdict.smallest->shape.grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(verdict.smallest->shape.num_xcds, 2U);
  EXPECT_THAT(verdict.smallest->error, HasSubstr("divided by zero"));
}

TEST(OnlyWhen, HipblasltHoldsExactlyWhenTheDieCountDividesTheGroup) {
  EXPECT_EQ(prove("hipblaslt-wgmxcc:group=24").failed, 0U);
  EXPECT_EQ(prove("hipblaslt-wgmxcc:group=48").failed, 0U);
  const RangeVerdict verdict = prove("hipblaslt-wgmxcc:group=10");
  ASSERT_TRUE(verdict.smallest);
  EXPECT_EQ(10 % 4, 2);
  EXPECT_EQ(verdict.smallest->shape.num_xcds, 4U);
}

TEST(OnlyWhen, SimpleFormsEqualExactOnesWhereTheyHold) {
  for (const Int n : {8, 64, 4096}) {
    const LaunchShape shape{{static_cast<std::uint32_t>(n), 1, 1}, 8, 38};
    EXPECT_EQ(targets("die-contiguous-simple", shape), targets("die-contiguous", shape));
    EXPECT_EQ(targets("inverse-simple", shape), targets("inverse", shape));
  }
}

// --- definitions, written down again ---

/// p, dies, blocks, chunk or group -> target
using Definition = Int (*)(Int p, Int dies, Int blocks, Int c);

Int exact(Int p, Int dies, Int blocks, Int) {
  return p % dies * (blocks / dies) + std::min(p % dies, blocks % dies) + p / dies;
}

Int aiter(Int p, Int dies, Int blocks, Int) {
  const Int q = (blocks + dies - 1) / dies;
  const Int t = blocks % dies == 0 ? dies : blocks % dies;
  const Int x = p % dies;
  const Int l = p / dies;
  return x < t ? x * q + l : t * q + (x - t) * (q - 1) + l;
}

Int chunked(Int p, Int dies, Int blocks, Int chunk) {
  const Int limit = blocks / (dies * chunk) * dies * chunk;
  if (p >= limit) return p;
  const Int l = p / dies;
  return l / chunk * dies * chunk + p % dies * chunk + l % chunk;
}

Int hipblaslt(Int p, Int dies, Int blocks, Int group) {
  const Int full = blocks / dies * dies;
  if (p >= full) return p;
  const Int base = p / group * group;
  const Int size = std::min(group, full - base);
  return base + p % group / dies + p % dies * (size / dies);
}

Int ck(Int p, Int, Int blocks, Int groups) {
  const Int g = (blocks + groups - 1) / groups;
  const Int big = groups - (groups * g - blocks);
  const Int x = p % groups;
  const Int l = p / groups;
  return x <= big ? x * g + l : x * g + big - x + l;
}

struct Defined {
  const char* name;
  const char* parameter;
  Int value;
  Definition definition;
};

TEST(Definitions, DieStepsAreTheFieldsFormulas) {
  const Defined all[] = {{"die-contiguous", nullptr, 0, exact},
                         {"die-contiguous-aiter", nullptr, 0, aiter},
                         {"chunked", "chunk", 4, chunked},
                         {"chunked", "chunk", 5, chunked},
                         {"hipblaslt-wgmxcc", "group", 48, hipblaslt},
                         {"ck-grouped", "group", 8, ck},
                         {"ck-grouped", "group", 13, ck}};
  for (const Defined& d : all) {
    std::string spec = d.name;
    if (d.parameter != nullptr) {
      spec += std::string(":") + d.parameter + "=" + std::to_string(d.value);
    }
    for (const std::uint32_t n : {1U, 7U, 8U, 63U, 100U, 1021U}) {
      for (const std::uint32_t dies : {1U, 6U, 8U}) {
        const auto found = targets(spec, {{n, 1, 1}, dies, 38});
        for (Int p = 0; p < n; ++p) {
          ASSERT_EQ(found[p], d.definition(p, dies, n, d.value))
              << spec << " p=" << p << " n=" << n;
        }
      }
    }
  }
}

/// The grouped map on rows x cols; rotated = AITER's variant.
Int grouped(Int p, Int rows, Int cols, Int height, bool rotated) {
  const Int n = height * cols;
  const Int f = p / n * height;
  const Int h = std::min(rows - f, height);
  const Int m = f + (rotated ? p : p % n) % h;
  return m * cols + p % n / h;
}

Int transposed(Int target, Int rows, Int cols) { return target % rows * cols + target / rows; }

TEST(Definitions, GroupedOnBothAxes) {
  for (const Dim3& grid : {Dim3{7, 9, 1}, Dim3{13, 1, 1}, Dim3{1, 13, 1}, Dim3{16, 16, 2}}) {
    const Int cols = grid.x;
    const Int rows = Int{grid.y} * grid.z;
    for (const Int height : {1, 3, 4, 8, 100}) {
      const std::string parameter = "height=" + std::to_string(height);
      for (const bool rotated : {false, true}) {
        const std::string name = rotated ? "aiter-grouped:" : "grouped:";
        const auto y = targets(name + parameter, {grid, 8, 38});
        const auto x = targets(name + parameter + ",axis=x", {grid, 8, 38});
        for (Int p = 0; p < rows * cols; ++p) {
          ASSERT_EQ(y[p], grouped(p, rows, cols, height, rotated));
          ASSERT_EQ(x[p], transposed(grouped(p, cols, rows, height, rotated), rows, cols));
        }
      }
    }
  }
}

/// CUTLASS 2.x as published: a padded launch, blocks outside the problem do nothing.
TEST(Definitions, Cutlass2IsThePublishedOrderWithoutItsPadding) {
  for (const Int tile : {0, 1, 3}) {
    for (const Dim3& grid : {Dim3{5, 9, 1}, Dim3{16, 16, 1}, Dim3{1, 7, 1}}) {
      const Int side = Int{1} << tile;
      const Int padded_y = (grid.y + side - 1) / side;
      std::vector<Int> order;
      std::set<Int> distinct;
      for (Int by = 0; by < padded_y; ++by) {
        for (Int bx = 0; bx < grid.x * side; ++bx) {
          const Int m = bx >> tile;
          const Int n = (by << tile) + bx % side;
          if (n >= grid.y) continue;
          order.push_back(n * grid.x + m);
          distinct.insert(order.back());
        }
      }
      EXPECT_EQ(distinct.size(), grid.count());  // injective on valid tiles, and onto
      EXPECT_EQ(targets("cutlass-2:tile=" + std::to_string(tile), {grid, 8, 38}), order);
    }
  }
}

TEST(Definitions, Cutlass2AsPrintedLeavesTheGridAndIsReportedSo) {
  const Formula literal = Formula::parse("pid_x = pid_x >> 1; pid_y = (pid_y << 1) + pid_x % 2");
  const RangeVerdict verdict = verify_range(literal, default_verify_range(), 2);
  ASSERT_TRUE(verdict.smallest);
  EXPECT_GT(verdict.failed, 0U);
  const GridVerdict on = verify_grid(literal, {{4, 4, 1}, 8, 38});
  ASSERT_TRUE(on.counterexample);
  EXPECT_EQ(on.counterexample->num_out_of_range, 8U);
}

TEST(Definitions, Cutlass3KeepsClustersTogether) {
  const auto y = targets("cutlass-3:tile=1,cluster=2", {{8, 4, 1}, 8, 38});
  EXPECT_THAT(std::vector<Int>(y.begin(), y.begin() + 8),
              ::testing::ElementsAre(0, 1, 8, 9, 2, 3, 10, 11));
  const auto x = targets("cutlass-3:tile=1,cluster=2,axis=x", {{4, 8, 1}, 8, 38});
  EXPECT_THAT(std::vector<Int>(x.begin(), x.begin() + 8),
              ::testing::ElementsAre(0, 4, 1, 5, 8, 12, 9, 13));
}

TEST(Definitions, TextbookOrders) {
  const LaunchShape shape{{3, 2, 1}, 8, 38};
  EXPECT_THAT(targets("x-fastest", shape), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(targets("y-fastest", shape), ::testing::ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(targets("snake", shape), ::testing::ElementsAre(0, 1, 2, 5, 4, 3));
  EXPECT_THAT(targets("snake:axis=y", shape), ::testing::ElementsAre(0, 3, 4, 1, 2, 5));
  EXPECT_THAT(targets("diagonal", shape), ::testing::ElementsAre(0, 1, 2, 4, 5, 3));
  EXPECT_THAT(targets("morton:bits=1", {{4, 2, 1}, 8, 38}),
              ::testing::ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
  EXPECT_THAT(targets("morton:bits=1", {{3, 3, 1}, 8, 38}),
              ::testing::ElementsAre(0, 1, 3, 4, 2, 5, 6, 7, 8));
}

TEST(Definitions, HilbertMovesToANeighbourEachTime) {
  for (const std::uint32_t side : {2U, 4U, 16U, 64U}) {
    const auto order = targets("hilbert", {{side, side, 1}, 8, 38});
    for (std::size_t p = 1; p < order.size(); ++p) {
      const Int dx = std::abs(order[p] % side - order[p - 1] % side);
      const Int dy = std::abs(order[p] / side - order[p - 1] / side);
      ASSERT_EQ(dx + dy, 1) << side << " at " << p;
    }
  }
}

TEST(Definitions, InverseUndoesDieContiguousOnEveryLaunch) {
  const Formula both = make_swizzle("die-contiguous+inverse").formula;
  for (const Dim3& grid : default_verify_range().grids) {
    if (grid.count() % 7 != 0) continue;
    for (const std::uint32_t dies : {1U, 4U, 6U, 8U}) {
      ASSERT_TRUE(verify_grid(both, {grid, dies, 38}).identity);
    }
  }
}

TEST(Definitions, HeadFirstKeepsAsManyHeadsWholeAsDiesAllow) {
  struct Layout {
    const char* axis;
    Dim3 grid;
    Int (*head)(Int block, const Dim3& grid);
  };
  const auto by_row = [](Int block, const Dim3& grid) { return block / grid.x; };
  const auto by_column = [](Int block, const Dim3& grid) {
    return block % grid.x + grid.x * (block / (Int{grid.x} * grid.y));
  };
  for (const Layout& layout : {Layout{"y", {16, 32, 1}, by_row}, Layout{"y", {16, 12, 3}, by_row},
                               Layout{"z", {5, 3, 7}, by_row}, Layout{"x", {12, 16, 3}, by_column},
                               Layout{"x", {9, 4, 1}, by_column}}) {
    const Dim3& grid = layout.grid;
    const auto found = targets(std::string("head-first:axis=") + layout.axis, {grid, 8, 38});
    const Int heads = layout.axis[0] == 'x' ? Int{grid.x} * grid.z : Int{grid.y} * grid.z;
    std::vector<std::set<Int>> dies(heads);
    for (std::size_t p = 0; p < found.size(); ++p) dies[layout.head(found[p], grid)].insert(p % 8);
    const auto whole = std::count_if(dies.begin(), dies.end(),
                                     [](const std::set<Int>& d) { return d.size() == 1; });
    EXPECT_GE(whole, heads / 8 * 8) << layout.axis << " " << grid.x << "x" << grid.y;
  }
}

TEST(Definitions, RandomIsReproducibleAndFarFromTheIdentity) {
  const LaunchShape shape{{1000, 1, 1}, 8, 38};
  EXPECT_EQ(targets("random:seed=3", shape), targets("random:seed=3", shape));
  std::set<std::vector<Int>> distinct;
  for (int seed = 0; seed < 50; ++seed) {
    const auto found = targets("random:seed=" + std::to_string(seed), shape);
    distinct.insert(found);
    Int near = 0;
    for (std::size_t p = 1; p < found.size(); ++p) near += std::abs(found[p] - found[p - 1]) < 50;
    EXPECT_LT(near, 250) << "seed " << seed;  // about 100 for a random permutation
  }
  EXPECT_EQ(distinct.size(), 50U);
}

}  // namespace
}  // namespace swizzleperf
