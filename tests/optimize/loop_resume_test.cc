// Kill a run that asks a program, at random moments, and let it finish: nothing is asked twice, and
// what was found, spent and refused is what an undisturbed run finds. And no key gets anywhere.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "optimize/run_support.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Answers each attempt with a formula of its own: valid, a repeat, lost blocks, noise.
void write_agent(const fs::path& file, const fs::path& started) {
  write_file(file,
             "#!/bin/sh\n"
             "n=$(sed -n 's/.*\"attempt\":\\([0-9]*\\),\"attempts_left\".*/\\1/p')\n"
             "echo $n >> " +
                 started.string() +
                 "\n"
                 "sleep 0.03\n"
                 "case $((n % 5)) in\n"
                 "0) echo 'no formula here' ;;\n"
                 "1) echo \"{\\\"formula\\\": \\\"pid = pid / 3 * 0 + pid % $n\\\"}\" ;;\n"
                 "2) echo \"if (pid < $n) pid = $n - 1 - pid;\" ;;\n"
                 "3) echo 'pid = num_blocks - 1 - pid;' ;;\n"
                 "4) echo \"pid = (pid + $n) % num_blocks;\" ;;\n"
                 "esac\n");
  fs::permissions(file, fs::perms::owner_all);
}

struct AgentRun {
  fs::path launch, agent, directory;

  [[nodiscard]] std::vector<std::string> command() const {
    const bool resume = fs::exists(directory / "config.json");
    return {executable(),
            "optimize",
            launch,
            "-q",
            "--proposer",
            "command,search",
            "--command",
            agent,
            "--attempts",
            "12",
            "--samples",
            "2",
            resume ? "--resume" : "--run-dir",
            directory};
  }

  void finish() const {
    ChildSpec spec;
    spec.argv = command();
    const ChildResult child = run_child(spec);
    ASSERT_TRUE(child.ok()) << child.err;
  }
};

json without_costs(json result) {
  result["totals"].erase("seconds");
  for (json& p : result["totals"]["proposers"]) {
    p.erase("seconds");
    p.erase("calls");  // one in flight at a kill is counted, and asked again
  }
  return result;
}

std::vector<json> lines_of(const fs::path& file) {
  std::vector<json> all;
  std::istringstream in(read_file(file));
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

/// Everything asked has one answer and one judgement, and nothing is asked after its answer.
void check_log(const fs::path& file) {
  std::map<std::uint64_t, int> replies;
  std::map<std::uint64_t, int> judged;
  std::uint64_t calls = 0;
  for (const json& line : lines_of(file)) {
    const std::string event = line.at("event");
    if (event == "asked") {
      EXPECT_EQ(replies[line.at("attempt")], 0) << line;
    } else if (event == "reply") {
      EXPECT_EQ(++replies[line.at("attempt")], 1) << line;
    } else if (event == "attempt") {
      EXPECT_EQ(++judged[line.at("attempt")], 1) << line;
    } else if (event == "spent") {
      EXPECT_GE(line.at("calls").get<std::uint64_t>(), calls);
      calls = line.at("calls");
    }
  }
  EXPECT_EQ(judged.size(), 14U);  // 12 of the agent, 2 of the search
}

TEST(LoopResume, KillsChangeNothingAndNothingIsAskedTwice) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const AgentRun quiet{launch, scratch.path() / "agent", scratch.path() / "quiet"};
  write_agent(quiet.agent, scratch.path() / "started-quiet");
  const auto start = std::chrono::steady_clock::now();
  quiet.finish();
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  const AgentRun killed{launch, scratch.path() / "agent", scratch.path() / "killed"};
  write_agent(killed.agent, scratch.path() / "started");
  Random random(3);
  for (int i = 0; i < 10; ++i) {
    start_and_kill(killed.command(),
                   std::chrono::milliseconds(random.below(static_cast<std::uint64_t>(most / 2))));
  }
  killed.finish();
  // The agent's name is part of neither.
  EXPECT_EQ(without_costs(json::parse(read_file(killed.directory / "result.json"))),
            without_costs(json::parse(read_file(quiet.directory / "result.json"))));
  check_log(killed.directory / "proposals.jsonl");
  check_log(quiet.directory / "proposals.jsonl");
  for (int i = 1; i <= 12; ++i) {
    const std::string name = "prompts/" + std::string(i < 10 ? "00" : "0") + std::to_string(i);
    EXPECT_EQ(read_file(killed.directory / (name + ".request.json")),
              read_file(quiet.directory / (name + ".request.json")));
  }
  // What the agent saw of being started is no more than what is on record as spent.
  const std::string started = read_file(scratch.path() / "started");
  const json result = json::parse(read_file(killed.directory / "result.json"));
  EXPECT_LE(std::count(started.begin(), started.end(), '\n'),
            result["totals"]["proposers"][0]["calls"].get<int>());
}

TEST(LoopResume, NoKeyIsInAnyFileLogOrChild) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const fs::path agent = scratch.path() / "agent";
  write_file(agent, "#!/bin/sh\nenv >&2\nenv > " + (scratch.path() / "environment").string() +
                        "\necho 'pid = num_blocks - 1 - pid;'\n");
  fs::permissions(agent, fs::perms::owner_all);
  const std::string sentinel = "sk-SENTINEL-93751";
  const char* names[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "SWIZZLEPERF_LLM_API_KEY",
                         "HF_TOKEN",       "MY_SECRET_2",       "AWS_SECRET_ACCESS_KEY"};
  std::vector<std::string> command = {"env"};
  for (const char* name : names) command.push_back(std::string(name) + "=" + sentinel);
  for (const std::string& word :
       {executable().string(), std::string("optimize"), launch.string(), std::string("-vv"),
        std::string("--proposer"), std::string("command"), std::string("--command"), agent.string(),
        std::string("--attempts"), std::string("2"), std::string("--run-dir"),
        (scratch.path() / "run").string()}) {
    command.push_back(word);
  }
  ChildSpec spec;
  spec.argv = command;
  const ChildResult child = run_child(spec);
  EXPECT_TRUE(child.ok()) << child.err;
  EXPECT_EQ(child.out.find(sentinel), std::string::npos);
  EXPECT_EQ(child.err.find(sentinel), std::string::npos);
  EXPECT_NE(read_file(scratch.path() / "environment").find("PATH="), std::string::npos);
  int files = 0;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(scratch.path())) {
    if (!e.is_regular_file()) continue;
    ++files;
    EXPECT_EQ(read_file(e.path()).find(sentinel), std::string::npos) << e.path();
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace swizzleperf
