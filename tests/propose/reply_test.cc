// What language models send, and what is taken from it.
#include "propose/reply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace swizzleperf {
namespace {

const std::string kFormula = "half = num_blocks / 2;\npid = pid ^ 1;";

std::string object(const std::string& formula = kFormula) {
  return nlohmann::json{{"critiques", {{{"attempt", 2}, {"why", "too far apart"}}}},
                        {"summary", "pairs swapped"},
                        {"reason", "neighbours"},
                        {"formula", formula}}
      .dump(1);
}

std::string with_raw_line_breaks() {
  return "{\"summary\": \"pairs\",\n\"formula\": \"half = num_blocks / 2;\npid = pid ^ 1;\"}";
}

struct Form {
  const char* name;
  std::string reply;
};

class Whole : public testing::TestWithParam<Form> {};

/// Every way of saying the whole object.
TEST_P(Whole, AllFieldsAreTaken) {
  const Extracted e = extract(GetParam().reply);
  ASSERT_EQ(e.problem, "");
  EXPECT_EQ(e.proposal.formula, kFormula);
  EXPECT_EQ(e.proposal.summary, "pairs swapped");
  EXPECT_EQ(e.proposal.reason, "neighbours");
  ASSERT_EQ(e.proposal.critiques.size(), 1U);
  EXPECT_EQ(e.proposal.critiques[0].attempt, 2U);
  EXPECT_EQ(e.proposal.critiques[0].why, "too far apart");
}

const Form kWhole[] = {
    {"Alone", object()},
    {"ByteOrderMark", "\xEF\xBB\xBF" + object()},
    {"WindowsLineEnds",
     [] {
       std::string text;
       for (const char c : object()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
       return text;
     }()},
    {"Fenced", "```json\n" + object() + "\n```"},
    {"FenceNotClosed", "```json\n" + object()},
    {"TextAround", "Sure! Here {it} is:\n" + object() + "\nHope that helps {\"a\": 1}."},
    {"AfterTheExample", object("pid = 7;") + "\nbecomes\n" + object()},
    {"AfterThinking", "<think>" + object("pid = 8;") + "</think>\n" + object()},
    {"Nested", "{\"answer\": 1} {\"other\": {\"x\": []}} " + object()},
};
INSTANTIATE_TEST_SUITE_P(Reply, Whole, testing::ValuesIn(kWhole),
                         [](const auto& i) { return i.param.name; });

class Formula_ : public testing::TestWithParam<Form> {};

/// Every way of saying at least the formula.
TEST_P(Formula_, IsTaken) {
  const Extracted e = extract(GetParam().reply);
  EXPECT_EQ(e.problem, "");
  EXPECT_EQ(e.proposal.formula, kFormula);
}

const Form kFormulas[] = {
    {"Bare", kFormula},
    {"Fence", "I propose\n```c\n" + kFormula + "\n```\nsince it swaps."},
    {"FenceNotClosed", "I propose\n```\n" + kFormula},
    {"LastFenceThatParses",
     "```\npid = pid;\n```\nno:\n```\n" + kFormula + "\n```\n```sh\npid=$$\n```"},
    {"Prose", "The order that pairs blocks:\n\n" + kFormula + "\n\nIt has pid = x in it: good."},
    {"RawLineBreaksInJson", with_raw_line_breaks()},
    {"TrailingComma", "{\"formula\": \"half = num_blocks / 2;\\npid = pid ^ 1;\",}"},
    {"CutBehindTheFormula",
     "{\"formula\": \"half = num_blocks / 2;\\npid = pid ^ 1;\", \"reason\": \"it"},
    {"ListOfLines", R"({"formula": ["half = num_blocks / 2;", "pid = pid ^ 1;"]})"},
    {"FenceInJson", object("```c\n" + kFormula + "\n```")},
};
INSTANTIATE_TEST_SUITE_P(Reply, Formula_, testing::ValuesIn(kFormulas),
                         [](const auto& i) { return i.param.name; });

TEST(Reply, InlineCodeIsTaken) {
  const Extracted e = extract("Use `pid = pid ^ 1` where `x` is fine.");
  EXPECT_EQ(e.proposal.formula, "pid = pid ^ 1");
}

TEST(Reply, WhatWasCutInTheFormulaIsNotTaken) {
  const std::string whole = object("pid = num_blocks - 1 - pid;");
  const std::size_t begin = whole.find("pid = num");
  const std::size_t end = whole.find("pid;");
  for (std::size_t length = begin; length <= end + 4; ++length) {
    const Extracted e = extract(whole.substr(0, length));
    EXPECT_EQ(e.problem, "the reply ends in the middle of its formula") << length;
    EXPECT_EQ(e.proposal.formula, "");
  }
}

TEST(Reply, WithoutAFormulaSaysSo) {
  EXPECT_EQ(extract("").problem, "the reply is empty");
  EXPECT_EQ(extract(" \n\t").problem, "the reply is empty");
  for (const char* none :
       {"I am sorry.", "{}", "{\"summary\": \"x\"}", "[1, 2]", "null", "<think>"}) {
    EXPECT_NE(extract(none).problem.find("no formula"), std::string::npos) << none;
  }
  for (const char* empty :
       {R"({"formula": ""})", R"({"formula": null})", R"({"formula": {"a": 1}})",
        R"({"formula": 7})", R"({"formula": []})"}) {
    EXPECT_NE(extract(empty).problem.find("empty"), std::string::npos) << empty;
  }
}

TEST(Reply, AWholeFileIsTakenFromTheObjectOrAFence) {
  const std::string file = "#include <x>\n__global__ void k() {}\n";
  const std::string words = "{\"summary\": \"s\", \"reason\": \"r\"}";
  const std::string fence = "```cpp\n" + file + "```";
  for (const std::string& reply :
       {words + "\n" + fence, "```json\n" + words + "\n```\nand\n" + fence + "\nthat is all", fence,
        nlohmann::json{{"summary", "s"}, {"kernel", file}}.dump()}) {
    const Extracted e = extract(reply, Edit::kKernel);
    EXPECT_EQ(e.problem, "") << reply;
    EXPECT_EQ(e.proposal.kernel, file);
    EXPECT_EQ(e.proposal.formula, "");
  }
  EXPECT_EQ(extract(words + "\n" + fence, Edit::kKernel).proposal.summary, "s");
  EXPECT_NE(extract(words + "\n```cpp\n" + file, Edit::kKernel).problem.find("in the middle"),
            std::string::npos);
  EXPECT_NE(extract(object(), Edit::kKernel).problem.find("no file"), std::string::npos);
}

TEST(Reply, WhatComesOutIsCleanText) {
  const Extracted e = extract(
      "{\"summary\": \"\\u001b[31mred\\u0000\\u009b2J\", \"formula\": \"pid = 1\\u0007;\"}");
  EXPECT_EQ(e.proposal.summary,
            "\xEF\xBF\xBD[31mred\xEF\xBF\xBD\xEF\xBF\xBD"
            "2J");
  EXPECT_EQ(e.proposal.formula, "pid = 1\xEF\xBF\xBD;");
}

TEST(CleanText, IsValidAndBoundedAndKeepsWhatIsValid) {
  const std::string good = "d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xF0\x9F\x98\x80\n\tx";
  EXPECT_EQ(clean_text(good, 100), good);
  for (const char* bad :
       {"\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80", "\xE2\x82", "\x01"}) {
    const std::string clean = clean_text(bad, 100);
    EXPECT_NE(clean, bad);
    EXPECT_EQ(clean.find_first_not_of("\xEF\xBF\xBD"), std::string::npos);
  }
  for (std::size_t most = 0; most <= good.size(); ++most) {
    const std::string cut = clean_text(good, most);
    EXPECT_LE(cut.size(), most);
    EXPECT_TRUE(good.starts_with(cut));
    EXPECT_EQ(clean_text(cut, 100), cut) << most;
  }
  EXPECT_EQ(clean_line("  a\n\n b\tc ", 100), "a b c");
}

}  // namespace
}  // namespace swizzleperf
