// What a question says, and that it does not grow without end.
#include "propose/prompt.h"

#include <gtest/gtest.h>

#include <deque>

#include "propose/figures.h"
#include "report/metrics.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

json metrics(double time_ms, double hit_rate, double imbalance = 0.01) {
  SimResult r;
  r.exact = true;
  r.l2 = {1e6, hit_rate * 1e6};
  r.llc = LevelCounts{1e5, 5e4};
  r.hbm_read_bytes = 1e8;
  r.time_ms = time_ms;
  r.imbalance = imbalance;
  r.misses_by_buffer = {1e5, 2e5};
  r.per_domain = {{{5e5, 4e5}, 100, time_ms}, {{5e5, 4e5}, 100, time_ms / (1 + imbalance)}};
  return to_json(r, {{"A", 0, 1}, {"B", 1, 1}});
}

class Prompt : public testing::Test {
 protected:
  Prompt() {
    trace_.kernel = "gemm";
    trace_.grid = {64, 32, 1};
    trace_.block = {256, 1, 1};
  }

  [[nodiscard]] Brief brief(bool hardware = true) const {
    return {trace_, machine_, "time", hardware, "CONTEXT", "LANGUAGE", metrics(1, 0.5), ""};
  }

  Trace trace_;
  Machine machine_ = synthetic::mi300x();
};

Attempt attempt(std::uint64_t number, AttemptOutcome outcome) {
  Attempt a;
  a.number = number;
  a.proposer = "command";
  a.proposal = {"pid = pid ^ " + std::to_string(number) + ";", "SUMMARY", "", {}, ""};
  a.outcome = outcome;
  a.report = "REPORT";
  if (is_valid(outcome)) a.metrics = metrics(0.5, 0.8);
  return a;
}

TEST_F(Prompt, TheFirstQuestionHasEverythingButAHistory) {
  const Question q = make_question(brief(), {{}, {}, 1, 10, 1, 1});
  for (const char* key : {"schema_version", "kernel", "machine", "grid", "block", "objective",
                          "context", "language", "history", "attempt", "attempts_left"}) {
    EXPECT_TRUE(q.request.contains(key)) << key;
  }
  EXPECT_EQ(q.request["grid"], json({64, 32, 1}));
  EXPECT_EQ(q.request["machine"]["dies"], 8);
  EXPECT_EQ(q.request["history"], json::array());
  for (const char* word : {"CONTEXT", "LANGUAGE", "attempt 1"}) {
    EXPECT_NE(q.prompt.find(word), std::string::npos) << word;
  }
  EXPECT_NE(q.instructions.find("\"formula\""), std::string::npos);
}

TEST_F(Prompt, TheHistoryIsToldInBothForms) {
  const std::vector<Attempt> history = {attempt(1, AttemptOutcome::kMeasured),
                                        attempt(2, AttemptOutcome::kIdentity)};
  const Question q = make_question(brief(), {history, 1, 3, 8, 1, 1});
  ASSERT_EQ(q.request["history"].size(), 2U);
  EXPECT_EQ(q.request["history"][0]["outcome"], "measured");
  EXPECT_EQ(q.request["history"][0]["formula"], "pid = pid ^ 1;");
  EXPECT_EQ(q.request["history"][0]["metrics"]["speedup"], 2.0);
  EXPECT_TRUE(q.request["history"][1]["metrics"].is_null());
  EXPECT_EQ(q.request["best"], 1);
  for (const char* word : {"pid = pid ^ 1;", "pid = pid ^ 2;", "the best so far", "identity"}) {
    EXPECT_NE(q.prompt.find(word), std::string::npos) << word;
  }
}

TEST_F(Prompt, WithoutHardwareOnlyTheObjectiveIsTold) {
  const std::vector<Attempt> history = {attempt(1, AttemptOutcome::kMeasured)};
  const Question q = make_question(brief(false), {history, 1, 2, 8, 1, 1});
  const std::string all = q.instructions + q.prompt + q.request.dump();
  for (const char* word : {"L2", "die", "HBM", "XCD", "xcds", "cache", "imbalance"}) {
    EXPECT_EQ(all.find(word), std::string::npos) << word;
  }
  EXPECT_NE(q.prompt.find("0.5000 ms now"), std::string::npos);
}

TEST_F(Prompt, AHistoryOfThousandsOfLongAttemptsStaysShort) {
  std::vector<Attempt> history;
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    history.push_back(attempt(i, i == 7 ? AttemptOutcome::kMeasured : AttemptOutcome::kSyntax));
    history.back().proposal.formula += std::string(60'000, ' ') + "//";
    history.back().report = std::string(9'000, 'r');
  }
  const Question q = make_question(brief(), {history, 7, 3001, 1, 1, 2});
  EXPECT_LT(q.prompt.size(), 50'000U);
  EXPECT_LT(q.request.dump().size(), 500'000U);
  EXPECT_EQ(q.request["history"][0]["attempt"], 7);  // the best is always told
  EXPECT_EQ(q.request["history"].back()["attempt"], 3000);
  EXPECT_NE(q.prompt.find("attempts are left out"), std::string::npos);
  EXPECT_NE(q.prompt.find("pid = pid ^ 2999;"), std::string::npos);  // the last round has two
  EXPECT_EQ(q.prompt.find("pid = pid ^ 2998;"), std::string::npos);
}

TEST(Figures, BalanceIsLostWhereItCosts) {
  const json base = metrics(1, 0.5);
  EXPECT_FALSE(loses_balance(metrics(1.2, 0.5, 0.03), base));  // slower for another reason
  EXPECT_FALSE(loses_balance(metrics(0.8, 0.5, 0.40), base));  // it pays all the same
  EXPECT_TRUE(loses_balance(metrics(1.2, 0.9, 0.40), base));
}

TEST(Figures, WordsHaveBeforeAndAfter) {
  const std::string words = measured_words(metrics(0.5, 0.8), metrics(1, 0.5));
  for (const char* part : {"L2 hits 50.0 % before, 80.0 % now", "1.0000 ms before, 0.5000 ms now",
                           "(2.000x)", "bound by", "A 100 k (100 k before)", "last-level hits"}) {
    EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
  }
}

}  // namespace
}  // namespace swizzleperf
