// Kill `swizzleperf optimize` at random moments, twenty times, then let it finish: the result is
// the one of a run that nobody disturbed, and the journal holds each candidate of each rung once.
//
// The program is a trace, so that the moments fall into the search rather than into the compiler; a
// run killed while it traces has nothing to lose.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "optimize/run_support.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> command(const fs::path& launch, const fs::path& run, bool resume) {
  return {executable(), "optimize", launch, "-q", resume ? "--resume" : "--run-dir", run};
}

void finish(const fs::path& launch, const fs::path& run, bool resume) {
  ChildSpec spec;
  spec.argv = command(launch, run, resume);
  const ChildResult child = run_child(spec);
  ASSERT_TRUE(child.ok()) << child.err;
}

json without_times(json result) {
  result["totals"].erase("seconds");
  return result;
}

/// (rung, spec) of each line; fails on a repeated one.
std::set<std::pair<std::size_t, std::string>> journal_of(const fs::path& run) {
  std::set<std::pair<std::size_t, std::string>> entries;
  std::istringstream lines(read_file(run / "journal.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line);
    EXPECT_TRUE(entries.emplace(record.at("rung"), record.at("spec")).second) << line;
  }
  return entries;
}

TEST(Resume, TwentyKillsChangeNothing) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const auto start = std::chrono::steady_clock::now();
  finish(launch, scratch.path() / "quiet", false);
  const auto whole = std::chrono::steady_clock::now() - start;

  const fs::path run = scratch.path() / "killed";
  Random random(7);
  const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(whole).count();
  for (int i = 0; i < 20; ++i) {
    start_and_kill(command(launch, run, fs::exists(run / "config.json")),
                   std::chrono::milliseconds(random.below(static_cast<std::uint64_t>(most / 2))));
  }
  finish(launch, run, fs::exists(run / "config.json"));

  EXPECT_EQ(without_times(json::parse(read_file(run / "result.json"))),
            without_times(json::parse(read_file(scratch.path() / "quiet" / "result.json"))));
  EXPECT_EQ(journal_of(run), journal_of(scratch.path() / "quiet"));
}

TEST(Resume, ARunAnswersOnlyTheQuestionItWasStartedWith) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const fs::path run = scratch.path() / "run";
  finish(launch, run, false);
  ChildSpec spec;
  spec.argv = command(launch, run, true);
  spec.argv.insert(spec.argv.end(), {"--objective", "l2"});
  const ChildResult other = run_child(spec);
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_NE(other.err.find("objective"), std::string::npos) << other.err;
  spec.argv = command(launch, run, false);
  EXPECT_EQ(run_child(spec).exit_status, 2);
}

TEST(Resume, TwoProcessesDoNotShareADirectory) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const fs::path run = scratch.path() / "run";
  fs::create_directory(run);
  const int held = ::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  for (const bool resume : {false, true}) {
    ChildSpec spec;
    spec.argv = command(launch, run, resume);
    const ChildResult second = run_child(spec);
    EXPECT_EQ(second.exit_status, 3);
    EXPECT_NE(second.err.find("another process works in this run directory"), std::string::npos)
        << second.err;
  }
  EXPECT_TRUE(fs::is_empty(run));
  ::close(held);
  finish(launch, run, false);
}

TEST(Resume, ARunThatNeverStartedLeavesNoDirectory) {
  const ScratchDirectory scratch;
  const fs::path damaged = scratch.path() / "damaged.trace";
  write_file(damaged, "swizzleperf trace\n");
  const fs::path mine = scratch.path() / "mine";  // was there before: it stays
  fs::create_directory(mine);
  for (const fs::path& run : {scratch.path() / "run", mine}) {
    ChildSpec spec;
    spec.argv = command(damaged, run, false);
    EXPECT_EQ(run_child(spec).exit_status, 3);
  }
  EXPECT_FALSE(fs::exists(scratch.path() / "run"));
  EXPECT_TRUE(fs::is_empty(mine));
}

TEST(Resume, ASignalLeavesNoScratchDirectory) {
  const ScratchDirectory scratch;
  const fs::path launch = write_launch(scratch.path());
  const fs::path temporary = scratch.path() / "tmp";
  fs::create_directory(temporary);
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const fs::path run = scratch.path() / signal;
    ChildSpec spec;
    spec.argv = command(launch, run, false);
    spec.argv.insert(spec.argv.begin(), {"timeout", "-s", signal, "0.3"});
    spec.environment["TMPDIR"] = temporary.string();
    run_child(spec);
    EXPECT_FALSE(fs::exists(run / "result.json")) << "ended before the signal: slow the launch";
    EXPECT_TRUE(fs::is_empty(temporary)) << signal;
  }
}

}  // namespace
}  // namespace swizzleperf
