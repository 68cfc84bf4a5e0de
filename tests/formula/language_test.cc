// The language as it is told is the language as it is read.
#include "formula/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

TEST(Language, ItsExamplesAreWhatItSays) {
  for (const LanguageExample& e : language_examples()) {
    SCOPED_TRACE(e.formula);
    const Formula formula = Formula::parse(e.formula);
    const GridVerdict on_grid = verify_grid(formula, {{4, 2, 1}, 8, 38});
    EXPECT_EQ(on_grid.permutation, e.blocks);
    EXPECT_FALSE(on_grid.identity);
    EXPECT_EQ(verify_range(formula, default_verify_range(), 2).failed, 0U);
    const std::string first_line(e.formula.substr(0, e.formula.find('\n')));
    EXPECT_THAT(language_text(true), testing::HasSubstr(first_line));
  }
}

/// All that the text promises is parsed: every operator, function and statement in one formula.
TEST(Language, HasWhatTheTextNames) {
  const Formula all = Formula::parse(
      "a = 1; a += 1; a -= 0; a *= 1;\n"
      "if (a < 2 && a <= 2 || a > 2 && a >= 2 || !(a == 2) || a != 2) a = 0; else a = 2;\n"
      "for (i = 0; i < 3; ++i) { if (i == 1) continue; a = a + 0; }\n"
      "while (a > 0) { a = a - 1; if (a == 1) break; }\n"
      "b = a ? a << 1 >> 1 & 7 | 0 ^ 0 : ~a;\n"
      "b = min(b, 4) + max(0, abs(-1)) + cdiv(7, 2) + ilog2(8) + num_xcds % 2 + cus_per_xcd / 64;\n"
      "pid = (pid + b * 0) * 1; // the end");
  EXPECT_TRUE(verify_grid(all, {{5, 3, 2}, 8, 38}).identity);
}

TEST(Language, WithoutHardwareNamesNone) {
  EXPECT_THAT(language_text(true), testing::HasSubstr("num_xcds"));
  for (const char* word : {"xcd", "die", "cus"}) {
    EXPECT_THAT(language_text(false), testing::Not(testing::HasSubstr(word)));
  }
}

}  // namespace
}  // namespace swizzleperf
