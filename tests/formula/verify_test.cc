// Verdicts: the three kinds of failure, the smallest counterexample, hashes, guards.
#include "swizzleperf/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace swizzleperf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GridVerdict on(std::string_view text, const Dim3& grid, std::uint32_t xcds = 8) {
  return verify_grid(Formula::parse(text), {grid, xcds, 38});
}

TEST(VerifyGrid, ABijectionHasItsPermutation) {
  const GridVerdict verdict = on("pid = num_blocks - 1 - pid", {4, 1, 1});
  EXPECT_TRUE(verdict.bijective);
  EXPECT_FALSE(verdict.identity);
  EXPECT_FALSE(verdict.counterexample);
  EXPECT_THAT(verdict.permutation, ElementsAre(3, 2, 1, 0));
  EXPECT_NE(verdict.hash, 0U);
}

TEST(VerifyGrid, OneHashAPermutation) {
  const Dim3 grid{8, 4, 1};
  const GridVerdict a = on("pid = num_blocks - 1 - pid", grid);
  const GridVerdict b = on("pid_x = num_pid_x - 1 - pid_x; pid_y = num_pid_y - 1 - pid_y", grid);
  EXPECT_EQ(a.hash, b.hash);
  std::set<std::uint64_t> hashes;
  for (int shift = 0; shift < 32; ++shift) {
    hashes.insert(on("pid = (pid + " + std::to_string(shift) + ") % num_blocks", grid).hash);
  }
  EXPECT_EQ(hashes.size(), 32U);
  EXPECT_TRUE(on("pid = (pid + 32) % num_blocks", grid).identity);
  EXPECT_TRUE(on("pid = num_blocks - 1 - (num_blocks - 1 - pid)", grid).identity);
}

TEST(VerifyGrid, DuplicatesAndMissingAreWitnessed) {
  const GridVerdict verdict = on("pid = pid / 2", {6, 1, 1});
  EXPECT_FALSE(verdict.bijective);
  EXPECT_EQ(verdict.hash, 0U);
  ASSERT_TRUE(verdict.counterexample);
  const Counterexample& c = *verdict.counterexample;
  EXPECT_EQ(c.num_duplicate, 3U);
  EXPECT_EQ(c.num_missing, 3U);
  EXPECT_EQ(c.num_out_of_range, 0U);
  EXPECT_THAT(c.missing, ElementsAre(3, 4, 5));
  EXPECT_EQ(c.duplicate[1].block, 1);
  EXPECT_THAT(c.duplicate[1].from, ElementsAre(2, 3));
}

TEST(VerifyGrid, ATargetOutsideIsItsOwnFailure) {
  const GridVerdict beyond = on("pid = pid + 1", {4, 1, 1});
  ASSERT_TRUE(beyond.counterexample);
  EXPECT_EQ(beyond.counterexample->num_out_of_range, 1U);
  EXPECT_EQ(beyond.counterexample->out_of_range[0].from, 3U);
  EXPECT_EQ(beyond.counterexample->out_of_range[0].target, 4);
  EXPECT_EQ(beyond.counterexample->num_duplicate, 0U);
  EXPECT_THAT(beyond.counterexample->missing, ElementsAre(0));
  // Inside the grid as a linear index, but outside its axis.
  const GridVerdict axis = on("pid_x = pid_x + 1", {2, 2, 1});
  ASSERT_TRUE(axis.counterexample);
  EXPECT_EQ(axis.counterexample->num_out_of_range, 2U);
}

TEST(VerifyGrid, AFaultIsAVerdict) {
  const GridVerdict verdict = on("pid = pid / (pid - 2)", {4, 1, 1});
  ASSERT_TRUE(verdict.counterexample);
  EXPECT_THAT(verdict.counterexample->error, HasSubstr("1:11: 2 is divided by zero"));
}

TEST(Describe, SaysLaunchWitnessesAndTotals) {
  const std::string paper = "pid = ((pid / 8) % 8) * cdiv(num_blocks, 8) + pid % 8";
  const std::string words = describe(*on(paper, {128, 1, 1}).counterexample);
  EXPECT_EQ(words,
            "On a grid of 128 x 1 x 1 (128 blocks) with 8 dies block 0 is computed by dispatch "
            "indices 0 and 64, block 8 is never computed (in all 0 outside the grid, 64 computed "
            "more than once, 64 never computed).");
  EXPECT_THAT(describe(*on("pid = pid + 1", {4, 1, 1}).counterexample),
              HasSubstr("dispatch index 3 is sent to block 4, outside the grid"));
  EXPECT_THAT(describe(*on("pid_x = 0 - 1", {1, 1, 1}, 1).counterexample),
              HasSubstr("(1 block) with 1 die dispatch index 0 is sent outside the grid"));
}

TEST(DefaultRange, HoldsWhatItPromises) {
  const VerifyRange& range = default_verify_range();
  std::set<std::uint32_t> one_dimensional;
  std::size_t two = 0;
  std::size_t three = 0;
  for (const Dim3& grid : range.grids) {
    ASSERT_LE(grid.count(), 4096U);
    ASSERT_GE(grid.count(), 1U);
    if (grid.y == 1 && grid.z == 1) one_dimensional.insert(grid.x);
    two += grid.y > 1 && grid.z == 1 ? 1 : 0;
    three += grid.z > 1 ? 1 : 0;
  }
  EXPECT_EQ(one_dimensional.size(), 4096U);
  EXPECT_GT(two, 500U);
  EXPECT_GT(three, 200U);
  EXPECT_THAT(range.num_xcds, ElementsAre(1, 2, 4, 6, 8));
}

TEST(VerifyRange, FindsTheSmallestCounterexampleOnAnyNumberOfThreads) {
  const Formula formula =
      Formula::parse("pid = pid % num_xcds * (num_blocks / num_xcds) + pid / num_xcds");
  for (const unsigned threads : {1U, 2U, 5U}) {
    const RangeVerdict verdict = verify_range(formula, default_verify_range(), threads);
    EXPECT_EQ(verdict.checked, default_verify_range().grids.size() * 5);
    ASSERT_TRUE(verdict.smallest);
    EXPECT_EQ(verdict.smallest->shape.grid, (Dim3{2, 1, 1}));
    EXPECT_EQ(verdict.smallest->shape.num_xcds, 4U);
    std::uint64_t failed = 0;
    for (const Dim3& grid : default_verify_range().grids) {
      for (const std::uint32_t xcds : {2U, 4U, 6U, 8U}) {
        const bool lost = grid.count() % xcds != 0 && grid.count() > 1;
        // With fewer blocks than dies every block has turn 0 and a share of 0.
        failed += lost ? 1 : 0;
      }
    }
    EXPECT_EQ(verdict.failed, failed);
  }
}

TEST(FindGuard, NothingToGuardNeedsNoGuard) {
  const auto guard = find_guard(Formula::parse("pid = pid"), default_verify_range(), 2);
  ASSERT_TRUE(guard);
  EXPECT_EQ(guard->guard.condition, "");
  EXPECT_EQ(guard->fallen_back, 0U);
}

TEST(FindGuard, FindsTheNaturalCondition) {
  const auto guard_of = [](std::string_view text) {
    const auto guard = find_guard(Formula::parse(text), default_verify_range(), 2);
    return guard ? guard->guard.condition : "none";
  };
  EXPECT_EQ(guard_of("pid = pid % num_xcds * (num_blocks / num_xcds) + pid / num_xcds"),
            "num_blocks % num_xcds == 0");
  EXPECT_EQ(guard_of("pid = pid / 16 * 16 + pid % 4 * 4 + pid / 4 % 4"), "num_blocks % 16 == 0");
  EXPECT_EQ(guard_of("pid_x = pid_x / 4 * 4 + (pid_x + 1) % 4"), "num_pid_x % 4 == 0");
  EXPECT_EQ(guard_of("pid = pid_y + num_pid_x * (pid_x + num_pid_y * pid_z)"),
            "num_pid_x == num_pid_y");
  EXPECT_EQ(guard_of("pid = 0"), "none");
}

TEST(FindGuard, TheGuardedFormulaHoldsOnTheWholeRange) {
  const std::string text = "pid = pid % 8 * (num_blocks / 8) + pid / 8";
  const auto guard = find_guard(Formula::parse(text), default_verify_range(), 2);
  ASSERT_TRUE(guard);
  const Formula guarded = Formula::parse("if (" + guard->guard.condition + ") " + text);
  EXPECT_EQ(verify_range(guarded, default_verify_range(), 2).failed, 0U);
  EXPECT_LT(guard->fallen_back, guard->checked);
}

/// A formula without an end costs its step limit once a thread, not on each of 27,190 launches.
TEST(VerifyRange, AnEndlessFormulaIsGivenUp) {
  for (const char* const text :
       {"while (1) { pid = pid; }", "for (i = 0; i < 1; i = i + 0) pid = pid;"}) {
    const RangeVerdict verdict = verify_range(Formula::parse(text), default_verify_range(), 2);
    EXPECT_TRUE(verdict.endless);
    EXPECT_LE(verdict.checked, 2U);
    ASSERT_TRUE(verdict.smallest);
    EXPECT_NE(verdict.smallest->error.find("steps for one block"), std::string::npos);
  }
}

}  // namespace
}  // namespace swizzleperf
