// The mistakes that the paper's published formulas make, each refused with its reason.
#include "propose/judgement.h"

#include <gtest/gtest.h>

#include "swizzleperf/swizzles.h"

namespace swizzleperf {
namespace {

const LaunchShape kPaper{{256, 256, 1}, 8, 38};  // 65,536 tiles

Judgement judged(const std::string& text, const KnownOrders& known = {}) {
  return judge_formula(text, kPaper, known, 2);
}

TEST(Judgement, AFormulaThatReaches64Of65536Blocks) {
  const Judgement j = judged("b = cdiv(num_blocks, 8);\npid = ((pid / 8) % 8) * b + pid % 8;");
  EXPECT_EQ(j.outcome, AttemptOutcome::kNotABijection);
  EXPECT_NE(j.report.find("reaches 64 of 65536 blocks"), std::string::npos) << j.report;
  EXPECT_NE(j.report.find("block 0 is computed by dispatch indices 0 and 64"), std::string::npos);
  EXPECT_NE(j.report.find("block 8 is never computed"), std::string::npos);
}

TEST(Judgement, AFormulaThatReaches256Of65536Blocks) {
  const Judgement j = judged("pid = pid % 16 * 16 + pid / 16 % 16;");
  EXPECT_EQ(j.outcome, AttemptOutcome::kNotABijection);
  EXPECT_NE(j.report.find("reaches 256 of 65536 blocks"), std::string::npos) << j.report;
}

TEST(Judgement, TheIdentityInDisguise) {
  for (const char* text :
       {"pid = pid;", "x = pid + 3; pid = x - 3;",
        "pid_x = pid % num_pid_x; pid_y = pid / num_pid_x;",
        "die = pid % num_xcds; turn = pid / num_xcds; pid = turn * num_xcds + die;",
        "if (num_blocks % 8 != 0) pid = num_blocks - 1 - pid; else pid = pid;"}) {
    const Judgement j = judged(text);
    EXPECT_EQ(j.outcome, AttemptOutcome::kIdentity) << text;
    EXPECT_NE(j.report.find("identity"), std::string::npos);
  }
}

TEST(Judgement, ATargetOutsideTheGrid) {
  const Judgement j = judged("pid = pid % 8 * cdiv(num_blocks, 8) + pid / 8 + 1;");
  EXPECT_EQ(j.outcome, AttemptOutcome::kNotABijection);
  EXPECT_NE(j.report.find("dispatch index 65535 is sent to block 65536, outside the grid"),
            std::string::npos)
      << j.report;
}

TEST(Judgement, WhatCannotBeReadHasItsPlace) {
  const Judgement j = judged("x = 1;\npid = blockIdx.x;");
  EXPECT_EQ(j.outcome, AttemptOutcome::kSyntax);
  EXPECT_NE(j.report.find("2:"), std::string::npos) << j.report;
  EXPECT_EQ(judged("#include <cstdlib>\nint main() { system(\"sh\"); }").outcome,
            AttemptOutcome::kSyntax);
}

TEST(Judgement, WhatCannotBeEvaluatedHasItsPlace) {
  const Judgement j = judged("pid = pid / (pid - 77);");
  EXPECT_EQ(j.outcome, AttemptOutcome::kNotABijection);
  EXPECT_NE(j.report.find("1:11"), std::string::npos) << j.report;
  EXPECT_NE(j.report.find("dispatch index 77"), std::string::npos) << j.report;
}

TEST(Judgement, ARepeatUnderAnotherText) {
  const Judgement first = judged("pid = num_blocks - 1 - pid;");
  ASSERT_EQ(first.outcome, AttemptOutcome::kMeasured);
  const Judgement again = judged("pid_x = num_pid_x - 1 - pid_x; pid_y = num_pid_y - 1 - pid_y;",
                                 {{first.on_launch.hash, "attempt 3"}});
  EXPECT_EQ(again.outcome, AttemptOutcome::kRepeat);
  EXPECT_NE(again.report.find("attempt 3"), std::string::npos);
}

TEST(Judgement, RightOnThisLaunchOnlyIsMeasuredAndSaidToBe) {
  const Judgement j = judged("pid = pid % 8 * (num_blocks / 8) + pid / 8;");
  EXPECT_EQ(j.outcome, AttemptOutcome::kMeasured);
  EXPECT_EQ(j.on_launch.permutation.size(), 65536U);
  EXPECT_NE(j.report.find("a guard would make it the identity"), std::string::npos) << j.report;
  const Judgement everywhere = judged(make_swizzle("die-contiguous").formula.text());
  EXPECT_EQ(everywhere.outcome, AttemptOutcome::kMeasured);
  EXPECT_NE(everywhere.report.find("on all"), std::string::npos) << everywhere.report;
}

TEST(Judgement, EveryFamilyIsCheapEnough) {
  for (const SwizzleFamily& family : swizzle_families()) {
    const Formula formula = make_swizzle(family.name).formula;
    // Known, so that it is not proved over the range as well.
    const Judgement j = judged(formula.text(), {{verify_grid(formula, kPaper).hash, "itself"}});
    EXPECT_NE(j.outcome, AttemptOutcome::kSyntax) << family.name << ": " << j.report;
  }
}

/// Proving such a formula over the range takes hours.
TEST(Judgement, AFormulaThatLoopsForLongIsRefusedOrItsProofGivenUp) {
  const Judgement here =
      judged("for (i = 0; i < 8000; ++i) { x = i; }\npid = num_blocks - 1 - pid;");
  EXPECT_EQ(here.outcome, AttemptOutcome::kSyntax);
  EXPECT_NE(here.report.find("steps for one block"), std::string::npos) << here.report;
  const Formula elsewhere = Formula::parse(
      "if (num_blocks != 65536) for (i = 0; i < 8000; ++i) { x = i; }\npid = num_blocks - 1 - "
      "pid;");
  EXPECT_FALSE(verify_range_within(elsewhere, 2, 0.2).has_value());
}

TEST(Judgement, TheRangeInPiecesIsTheRange) {
  for (const char* text : {"pid = pid % 8 * (num_blocks / 8) + pid / 8;", "pid = pid ^ 1;"}) {
    const Formula formula = Formula::parse(text);
    const auto pieces = verify_range_within(formula, 2, 100);
    const RangeVerdict whole = verify_range(formula, default_verify_range(), 2);
    ASSERT_TRUE(pieces.has_value());
    EXPECT_EQ(pieces->checked, whole.checked);
    EXPECT_EQ(pieces->failed, whole.failed);
    EXPECT_EQ(describe(*pieces->smallest), describe(*whole.smallest));
  }
}

}  // namespace
}  // namespace swizzleperf
