// Studies that are run: what they leave says what optimize found, whatever happened on the way.
#include "study/study.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "cli/command.h"
#include "study/report.h"
#include "support/synthetic.h"
#include "swizzleperf/verify.h"

namespace swizzleperf::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

/// A trace, so that nothing is compiled, and an expert that needs none.
void write_study(const fs::path& folder, const std::string& contexts, int trials,
                 const std::string& more = "") {
  Trace gemm = synthetic::build(synthetic::Gemm{640, 512, 64});
  gemm.vgprs = 64;
  write_trace(gemm, folder / "gemm.trace");
  write_file(folder / "study.toml", fmt::format(R"(machines = ["mi300x"]
contexts = {}
trials = {}
attempts = 2
[[programs]]
program = "gemm.trace"
{}
[[proposers]]
ask = ["search"]
[[proposers]]
name = "expert"
ask = ["command"]
command = "python3 {}/expert.py"
)",
                                                contexts, trials, more, SWIZZLEPERF_KERNELS));
}

std::vector<std::vector<std::string>> table(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

/// All but what a clock says.
std::vector<std::vector<std::string>> timeless(const fs::path& file) {
  std::vector<std::vector<std::string>> rows = table(read_file(file));
  for (std::size_t c = rows[0].size(); c-- > 0;) {
    if (rows[0][c].find("seconds") == std::string::npos) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return rows;
}

void expect_same_tables(const fs::path& a, const fs::path& b) {
  for (const char* name : {"attempts.csv", "table.csv", "contradictions.csv"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(timeless(a / name), timeless(b / name));
  }
  EXPECT_EQ(read_file(a / "hits_time.svg"), read_file(b / "hits_time.svg"));
}

std::size_t finished(const fs::path& directory) {
  std::size_t n = 0;
  std::error_code ignored;
  for (const auto& run : fs::directory_iterator(directory / "runs", ignored)) {
    n += fs::exists(run.path() / "result.json") ? 1 : 0;
  }
  return n;
}

constexpr const char* kContexts = "[\"unaware\", \"aware\"]";
constexpr int kTrials = 2;
constexpr std::size_t kRuns = (1 + 2) * kTrials;

TEST(Study, SaysWhatItsRunsSay) {
  const Command run;
  const fs::path folder = run.directory.path();
  write_study(folder, kContexts, kTrials);
  const json document = run.json({"study", "study.toml", "--run-dir", "out"});
  EXPECT_EQ(document["configurations"].size(), kRuns / kTrials);
  EXPECT_EQ(finished(folder / "out"), kRuns);
  const auto rows = table(read_file(folder / "out/attempts.csv"));
  std::map<std::string, std::size_t> column;
  for (std::size_t c = 0; c < rows[0].size(); ++c) column[rows[0][c]] = c;
  std::size_t attempts = 0;
  std::size_t best = 0;
  std::set<std::string> formulas;
  for (const auto& one : fs::directory_iterator(folder / "out/runs")) {
    const json result = json::parse(read_file(one.path() / "result.json"));
    attempts += result["attempts"].size();
    best += result["best"].is_object();
    for (const json& a : result["attempts"]) formulas.insert(a["formula"]);
  }
  EXPECT_EQ(rows.size(), attempts + 1);
  std::size_t marked = 0;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const auto& row = rows[r];
    ASSERT_EQ(row.size(), rows[0].size());
    EXPECT_TRUE(formulas.contains(row[column["formula"]])) << row[column["formula"]];
    EXPECT_EQ(row[column["context"]].empty(), row[column["proposer"]] == "search");
    EXPECT_EQ(row[column["tokens"]], "");  // nobody counted any
    EXPECT_EQ(row[column["built"]], "");   // a trace has no source
    if (row[column["outcome"]] == "measured") {
      EXPECT_EQ(row[column["parsed"]], "true");
      EXPECT_EQ(row[column["bijective"]], "true");
      EXPECT_EQ(row[column["identity"]], "false");
      EXPECT_GT(std::stod(row[column["time_ratio"]]), 0);
    }
    marked += row[column["best"]] == "true";
  }
  EXPECT_EQ(marked, best);
  for (const char* file : {"table.md", "table.csv", "contradictions.csv", "best.svg"}) {
    EXPECT_TRUE(fs::exists(folder / "out" / file));
  }
  // Finished runs are read, not run again.
  const fs::path some = fs::directory_iterator(folder / "out/runs")->path() / "journal.jsonl";
  const auto before = fs::last_write_time(some);
  fs::copy(folder / "out", folder / "copy", fs::copy_options::recursive);
  EXPECT_EQ(run({"study", "study.toml", "--resume", "out"}).exit_status, 0);
  EXPECT_EQ(fs::last_write_time(some), before);
  expect_same_tables(folder / "out", folder / "copy");
  EXPECT_EQ(read_file(folder / "out/table.md"), read_file(folder / "copy/table.md"));
}

TEST(Study, KilledAndResumedItHasTheSameTables) {
  const Command run;
  const fs::path folder = run.directory.path();
  write_study(folder, kContexts, kTrials);
  ASSERT_EQ(run({"study", "study.toml", "--run-dir", "whole", "-q"}).exit_status, 0);
  std::vector<std::string> words = {run.program.string(), "study", "study.toml",
                                    "--run-dir",          "torn",  "-q"};
  for (const std::size_t kill_at : {0U, 2U, 4U}) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      if (::chdir(folder.c_str()) == 0) ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    const auto begun = [&] {
      std::error_code ignored;
      return fs::exists(folder / "torn/runs") && !fs::is_empty(folder / "torn/runs", ignored);
    };
    int status = 0;
    while (!begun() || finished(folder / "torn") < kill_at) {
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "ended before it was killed";
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    EXPECT_LT(finished(folder / "torn"), kRuns);
    words[3] = "--resume";
  }
  ASSERT_EQ(run({"study", "study.toml", "--resume", "torn", "-q"}).exit_status, 0);
  expect_same_tables(folder / "whole", folder / "torn");
}

TEST(Study, AProgramThatDoesNotBuildIsARowAndTheOthersGoOn) {
  const Command run;
  const fs::path folder = run.directory.path();
  write_file(folder / "broken.hip", "int main() { return no_such_name; }\n");
  write_study(folder, "[\"aware\"]", 1, "[[programs]]\nprogram = \"broken.hip\"\n");
  const ChildResult result = run({"study", "study.toml", "--run-dir", "out", "-q"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("failed: "));
  EXPECT_THAT(result.out, HasSubstr("no_such_name"));
  const std::string attempts = read_file(folder / "out/attempts.csv");
  EXPECT_THAT(attempts, HasSubstr("broken,,mi300x,aware,expert,,1,,,,,,,,,,,,,,false,failed,"));
  EXPECT_EQ(finished(folder / "out"), 2U);
}

TEST(Study, RefusesAnotherStudysDirectory) {
  const Command run;
  const fs::path folder = run.directory.path();
  write_study(folder, kContexts, kTrials);
  StudyRequest request{read_study(folder / "study.toml"), folder / "out", false, 1, true};
  request.study.programs.clear();  // nothing is run
  EXPECT_TRUE(run_study(request).empty());
  EXPECT_THROW((void)run_study(request), Error);  // it holds a study already
  request.resume = true;
  EXPECT_TRUE(run_study(request).empty());
  request.study.text += "# changed";
  EXPECT_THROW((void)run_study(request), Error);
}

/// What only the falsifier uses is not accepted and then ignored.
TEST(Study, RefusesWhatItsFileSays) {
  const Command run;
  const std::vector<std::vector<std::string>> wrong = {
      {"study", "--machine", "h200"},
      {"study", "x.toml", "--seed", "2"},
      {"study", "x.toml", "--", "512"},
      {"study", "x.toml", "--run-dir", "a", "--resume", "b"},
      {"study", "falsifier", "x.trace", "--resume", "b"}};
  for (const std::vector<std::string>& arguments : wrong) {
    SCOPED_TRACE(arguments.back());
    const ChildResult result = run(arguments);
    EXPECT_EQ(result.exit_status, 2) << result.err;
  }
  EXPECT_EQ(run({"study", "missing.toml"}).exit_status, 3);
}

/// One of the suite, with its source: the best order is built and compared.
TEST(Study, BuildsTheBestOrderOfARun) {
  const Command run;
  write_file(run.directory.path() / "study.toml", fmt::format(R"(machines = ["mi300x"]
contexts = ["aware"]
attempts = 1
[[programs]]
program = "{0}/transpose/transpose.hip"
sizes = ["512 256"]
[[proposers]]
ask = ["command"]
command = "python3 {0}/expert.py"
)",
                                                              SWIZZLEPERF_KERNELS));
  const json document = run.json({"study", "study.toml", "--run-dir", "out"});
  ASSERT_EQ(document["configurations"].size(), 1U);
  const json& one = document["configurations"][0];
  EXPECT_EQ(one["built"]["mean"], 1);
  EXPECT_EQ(one["equal_outputs"]["mean"], 1);
  EXPECT_EQ(one["time_ratio"]["deviation"], nullptr);
  EXPECT_EQ(one["tokens"], nullptr);
  EXPECT_GT(one["seconds_to_best"]["mean"], 0);
}

/// Everything that kernels/expert.py can say is a bijection wherever it is used.
TEST(Study, TheExpertIsNeverWrong) {
  const ScratchDirectory scratch;
  for (const auto& [grid, dies] : {std::pair{Dim3{7, 5, 2}, 8}, std::pair{Dim3{300, 1, 1}, 8},
                                   std::pair{Dim3{64, 48, 1}, 0}}) {
    json request = {{"grid", {grid.x, grid.y, grid.z}},
                    {"machine", dies > 0 ? json{{"dies", dies}} : json()},
                    {"history", json::array()}};
    for (int attempt = 1; attempt <= 4; ++attempt) {
      ChildSpec spec;
      spec.argv = {"python3", std::string(SWIZZLEPERF_KERNELS) + "/expert.py"};
      spec.input = request.dump();
      const ChildResult result = run_child(spec);
      ASSERT_EQ(result.exit_status, 0) << result.err;
      const std::string formula = json::parse(result.out)["formula"];
      SCOPED_TRACE(formula);
      if (dies == 0) EXPECT_THAT(formula, testing::Not(HasSubstr("xcds")));
      const Formula parsed = Formula::parse(formula);
      EXPECT_TRUE(verify_grid(parsed, {grid, 8, 38}).bijective);
      EXPECT_EQ(verify_range(parsed, default_verify_range(), 2).failed, 0U);
      request["history"].push_back(
          {{"attempt", attempt}, {"formula", formula}, {"report", "slower"}});
    }
  }
}

}  // namespace
}  // namespace swizzleperf::study
