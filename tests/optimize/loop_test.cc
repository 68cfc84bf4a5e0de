// The loop with a program as its proposer: what it finds, what it refuses, what it keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "optimize/optimize.h"
#include "optimize/run_support.h"
#include "support/hostile.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kContiguous =
    "die = pid % num_xcds;\n"
    "turn = pid / num_xcds;\n"
    "share = num_blocks / num_xcds;\n"
    "extra = num_blocks % num_xcds;\n"
    "pid = die * share + min(die, extra) + turn;\n";

/// As an expert writes it for a GEMM: each die a share, walked in bands.
std::string grouped(int height) {
  return kContiguous + "height = " + std::to_string(height) +
         ";\n"
         "band = height * num_pid_x;\n"
         "first = pid / band * height;\n"
         "rows = min(num_pid_y * num_pid_z - first, height);\n"
         "pid = (first + pid % band % rows) * num_pid_x + pid % band / rows;\n";
}

std::string object(const std::string& formula) {
  return json{{"critiques", json::array()},
              {"summary", "SUMMARY"},
              {"reason", "REASON"},
              {"formula", formula}}
      .dump();
}

/// A run whose proposer is a script that answers attempt N with the file answers/N.
class Loop : public testing::Test {
 protected:
  Loop() {
    fs::create_directory(answers());
    write_file(script(),
               "#!/bin/sh\n"
               "n=$(sed -n 's/.*\"attempt\":\\([0-9]*\\),\"attempts_left\".*/\\1/p')\n"
               "echo \"asked for $n\" >> " +
                   (path() / "asked").string() +
                   "\n"
                   "echo \"noise $n\" >&2\n"
                   "[ -f " +
                   answers().string() + "/$n.sh ] && . " + answers().string() +
                   "/$n.sh\n"
                   "exec cat " +
                   answers().string() + "/$n\n");
    fs::permissions(script(), fs::perms::owner_all);
  }

  [[nodiscard]] const fs::path& path() const { return scratch_.path(); }
  [[nodiscard]] fs::path answers() const { return path() / "answers"; }
  [[nodiscard]] fs::path script() const { return path() / "agent"; }
  [[nodiscard]] fs::path run() const { return path() / "run"; }

  void answer(int attempt, const std::string& text) const {
    write_file(answers() / std::to_string(attempt), text);
  }
  /// Shell text that is run before the answer.
  void before(int attempt, const std::string& shell) const {
    write_file(answers() / (std::to_string(attempt) + ".sh"), shell);
  }

  [[nodiscard]] OptimizeRequest request(std::uint64_t attempts, std::uint64_t columns = 4096) {
    if (launch_.empty()) {
      launch_ = write_launch(path(), {.m = 4096, .n = columns, .k = 512, .tile = 128, .group = 1});
    }
    OptimizeRequest r;
    r.program.program = launch_;
    r.objective = Objective::kL2;
    r.run_directory = run();
    r.quiet = true;
    r.threads = 2;
    r.proposers.names = {"command"};
    r.proposers.attempts = attempts;
    r.proposers.command.argv = {script().string()};
    return r;
  }

  [[nodiscard]] std::vector<std::string> lines(const fs::path& file) const {
    std::vector<std::string> all;
    std::istringstream in(read_file(file));
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  ScratchDirectory scratch_;
  fs::path launch_;
};

std::vector<std::string> outcomes(const OptimizeOutcome& o) {
  std::vector<std::string> all;
  for (const Attempt& a : o.history.attempts) all.emplace_back(outcome_name(a.outcome));
  return all;
}

TEST_F(Loop, AnExpertsAnswersFindTheExpertsSwizzle) {
  answer(1, object(kContiguous));
  answer(2, object(grouped(4)));
  answer(3, object(grouped(8)));
  const OptimizeOutcome o = optimize(request(3, 4736));  // 37 columns of blocks on 8 dies
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"measured", "measured", "measured"}));
  ASSERT_TRUE(o.best_swizzle.has_value());
  EXPECT_EQ(o.proof->range.failed, 0U);
  // It is what the library calls by its name, and what the search finds is no better.
  const std::string name =
      "die-contiguous+grouped:height=" + std::string(o.history.best()->number == 2 ? "4" : "8");
  EXPECT_EQ(verify_grid(make_swizzle(name).formula, o.launch.shape).hash, o.history.best()->hash);
  const json result = json::parse(read_file(run() / "result.json"));
  EXPECT_EQ(result["best"]["proposer"], "command");
  EXPECT_EQ(result["best"]["words"], "SUMMARY");
  EXPECT_EQ(result["best"]["reason"], "REASON");
  EXPECT_GT(result["best"]["metrics"]["l2"]["hit_rate"],
            result["baseline"]["metrics"]["l2"]["hit_rate"]);
  EXPECT_EQ(result["attempts"].size(), 3U);
  EXPECT_EQ(result["totals"]["proposers"][0]["calls"], 3);
  EXPECT_TRUE(result["totals"]["proposers"][0]["prompt_tokens"].is_null());
  EXPECT_EQ(read_file(run() / "best.swz"), o.best_swizzle->formula.text());
}

TEST_F(Loop, ThePapersMistakesAreRefusedWithTheirReasonAndNeverBest) {
  answer(1, object("b = cdiv(num_blocks, 8);\npid = ((pid / 8) % 8) * b + pid % 8;"));
  answer(2, object("die = pid % num_xcds; turn = pid / num_xcds; pid = turn * num_xcds + die;"));
  answer(3, object("pid = pid + num_xcds;"));
  answer(4, object("pid = num_blocks - 1 - pid;"));
  answer(5, object("pid_x = num_pid_x - 1 - pid_x; pid_y = num_pid_y - 1 - pid_y;"));
  answer(6, object("pid = pid + num_xcds;"));
  const OptimizeOutcome o = optimize(request(6));
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"not_a_bijection", "identity", "not_a_bijection",
                                                   "measured", "repeat", "repeat"}));
  const std::vector<Attempt>& a = o.history.attempts;
  EXPECT_NE(a[0].report.find("reaches 64 of 1024 blocks"), std::string::npos) << a[0].report;
  EXPECT_NE(a[2].report.find("outside the grid"), std::string::npos) << a[2].report;
  EXPECT_NE(a[4].report.find("attempt 4"), std::string::npos) << a[4].report;
  EXPECT_NE(a[5].report.find("text of attempt 3 again"), std::string::npos) << a[5].report;
  EXPECT_EQ(o.history.best()->number, 4U);
  // The next question says so: each outcome is in its history.
  const json last = json::parse(read_file(run() / "prompts/006.request.json"));
  ASSERT_EQ(last["history"].size(), 5U);
  EXPECT_EQ(last["history"][0]["outcome"], "not_a_bijection");
  EXPECT_EQ(last["history"][4]["report"], a[4].report);
  EXPECT_EQ(last["attempts_left"], 1);
}

TEST_F(Loop, ACommandThatFailsIsAnAttemptAndThreeInARowEndIt) {
  answer(1, object(kContiguous));
  before(2, "exit 7");
  before(3, "kill -9 $$");
  answer(4, object(grouped(4)));
  answer(5, "");
  before(6, "sleep 100");
  before(7, "head -c 3000000 /dev/zero; exit 0");
  OptimizeRequest r = request(10);
  r.proposers.command.time_limit_s = 1;
  const OptimizeOutcome o = optimize(r);
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"measured", "no_reply", "no_reply", "measured",
                                                   "no_reply", "no_reply", "no_reply"}));
  const std::vector<Attempt>& a = o.history.attempts;
  EXPECT_NE(a[1].report.find("exit status 7"), std::string::npos) << a[1].report;
  EXPECT_NE(a[2].report.find("signal 9"), std::string::npos) << a[2].report;
  EXPECT_NE(a[4].report.find("wrote nothing"), std::string::npos) << a[4].report;
  EXPECT_NE(a[5].report.find("did not answer within 1 s"), std::string::npos) << a[5].report;
  EXPECT_NE(a[6].report.find("more than"), std::string::npos) << a[6].report;
  ASSERT_EQ(o.endings.size(), 1U);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kFailed);
  EXPECT_TRUE(o.best_swizzle.has_value());
  EXPECT_EQ(read_file(run() / "prompts/002.stderr.txt"), "noise 2\n");
  // Who resumes a run that had ended hopes for more: it is asked again.
  answer(8, object(grouped(2)));
  r.resume = true;
  r.proposers.attempts = 8;
  EXPECT_EQ(outcomes(optimize(r)).back(), "measured");
}

TEST_F(Loop, ACommandThatIsNotThereEndsAtOnceAndTheSearchStays) {
  OptimizeRequest r = request(10);
  r.proposers.names = {"command", "search"};
  r.proposers.command.argv = {(path() / "nowhere").string()};
  const OptimizeOutcome o = optimize(r);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kFailed);
  EXPECT_NE(o.endings[0].sentence.find("nowhere"), std::string::npos);
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"no_reply", "measured", "measured"}));
  EXPECT_EQ(o.history.best()->proposer, "search");
}

TEST_F(Loop, BudgetsEndIt) {
  for (int i = 1; i <= 9; ++i) answer(i, object("pid = pid ^ " + std::to_string(i) + ";"));
  OptimizeRequest r = request(9);
  r.proposers.limits.calls = 2;
  OptimizeOutcome o = optimize(r);
  EXPECT_EQ(o.history.attempts.size(), 2U);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kBudget);
  r.resume = true;  // a budget may be raised, and what was spent stays spent
  r.proposers.limits.calls = 5;
  r.proposers.attempts = 4;
  o = optimize(r);
  EXPECT_EQ(o.history.attempts.size(), 4U);
  EXPECT_EQ(o.spent.at("command").calls, 4U);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kDone);
  r.proposers.attempts = 9;
  r.proposers.limits = {};
  r.proposers.limits.seconds = 1e-9;
  EXPECT_EQ(optimize(r).history.attempts.size(), 4U);
}

TEST_F(Loop, SamplesOfARoundSeeTheSameHistory) {
  for (int i = 1; i <= 5; ++i) answer(i, object("pid = pid ^ " + std::to_string(i) + ";"));
  OptimizeRequest r = request(5);
  r.proposers.samples = 2;
  optimize(r);
  const std::size_t expected[] = {0, 0, 2, 2, 4};
  for (int i = 1; i <= 5; ++i) {
    const json q =
        json::parse(read_file(run() / "prompts" / ("00" + std::to_string(i) + ".request.json")));
    EXPECT_EQ(q["history"].size(), expected[i - 1]) << i;
    EXPECT_EQ(q["sample"], i % 2 == 1 ? 1 : 2) << i;
    EXPECT_EQ(q["best"].is_null(), i <= 2) << i;
  }
}

TEST_F(Loop, WhatTheSearchTriedIsARepeat) {
  OptimizeRequest r = request(2);
  r.proposers.names = {"search", "command"};
  answer(3, object("pid = num_blocks - 1 - pid;"));
  answer(4, object(grouped(3)));
  const OptimizeOutcome o = optimize(r);
  ASSERT_EQ(o.history.attempts.size(), 4U);
  EXPECT_EQ(o.history.attempts[2].outcome, AttemptOutcome::kMeasured);
  EXPECT_EQ(o.history.attempts[3].outcome, AttemptOutcome::kRepeat);
  EXPECT_NE(o.history.attempts[3].report.find("die-contiguous+grouped:height=3"), std::string::npos)
      << o.history.attempts[3].report;
  const json q = json::parse(read_file(run() / "prompts/003.request.json"));
  EXPECT_EQ(q["history"].size(), 2U);
  EXPECT_EQ(q["history"][0]["proposer"], "search");
  EXPECT_FALSE(q["history"][0]["metrics"].is_null());
}

TEST_F(Loop, APersonIsNotWaitedFor) {
  OptimizeRequest r = request(2);
  r.proposers.names = {"manual", "search"};
  r.proposers.command = {};
  OptimizeOutcome o = optimize(r);
  ASSERT_EQ(o.endings.size(), 1U);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kWaiting);
  EXPECT_TRUE(o.history.attempts.empty());  // the search comes after
  EXPECT_NE(read_file(run() / "prompts/001.txt").find("# The machine"), std::string::npos);
  r.resume = true;
  EXPECT_EQ(optimize(r).endings[0].why, Ending::Why::kWaiting);
  write_file(run() / "prompts/001.reply.txt", "Try this:\n```\npid = num_blocks - 1 - pid\n```\n");
  o = optimize(r);
  EXPECT_EQ(outcomes(o), std::vector<std::string>{"measured"});
  EXPECT_NE(o.endings[0].sentence.find("prompts/002.reply.txt"), std::string::npos);
  write_file(run() / "prompts/002.reply.json", object(kContiguous));
  o = optimize(r);
  EXPECT_EQ(outcomes(o).size(), 4U);
  EXPECT_EQ(o.history.attempts[3].proposer, "search");
  EXPECT_EQ(o.history.attempts[1].proposal.summary, "SUMMARY");
}

/// A file of a run that somebody changed is named; it neither counts as a fault of ours nor is
/// used.
TEST(ProposalLog, LinesThatNoRunWroteAreRefusedByNumber) {
  const json line = {{"event", "attempt"}, {"attempt", 1},          {"proposer", "command"},
                     {"formula", ""},      {"summary", ""},         {"reason", ""},
                     {"kernel", ""},       {"patch", ""},           {"critiques", json::array()},
                     {"report", ""},       {"outcome", "measured"}, {"swizzle", "command-1"},
                     {"hash", "00ff"}};
  const auto fault = [&](const char* key, const json& value) -> std::string {
    const ScratchDirectory scratch;
    json changed = line;
    changed[key] = value;
    write_file(scratch.path() / "proposals.jsonl", changed.dump() + "\n");
    try {
      const ProposalLog log(scratch.path() / "proposals.jsonl");
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kInput);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault("report", "unchanged"), "");
  for (const auto& [key, value] :
       std::vector<std::pair<const char*, json>>{{"hash", "zz"},
                                                 {"hash", std::string(30, 'f')},
                                                 {"outcome", "splendid"},
                                                 {"swizzle", nullptr},
                                                 {"critiques", 7},
                                                 {"attempt", "one"}}) {
    EXPECT_THAT(fault(key, value), testing::HasSubstr("proposals.jsonl:1: not a line")) << value;
  }
}

TEST_F(Loop, AJournalWhoseFormulaWasChangedIsNotBelieved) {
  answer(1, object(kContiguous));
  OptimizeRequest r = request(1);
  optimize(r);
  r.resume = true;
  const std::string was = read_file(run() / "proposals.jsonl");
  for (const std::string& formula : {std::string("pid = ("), std::string("pid = 0;")}) {
    json line;
    std::string text;
    std::istringstream in(was);
    for (std::string words; std::getline(in, words); text += line.dump() + "\n") {
      line = json::parse(words);
      if (line.at("event") == "attempt") line["formula"] = formula;
    }
    write_file(run() / "proposals.jsonl", text);
    write_file(run() / "journal.jsonl", "");
    try {
      optimize(r);
      FAIL() << formula;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kInput);
      EXPECT_THAT(error.what(), testing::HasSubstr("attempt 1 is not the order that was judged"));
    }
  }
}

TEST_F(Loop, NothingToAskWithIsToldBeforeAnythingIsDone) {
  OptimizeRequest r = request(1);
  r.proposers.command.argv.clear();
  EXPECT_THROW(optimize(r), Error);
  r.proposers.names = {"oracle"};
  EXPECT_THROW(optimize(r), Error);
  r.proposers.names = {"search", "search"};
  EXPECT_THROW(optimize(r), Error);
  EXPECT_FALSE(fs::exists(run()));
}

/// Every file below a directory with its size.
std::set<std::string> files_below(const fs::path& directory) {
  std::set<std::string> all;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(directory)) {
    all.insert(e.path().string() + (e.is_regular_file() ? std::to_string(e.file_size()) : ""));
  }
  return all;
}

TEST_F(Loop, HostileRepliesTouchNothingOutsideTheRun) {
  Random random(11);
  constexpr int kReplies = 99;
  for (int i = 1; i <= kReplies; ++i) answer(i, hostile::reply(random));
  answer(kReplies + 1, object(kContiguous));
  OptimizeRequest r = request(kReplies + 1);
  r.proposers.command.argv = {script().string()};
  const fs::path here = path() / "here";
  fs::create_directory(here);
  const fs::path before_path = fs::current_path();
  fs::current_path(here);
  const std::set<std::string> before = files_below(answers());
  const OptimizeOutcome o = optimize(r);
  fs::current_path(before_path);
  EXPECT_TRUE(fs::is_empty(here));
  EXPECT_EQ(files_below(answers()), before);
  std::set<std::string> top;
  for (const auto& e : fs::directory_iterator(path())) top.insert(e.path().filename());
  EXPECT_EQ(top,
            (std::set<std::string>{"agent", "answers", "asked", "here", "launch.trace", "run"}));
  EXPECT_EQ(o.history.attempts.size(), kReplies + 1U);
  EXPECT_TRUE(is_valid(o.history.attempts.back().outcome) ||
              o.history.attempts.back().outcome == AttemptOutcome::kRepeat);
  EXPECT_TRUE(o.history.best() != nullptr);
  EXPECT_LT(fs::file_size(run() / "prompts/100.txt"), 100'000U);
}

}  // namespace
}  // namespace swizzleperf
