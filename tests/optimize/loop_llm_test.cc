// A language model in the loop, behind a scripted server: what reaches it, what its failures
// become.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/subprocess.h"
#include "llm/clean_environment.h"
#include "llm/scripted_server.h"
#include "optimize/optimize.h"
#include "optimize/run_support.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kKey = "sk-SENTINEL-55120";

class LoopWithModel : public llm::CleanEnvironment {
 protected:
  OptimizeRequest request(const llm::ScriptedServer& server, const std::string& model) {
    set("SWIZZLEPERF_LLM_API_KEY", kKey);
    OptimizeRequest r;
    r.program.program = write_launch(scratch_.path());
    r.run_directory = scratch_.path() / "run";
    r.quiet = true;
    r.threads = 2;
    r.proposers.names = {"llm"};
    r.proposers.endpoint.base = server.base();
    r.proposers.endpoint.model = model;  // what is learned of one holds for the process
    return r;
  }

  [[nodiscard]] bool key_is_in_a_file() const {
    for (const fs::directory_entry& e : fs::recursive_directory_iterator(scratch_.path())) {
      if (e.is_regular_file() && read_file(e.path()).find(kKey) != std::string::npos) return true;
    }
    return false;
  }

  ScratchDirectory scratch_;
};

std::vector<std::string> outcomes(const OptimizeOutcome& o) {
  std::vector<std::string> all;
  for (const Attempt& a : o.history.attempts) all.emplace_back(outcome_name(a.outcome));
  return all;
}

TEST_F(LoopWithModel, AnswersOfEveryKindBecomeAttemptsAndTotalsAreRight) {
  const llm::ScriptedServer server(json::array(
      {llm::openai_answer("```json\n{\"summary\": \"s\", \"formula\": \"pid = num_blocks - 1 - "
                          "pid;\"}\n```",
                          1000, 50),
       llm::openai_answer("The best is\n\npid = pid;\n\nas it is.", 1100, 60),
       llm::openai_answer("{\"summary\": \"s\", \"formula\": \"pid = num_bl", 1200, 70),
       llm::openai_answer("`pid = num_pid_x * num_pid_y - pid - 1`", 1300, 80),
       llm::openai_answer("never asked for", 1, 1)}));
  OptimizeRequest r = request(server, "loop-answers");
  r.proposers.attempts = 4;
  const OptimizeOutcome o = optimize(r);
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"measured", "identity", "syntax", "repeat"}));
  const json totals = o.json["totals"]["proposers"][0];
  EXPECT_EQ(totals["calls"], 4);
  EXPECT_EQ(totals["prompt_tokens"], 4600);
  EXPECT_EQ(totals["completion_tokens"], 260);
  EXPECT_EQ(totals["valid"], 1);
  const std::vector<json> asked = server.requests();
  ASSERT_EQ(asked.size(), 4U);
  const std::string last = asked[3]["body"].dump();
  for (const char* part : {"# The machine", "num_xcds", "Attempt 3 (llm): syntax",
                           "ends in the middle of its formula", "the best so far"}) {
    EXPECT_NE(last.find(part), std::string::npos) << part;
  }
  EXPECT_FALSE(key_is_in_a_file());
}

TEST_F(LoopWithModel, AWrongKeyEndsItWithAnAttemptAndTheSearchStays) {
  const llm::ScriptedServer server(json::array({{{"status", 401}, {"echo", true}}}));
  OptimizeRequest r = request(server, "loop-key");
  r.proposers.names = {"llm", "search"};
  const OptimizeOutcome o = optimize(r);
  EXPECT_EQ(outcomes(o), (std::vector<std::string>{"no_reply", "measured", "measured"}));
  EXPECT_EQ(o.endings[0].why, Ending::Why::kFailed);
  EXPECT_TRUE(o.best_swizzle.has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_FALSE(key_is_in_a_file());
}

TEST_F(LoopWithModel, TheKeyIsSentAndSeenNowhereElse) {
  const llm::ScriptedServer server(
      json::array({{{"status", 400}, {"echo", true}},  // a server that quotes the headers it got
                   llm::openai_answer("pid = num_blocks - 1 - pid;")}));
  ChildSpec spec;
  spec.argv = {executable(),
               "optimize",
               write_launch(scratch_.path()),
               "-vv",
               "--proposer",
               "llm",
               "--llm-base",
               server.base(),
               "--llm-model",
               "loop-secret",
               "--attempts",
               "1",
               "--run-dir",
               scratch_.path() / "run"};
  spec.environment["SWIZZLEPERF_LLM_API_KEY"] = kKey;
  const ChildResult child = run_child(spec);
  ASSERT_FALSE(server.requests().empty());
  EXPECT_NE(server.requests()[0]["headers"].dump().find(kKey), std::string::npos);
  EXPECT_NE(child.err.find("llm:"), std::string::npos) << "the log has no exchanges";
  EXPECT_EQ((child.out + child.err).find(kKey), std::string::npos);
  EXPECT_FALSE(key_is_in_a_file());
}

TEST_F(LoopWithModel, AModelThatCannotBeSetUpEndsItToo) {
  const llm::ScriptedServer server(json::array());
  OptimizeRequest r = request(server, "loop-replay");
  r.proposers.names = {"llm", "search"};
  r.proposers.endpoint.replay = (scratch_.path() / "nowhere.jsonl").string();
  const OptimizeOutcome o = optimize(r);
  EXPECT_EQ(o.endings[0].why, Ending::Why::kFailed);
  EXPECT_NE(o.endings[0].sentence.find("nowhere.jsonl"), std::string::npos);
  EXPECT_EQ(o.history.best()->proposer, "search");
}

TEST_F(LoopWithModel, ATokenBudgetEndsItAndAResumedRunKnowsWhatWasSpent) {
  const llm::ScriptedServer server(
      json::array({llm::openai_answer("pid = num_blocks - 1 - pid;", 1000, 50),
                   llm::openai_answer("pid = (pid + 1) % num_blocks;", 1000, 50)}));
  OptimizeRequest r = request(server, "loop-budget");
  r.proposers.limits.tokens = 1050;
  for (const bool resume : {false, true}) {
    r.resume = resume;
    const OptimizeOutcome o = optimize(r);
    EXPECT_EQ(outcomes(o), std::vector<std::string>{"measured"});
    EXPECT_EQ(o.endings[0].why, Ending::Why::kBudget);
    EXPECT_EQ(o.json["totals"]["proposers"][0]["prompt_tokens"], 1000);
  }
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace swizzleperf
