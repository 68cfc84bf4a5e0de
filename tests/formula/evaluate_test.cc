// What formulas compute, where they fault, and that the two evaluators never differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formula/interpret.h"
#include "formula/specialise.h"
#include "random_formula.h"
#include "swizzleperf/formula.h"

namespace swizzleperf {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::int64_t value(std::string_view text) {
  return Formula::parse(text).evaluate({.grid = {1, 1, 1}}).front();
}

std::string error_of(std::string_view text, const LaunchShape& shape) {
  try {
    (void)Formula::parse(text).evaluate(shape);
  } catch (const FormulaError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Evaluate, FunctionsRoundAsDocumented) {
  EXPECT_EQ(value("pid = cdiv(7, 2) * 100 + cdiv(-7, 2)"), 397);
  EXPECT_EQ(value("pid = cdiv(8, 2) * 100 + cdiv(-7, -2)"), 404);
  EXPECT_EQ(value("pid = ilog2(1) + ilog2(255) * 10 + ilog2(256) * 100"), 870);
  EXPECT_EQ(value("pid = abs(-3) + min(-1, 1) + max(-1, 1)"), 3);
  EXPECT_EQ(value("pid = -9 >> 1"), -5);
  EXPECT_EQ(value("pid = -1 << 62"), -(std::int64_t{1} << 62));
}

TEST(Evaluate, InputsDescribeTheLaunch) {
  const LaunchShape shape{{3, 2, 2}, 6, 19};
  const auto t = Formula::parse(
                     "pid = pid_x + 10 * pid_y + 100 * pid_z + 1000 * (num_pid_x + 10 * num_pid_y "
                     "+ 100 * num_pid_z) + 1000000 * (num_blocks + 100 * num_xcds) + "
                     "1000000000 * cus_per_xcd")
                     .evaluate(shape);
  ASSERT_EQ(t.size(), 12U);
  EXPECT_EQ(t[0], 19'612'223'000);
  EXPECT_EQ(t[11], 19'612'223'112);
}

TEST(Evaluate, AxesNotAssignedKeepTheirIndexAndOutsideIsMinusOne) {
  const auto t = Formula::parse("pid_x = pid_x + 1").evaluate({.grid = {2, 2, 1}});
  EXPECT_EQ(t, (std::vector<std::int64_t>{1, -1, 3, -1}));
}

TEST(Evaluate, EmptyAndOversizedGrids) {
  EXPECT_TRUE(Formula::parse("pid = 1 / 0").evaluate({.grid = {0, 4, 4}}).empty());
  EXPECT_THROW((void)Formula::parse("pid = pid").evaluate({.grid = {~0U, ~0U, ~0U}}), Error);
}

TEST(Evaluate, FaultsAreLocated) {
  const LaunchShape shape{{20, 1, 1}, 8, 38};
  EXPECT_THAT(error_of("pid = 1;\npid = 3 / (pid - 1);", shape),
              StartsWith("2:9: 3 is divided by zero (at dispatch index 0)"));
  EXPECT_THAT(error_of("pid = 100 / (pid - 17)", shape),
              StartsWith("1:11: 100 is divided by zero (at dispatch index 17)"));
  EXPECT_THAT(error_of("pid = 100 % (pid - 17)", shape), HasSubstr("divided by zero"));
  EXPECT_THAT(error_of("pid = 9223372036854775807 + pid", shape),
              StartsWith("1:27: the result for 9223372036854775807 and 1 does not fit 64 bits"));
  EXPECT_THAT(error_of("pid = (-9223372036854775807 - 1) / (pid - 2)", shape),
              HasSubstr("(at dispatch index 1)"));
  EXPECT_THAT(error_of("pid = 1 << (60 + pid)", shape), HasSubstr("(at dispatch index 3)"));
  EXPECT_THAT(error_of("pid = 1 << (0 - pid)", shape),
              StartsWith("1:9: a shift by -1 is outside 0 to 63"));
  EXPECT_THAT(error_of("pid = ilog2(5 - pid)", shape), StartsWith("1:7: ilog2 of 0"));
  EXPECT_THAT(error_of("if (pid > 3) a = 1;\npid = pid + (pid > 2 ? a : 0)", shape),
              StartsWith("2:24: 'a' is read before it has a value (at dispatch index 3)"));
  EXPECT_THAT(error_of("while (1) pid += 0", shape), StartsWith("1:"));
  EXPECT_THAT(error_of("for (;;) {} pid = 1", shape), HasSubstr("steps for one block"));
}

TEST(Evaluate, WhatIsNotTakenDoesNotFault) {
  const LaunchShape shape{{20, 1, 1}, 8, 38};
  for (const char* text :
       {"pid = pid == 7 ? 0 : 100 / (pid - 7)", "if (pid != 7) pid = 100 / (pid - 7)",
        "pid = pid != 7 && 100 / (pid - 7) > 0", "pid = pid == 7 || 100 / (pid - 7) > 0"}) {
    EXPECT_EQ(error_of(text, shape), "no error") << text;
  }
}

/// What evaluate() does, done with the interpreter alone.
std::vector<std::int64_t> interpreted(const Formula& formula, const LaunchShape& shape) {
  Interpreter interpreter(formula.program(), shape);
  std::vector<std::int64_t> targets;
  for (std::uint64_t p = 0; p < shape.grid.count(); ++p) targets.push_back(interpreter.block(p));
  return targets;
}

struct Outcome {
  std::vector<std::int64_t> targets;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(auto evaluate) {
  Outcome result;
  try {
    result.targets = evaluate();
  } catch (const FormulaError& error) {
    result.error = error.what();
  }
  return result;
}

TEST(Evaluate, BothEvaluatorsAgreeOnRandomFormulas) {
  testing::RandomFormula random(2024);
  int fast = 0;
  int faults = 0;
  constexpr int kFormulas = 6000;
  for (int i = 0; i < kFormulas; ++i) {
    const std::string text = random.text(random.chance(50));
    const Formula formula = Formula::parse(text);
    for (int k = 0; k < 3; ++k) {
      const LaunchShape shape{random.grid(k == 2 ? 1500 : 60), random.die_count(), 38};
      std::vector<std::int64_t> lanes(shape.grid.count());
      const std::optional<LaneCode> code = specialise(formula.program(), shape);
      fast += code && run_lanes(*code, lanes.size(), lanes.data()) ? 1 : 0;
      const Outcome expected = outcome([&] { return interpreted(formula, shape); });
      const Outcome found = outcome([&] { return formula.evaluate(shape); });
      faults += expected.error.empty() ? 0 : 1;
      ASSERT_EQ(found.error, expected.error) << text;
      ASSERT_EQ(found.targets, expected.targets)
          << text << "grid " << shape.grid.x << "x" << shape.grid.y << "x" << shape.grid.z;
    }
  }
  // The comparison means something only if both ways and faults are really taken.
  EXPECT_GT(fast, kFormulas / 10);
  EXPECT_LT(fast, kFormulas * 3);
  EXPECT_GT(faults, kFormulas / 4);
}

TEST(Evaluate, BatchesAndWidthsAgreeOnLargeLaunches) {
  for (const char* text :
       {"pid = pid / 3 + pid % 1021", "pid = (pid * 2654435761) % num_blocks",
        "pid = (pid << 33) / 7 % num_blocks", "pid = pid * pid / (pid + 1)",
        "pid = (pid - 500000) / 7 * 3 - (pid - 9000000) % 11", "pid = pid / ((pid >> 3) + 1)",
        "pid_x = num_pid_x - 1 - pid_x; pid_y = pid_y / 2"}) {
    const Formula formula = Formula::parse(text);
    const LaunchShape shape{{9001, 1009, 1}, 8, 38};
    const auto targets = formula.evaluate(shape);
    Interpreter interpreter(formula.program(), shape);
    ASSERT_TRUE(specialise(formula.program(), shape)) << text;
    for (std::uint64_t p = 0; p < targets.size(); p += 37) {
      ASSERT_EQ(targets[p], interpreter.block(p)) << text << " at " << p;
    }
  }
}

}  // namespace
}  // namespace swizzleperf
