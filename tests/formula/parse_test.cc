// What the parser accepts, and where and how it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "swizzleperf/formula.h"

namespace swizzleperf {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text, const Params& params = {}) {
  try {
    (void)Formula::parse(text, params);
  } catch (const FormulaError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<std::int64_t> targets(std::string_view text, const Params& params = {}) {
  return Formula::parse(text, params).evaluate({.grid = {6, 1, 1}});
}

const std::vector<std::int64_t> kReversed = {5, 4, 3, 2, 1, 0};

TEST(Parse, AcceptsWhatPeopleWrite) {
  for (const char* text : {
           "pid = num_blocks - 1 - pid;",
           "pid = num_blocks - 1 - pid",
           "int last = num_blocks - 1\npid = last - pid",
           "const unsigned long long last = num_blocks - 1u;\n pid_x = last - pid_x; // reversed",
           "/* all\n on */ pid = 0x6 - 1 - pid;",
           "int a, b = 5; a = b; pid = a - pid;",
           "last = 0; while (last < num_blocks) last++; pid = last - 1 - pid;",
           "last = 0; for (;;) { if (last == 5) break; ++last; } pid = last - pid;",
           "if (pid < 0) pid = 7; else if (pid >= 0) { pid = 5 - pid; }",
           "pid = max(5, 2, 3) - pid",
           "{ pid *= -1; { pid += 5; } };",
           "pid = pid == 0 ? 5 : pid == 5 ? 0 : 5 - pid",
           "pid = 5 +\n // why\n -pid;",
       }) {
    EXPECT_EQ(targets(text), kReversed) << text;
  }
}

TEST(Parse, PrecedenceIsThatOfC) {
  EXPECT_EQ(targets("pid = 1 + 2 * 3 - 8 / 4 % 3 << 1 & 14 | 1 ^ 3").front(),
            (((1 + 2 * 3 - 8 / 4 % 3) << 1) & 14) | (1 ^ 3));
  EXPECT_EQ(targets("pid = 1 < 2 == 1 && 0 || !0").front(), 1);
  EXPECT_EQ(targets("pid = -7 / 2 * 10 + -7 % 2").front(), -31);
  EXPECT_EQ(targets("pid = 100 - 10 - 1").front(), 89);
  EXPECT_EQ(targets("pid = ~-1 + - -4").front(), 4);
}

TEST(Parse, ParametersAreConstants) {
  EXPECT_EQ(targets("pid = last - pid", {{"last", 5}}), kReversed);
  EXPECT_THAT(error_of("last = 3; pid = last", {{"last", 5}}), HasSubstr("1:1: 'last' is a fixed"));
  EXPECT_THROW((void)Formula::parse("pid = 1", {{"num_blocks", 5}}), Error);
}

struct Refusal {
  const char* text;
  const char* expected;
};

TEST(Parse, RefusalsSayWhereAndWhy) {
  const Refusal refusals[] = {
      {"", "1:1: the text ends without a result"},
      {"a = 1;\n", "2:1: the text ends without a result"},
      {"pid = 1; pid_x = 2;", "1:10: both pid and pid_x"},
      {"pid_x = 1;\npid = 2;", "2:1: both pid and pid_x"},
      {"num_blocks = 1; pid = 1;", "1:1: 'num_blocks' is a fixed input"},
      {"pid = foo + 1;",
       "1:7: 'foo' is not known: it is no input, no parameter and never assigned; known are pid, "
       "pid_x, pid_y, pid_z, num_pid_x, num_pid_y, num_pid_z, num_blocks, num_xcds, cus_per_xcd"},
      {"a = pid // 8;\npid = a;", "1:9: // starts a comment"},
      {"pid = (pid // 8) * 4", "1:12: // starts a comment"},
      {"pid = pid // num_xcds", "1:11: // starts a comment"},
      {"pid = a and b;", "1:9: 'and' is not part of the language: write &&"},
      {"pid = tl.program_id(0)", "1:9: a formula has no members"},
      {"pid = blockIdx;", "1:7: 'blockIdx' is not part of the language: write pid_x"},
      {"system(\"rm -rf /\");", "1:8: text in quotes"},
      {"system(1);", "1:1: 'system' is no function"},
      {"pid = system(1);", "1:7: 'system' is no function"},
      {"pid = *pid;", "1:7: a formula has no pointers"},
      {"int *p = 1; pid = p;", "1:5: a formula has no pointers"},
      {"pid = &pid;", "1:7: a formula has no pointers"},
      {"pid = a[1];", "1:8: a formula has no memory"},
      {"pid = (int)pid;", "1:7: casts are not needed"},
      {"pid = 1 < pid < 3;", "1:15: a chain of comparisons"},
      {"if (pid = 3) pid = 1;", "1:9: '=' stands here where the )"},
      {"pid = (pid = 3);", "1:12: = assigns; write =="},
      {"a = b = 1; pid = a;", "1:7: one assignment a statement"},
      {"if pid == 1: pid = 2", "1:4: 'pid' stands here where a condition in parentheses"},
      {"for i in range(3): pid = i", "1:5: 'i' stands here where ( after for"},
      {"return pid;", "1:1: 'return' is not part of the language: assign the result"},
      {"break; pid = 1;", "1:1: 'break' stands outside a loop"},
      {"pid = 1.5;", "1:8: only whole numbers"},
      {"pid = 010;", "1:7: a number must not begin with 0"},
      {"pid = 0x;", "1:7: digits are missing"},
      {"pid = 9223372036854775808;", "1:7: the number does not fit"},
      {"pid = 12ab;", "1:7: a number runs into a name"},
      {"pid = (1;", "1:9: ';' stands here where the closing )"},
      {"{ pid = 1;", "1:1: this { is never closed"},
      {"pid = 1; }", "1:10: '}' stands here where a statement"},
      {"pid = 1 /* open", "1:9: this comment is never closed"},
      {"# no\npid = 1", "1:1: comments begin with //"},
      {"pid = min(1);", "1:12: ')' stands here where a second argument"},
      {"pid = cdiv(1, 2, 3);", "1:16: ',' stands here where the )"},
      {"pid = 1 @ 2;", "1:9: '@' has no meaning"},
      {"pid = pid \xC3\xA4;", "1:11: byte 0xc3 is not ASCII"},
      {"// \xC3\xA4\xC3\xA4\npid = \xE2\x82\xAC;", "2:7: byte 0xe2"},
      {"pid = 1 pid = 2", "1:9: 'pid' stands here where ; or a new line"},
      {"if = 3; pid = 1", "1:4: '=' stands here where a condition"},
      {"int if = 3; pid = 1", "1:5: 'if' cannot be used as a name"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(error_of(refusal.text), ::testing::StartsWith(refusal.expected)) << refusal.text;
  }
}

TEST(Parse, ControlBytesAreRefusedAtTheirPlace) {
  EXPECT_THAT(error_of(std::string_view("pid = 1;\0", 9)), HasSubstr("1:9: control byte 0x00"));
  EXPECT_THAT(error_of("pid = 1; // \x1b[0m"), HasSubstr("1:13: control byte 0x1b"));
}

TEST(Parse, HostileSizesAreRefusedQuickly) {
  EXPECT_THAT(error_of(std::string(10'000'000, '(')), HasSubstr("1:65537: the formula is longer"));
  EXPECT_THAT(error_of("pid = " + std::string(50'000, '(')), HasSubstr("nested more than 200"));
  EXPECT_THAT(error_of("pid = " + std::string(50'000, '~')), HasSubstr("nested more than 200"));
  EXPECT_THAT(error_of(std::string(50'000, '{')), HasSubstr("1:201: nested more than 200"));
  std::string chain = "pid = 1";
  for (int i = 0; i < 10'000; ++i) chain += " + 1";
  EXPECT_THAT(error_of(chain), HasSubstr("more than 200 operations deep"));
  std::string ladder = "if (pid) pid = 1;";
  for (int i = 0; i < 2000; ++i) ladder += " else if (pid) pid = 1;";
  EXPECT_THAT(error_of(ladder), HasSubstr("nested more than 200"));
  std::string names;
  for (int i = 0; i < 1000; ++i) names += "n" + std::to_string(i) + " = 1;";
  EXPECT_THAT(error_of(names), HasSubstr("more than 256 names"));
}

}  // namespace
}  // namespace swizzleperf
