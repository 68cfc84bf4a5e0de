// The frame: help, errors in one sentence, exit codes, where settings come from, where results go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "command.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// One line that begins with our name, nothing on stdout, and the exit code.
void expect_sentence(const ChildResult& result, int exit, const std::string& part) {
  EXPECT_EQ(result.exit_status, exit) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, AllOf(StartsWith("swizzleperf: "), HasSubstr(part)));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

TEST(Cli, HelpAndVersion) {
  const Command run;
  const ChildResult help = run({"--help"});
  EXPECT_EQ(help.exit_status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("verify"), HasSubstr("machines"), HasSubstr("doctor"),
                              HasSubstr("Exit codes")));
  EXPECT_THAT(run({"--version"}).out, testing::MatchesRegex("swizzleperf [0-9.]+\n"));
  for (const char* verb : {"verify", "machines", "doctor"}) {
    const ChildResult result = run({verb, "--help"});
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("Usage: swizzleperf ") + verb));
    EXPECT_THAT(result.out, HasSubstr("--format"));
    EXPECT_LE(longest_line(result.out), 100U);
  }
}

TEST(Cli, WrongUsageIsOneSentence) {
  const Command run;
  expect_sentence(run({}), 2, "no verb given");
  expect_sentence(run({"verfy"}), 2, "there is no verb 'verfy'; did you mean 'verify'?");
  expect_sentence(run({"banana"}), 2, "there is no verb 'banana' (");
  expect_sentence(run({"machines", "--formt", "json"}), 2, "did you mean '--format'?");
  expect_sentence(run({"machines", "h200", "a100"}), 2, "'a100' is one argument too many");
  expect_sentence(run({"machines", "--format", "xml"}), 2, "--format");
  expect_sentence(run({"machines", "h200", "--detect"}), 2, "--detect");
  expect_sentence(run({"machines", "h20"}), 2, "unknown machine 'h20'; did you mean 'h200'?");
  expect_sentence(run({"doctor", "--machine", "h200"}), 2, "doctor has no option --machine");
}

TEST(Cli, WrongInputIsOneSentence) {
  const Command run;
  expect_sentence(run({"machines", "./absent.toml"}), 3, "cannot read ./absent.toml");
  write_file(run.directory.path() / "bad.toml", "base = \"mi300x\"\ndiez = 3\n");
  expect_sentence(run({"machines", "bad.toml"}), 3, "bad.toml:2: unknown key 'diez'");
}

TEST(Cli, WrongProgramsAreNamedForWhatTheyAre) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  expect_sentence(run({"trace", "absent.hip"}), 3, "absent.hip: no such file");
  expect_sentence(run({"trace", "."}), 3, ".: is a directory");
  expect_sentence(run({"trace", "/dev/null"}), 3, "/dev/null: is no regular file");
  expect_sentence(run({"trace", ""}), 2, "name is empty");
  for (const char* seconds : {"nan", "-1", "0", "inf"})
    expect_sentence(run({"trace", "k.hip", "--time-limit", seconds}), 2, "--time-limit");
  for (const char* megabytes : {"0", "-1", "18446744073709551615", "17592186044416"})
    expect_sentence(run({"trace", "k.hip", "--memory-limit", megabytes}), 2, "--memory-limit");
  expect_sentence(run({"trace", "k.hip", "--step-limit", "-1"}), 2, "--step-limit");
}

TEST(Cli, BudgetsAndTimesAreNumbersThatCanBeKept) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  const auto refuse = [&](const char* option, const char* value) {
    const ChildResult result = run({"optimize", "k.hip", option, value});
    expect_sentence(result, 2, option);
    EXPECT_LE(result.err.size(), 150U) << result.err;
  };
  for (const char* option : {"--max-time", "--command-timeout", "--llm-timeout"})
    for (const char* seconds : {"nan", "inf", "-1", "0", "1e300", "soon"}) refuse(option, seconds);
  for (const char* degree : {"nan", "inf", "-1"}) refuse("--llm-temperature", degree);
  for (const char* option : {"--max-calls", "--max-tokens"})
    for (const char* count : {"-1", "0", "1.5"}) refuse(option, count);
}

TEST(Cli, WordsToChooseFromAreNamed) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  for (const char* verb : {"optimize", "context"}) {
    EXPECT_THAT(run({verb, "--help"}).out, testing::Not(HasSubstr("ENUM")));
    for (const char* word : {"banana", "1"})
      expect_sentence(run({verb, "k.hip", "--context", word}), 2, "aware");
    expect_sentence(run({verb, "k.hip", "--objective", "banana"}), 2, "hbm");
  }
  expect_sentence(run({"optimize", "k.hip", "--edit", "1"}), 2, "kernel");
}

TEST(Cli, BytesThatNoResultCouldHoldAreRefusedAtOnce) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  write_file(run.directory.path() / "k\xff.hip", "int main() {}");
  expect_sentence(run({"optimize", "k.hip", "--", "\xff"}), 2, "argument 4 is not UTF-8");
  expect_sentence(run({"optimize", "k\xff.hip"}), 2, "argument 2 is not UTF-8");
  expect_sentence(run({"k\xc3"}), 2, "argument 1 is not UTF-8");
}

TEST(Cli, CompileOptionsWithAndWithoutEquals) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  for (const std::vector<std::string>& option :
       {std::vector<std::string>{"-X=-std=c++1"}, {"-X", "-std=c++1"}, {"-X-std=c++1"}}) {
    std::vector<std::string> words = {"trace", "k.hip"};
    words.insert(words.end(), option.begin(), option.end());
    expect_sentence(run(words), 3, "invalid value 'c++1'");
  }
}

TEST(Cli, CompileOptionsThatCompileNothing) {
  const Command run;
  write_file(run.directory.path() / "k.hip", "int main() {}");
  for (const char* option : {"--version", "-E", "-fsyntax-only", "-S", "-o", "-ok", "-###"})
    expect_sentence(run({"trace", "k.hip", "-X", option}), 2,
                    std::string("-X ") + option + ": the");
}

TEST(Cli, AFileThatIsCalledATraceAndIsNone) {
  const Command run;
  write_file(run.directory.path() / "garbage.trace", "\x01\xff not a trace");
  write_file(run.directory.path() / "empty.trace", "");
  for (const char* file : {"garbage.trace", "empty.trace"}) {
    expect_sentence(run({"trace", file}), 3, "not a swizzleperf trace");
    expect_sentence(run({"simulate", file}), 3, "not a swizzleperf trace");
    expect_sentence(run({"check", file}), 3, "a trace does not hold what blocks write");
  }
}

TEST(Cli, ACrashOfTheCompilerIsOneSentence) {
  const Command run;
  write_file(
      run.directory.path() / "k.hip",
      "#include <hip/hip_runtime.h>\n__global__ void k() {\n#pragma clang __debug crash\n}\n");
  expect_sentence(run({"trace", "k.hip"}), 3, "the compiler itself crashed (");
}

TEST(Cli, RunsAProgramToItsEnd) {
  const Command run;
  write_file(run.directory.path() / "twice.hip", R"(
    #include <hip/hip_runtime.h>
    #include <cstdio>
    #include <cstdlib>
    __global__ void twice(int* x) { x[threadIdx.x] *= 2; }
    int main(int, char** argv) {
      int x[64] = {};
      x[7] = 21;
      int* device = nullptr;
      (void)hipMalloc(&device, sizeof x);
      (void)hipMemcpy(device, x, sizeof x, hipMemcpyHostToDevice);
      twice<<<1, 64>>>(device);
      (void)hipMemcpy(x, device, sizeof x, hipMemcpyDeviceToHost);
      std::printf("computed %d", x[7]);
      std::fprintf(stderr, "and complained");
      return x[7] == std::atoi(argv[1]) ? 0 : 5;
    })");
  const ChildResult right = run({"trace", "--run-to-end", "twice.hip", "--", "42"});
  EXPECT_EQ(right.exit_status, 0) << right.err;
  EXPECT_THAT(right.out, AllOf(HasSubstr("computed 42"), HasSubstr("and complained"),
                               HasSubstr("Exit status 0")));
  const ChildResult wrong =
      run({"trace", "--run-to-end", "--format", "json", "twice.hip", "--", "41"});
  EXPECT_EQ(wrong.exit_status, 1);
  const nlohmann::json document = nlohmann::json::parse(wrong.out);
  EXPECT_EQ(document.at("exit_status"), 5);
  EXPECT_EQ(document.at("stdout"), "computed 42");
  EXPECT_EQ(document.at("stderr"), "and complained");
}

TEST(Cli, ClosedStandardStreamsAreAnError) {
  const Command run;
  const auto shell = [&](const std::string& streams) {
    ChildSpec spec;
    spec.argv = {"sh", "-c", "\"$0\" machines " + streams, run.program.string()};
    spec.directory = run.directory.path();
    return run_child(spec);
  };
  EXPECT_EQ(shell("<&- >&- 2>&-").exit_status, 3);
  expect_sentence(shell(">&-"), 3, "cannot write to standard output");
  expect_sentence(shell(">/dev/full"), 3, "cannot write to standard output");
  // A reader that has seen enough ends us without a word.
  EXPECT_EQ(shell("| true").err, "");
}

TEST(Cli, ResultsGoWhereTheyAreSent) {
  const Command run;
  const fs::path file = run.directory.path() / "out.json";
  write_file(file, "old");
  const ChildResult result = run({"machines", "--format", "json", "-o", "out.json"});
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(nlohmann::json::parse(read_file(file))["schema_version"], 1);
  write_file(file, "old");
  expect_sentence(run({"machines", "-o", "out.json/below"}), 3, "Not a directory");
  expect_sentence(run({"machines", "-o", "/dev/full"}), 3, "No space left");
  expect_sentence(run({"machines", "nothing", "-o", "out.json"}), 2, "unknown machine");
  EXPECT_EQ(read_file(file), "old");
}

TEST(Cli, MachinesListsAndExplains) {
  const Command run;
  EXPECT_GE(run.json({"machines"})["machines"].size(), 24U);
  for (const auto& machine : run.json({"machines"})["machines"]) {
    const std::string name = machine["name"];
    const ChildResult text = run({"machines", name});
    EXPECT_EQ(text.exit_status, 0);
    EXPECT_LE(longest_line(text.out), 80U) << name;
    EXPECT_THAT(text.out, HasSubstr("Calibrated: nobody publishes these"));
  }
  const auto numbers = run.json({"machines", "mi300x"})["machine"]["numbers"];
  EXPECT_EQ(numbers.size(), 63U);
  for (const auto& number : numbers) EXPECT_NE(number["source"], "");
  EXPECT_TRUE(run.json({"machines"})["machines"][0]["llc_bytes"].is_null()) << "a100 has none";
}

TEST(Cli, DoctorSaysWhatIsMissing) {
  Command run;
  EXPECT_EQ(run({"doctor"}).exit_status, 0);
  run.environment["PATH"] = run.directory.path();
  const ChildResult result = run({"doctor"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr("missing: apt-get"), HasSubstr("Not ready")));
  const auto json = run.json({"doctor"});
  EXPECT_EQ(json["ready"], false);
  EXPECT_TRUE(json["findings"][0]["found"].is_null());
  EXPECT_EQ(json["findings"][0]["remedy"], "apt-get install clang-22");
}

TEST(Cli, DoctorTellsWhatMeasuringNeeds) {
  Command run;
  run.environment["PATH"] =
      SWIZZLEPERF_SOURCE "/tests/measure/data/bin:" + std::string(std::getenv("PATH"));
  const nlohmann::json report = run.json({"doctor"});
  std::map<std::string, nlohmann::json> findings;
  for (const nlohmann::json& f : report["findings"]) findings[f["what"]] = f;
  EXPECT_EQ(findings["rocprofv3"]["found"], "version: 1.0.0");
  EXPECT_EQ(findings["ncu"]["found"], "Version 2025.3.1.0 (build 1) (public-release)");
  for (const char* what : {"NVIDIA's counters", "AMD's counters", "NVML", "the probe for CUDA",
                           "the probe for HIP", "the sandbox", "hipcc"}) {
    ASSERT_TRUE(findings.contains(what)) << what;
    EXPECT_NE(findings[what]["found"].is_null(), findings[what]["remedy"].is_null()) << what;
    EXPECT_EQ(findings[what]["needed"], false);
  }
}

TEST(Cli, DoctorSaysWhichLanguageModelAndWhetherThereIsAKey) {
  Command run;
  const auto finding = [&run] {
    const nlohmann::json report = run.json({"doctor"});
    for (const nlohmann::json& f : report["findings"])
      if (f["what"] == "a language model") return f;
    return nlohmann::json();
  };
  run.environment = {{"SWIZZLEPERF_LLM_API_BASE", "http://127.0.0.1:8000"},
                     {"SWIZZLEPERF_LLM_API_KEY", "sk-do-not-show"}};
  EXPECT_TRUE(finding()["found"].is_null());
  EXPECT_THAT(finding()["remedy"].get<std::string>(), HasSubstr("no language model is named"));
  run.environment["SWIZZLEPERF_LLM_MODEL"] = "m";
  EXPECT_EQ(finding()["found"],
            "openai at http://127.0.0.1:8000/v1/chat/completions, model m, key from "
            "SWIZZLEPERF_LLM_API_KEY");
  const ChildResult result = run({"doctor", "-vv"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ((result.out + result.err).find("sk-do-not-show"), std::string::npos);
}

// --- Settings -----------------------------------------------------------------------------------

/// The die count that a run used: that of its machine. mi300x 8, mi300a 6, mi300x-dpx 4, h200 2.
int dies_used(const Command& run, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"verify", "pid = 0;", "--grid", "4"});
  return run.json(arguments)["counterexample"]["xcds"];
}

TEST(Settings, CommandLineThenEnvironmentThenFileThenDefault) {
  Command run;
  EXPECT_EQ(dies_used(run), 8);
  write_file(run.directory.path() / "swizzleperf.toml", "machine = \"mi300a\"\n");
  EXPECT_EQ(dies_used(run), 6);
  run.environment["SWIZZLEPERF_MACHINE"] = "h200";
  EXPECT_EQ(dies_used(run), 2);
  EXPECT_EQ(dies_used(run, {"--machine", "mi300x-dpx"}), 4);
}

TEST(Settings, AFileMayBeNamedAndHasATableForEachVerb) {
  Command run;
  write_file(run.directory.path() / "swizzleperf.toml", "machine = \"mi300a\"\n");
  write_file(run.directory.path() / "mine.toml",
             "machine = \"h200\"\nquiet = true\n[verify]\nxcds = 3\n[machines]\ndetect = false\n");
  EXPECT_EQ(dies_used(run, {"--config", "mine.toml"}), 3);
  EXPECT_EQ(dies_used(run, {"--config", "mine.toml", "--xcds", "5"}), 5);
  run.environment["SWIZZLEPERF_CONFIG"] = "mine.toml";
  EXPECT_EQ(dies_used(run), 3);
}

TEST(Settings, ListsAndFlags) {
  const Command run;
  write_file(run.directory.path() / "swizzleperf.toml",
             "format = \"json\"\n[verify]\nparam = [\"a=1\", \"b=2\"]\n");
  const ChildResult result = run({"verify", "pid = pid + a * 2 - b;"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["identity"], true);
}

TEST(Settings, WhatAFileMayNotSay) {
  const Command run;
  const auto sentence = [&](const std::string& text, int exit, const std::string& part) {
    write_file(run.directory.path() / "swizzleperf.toml", text);
    expect_sentence(run({"machines"}), exit, part);
  };
  sentence("machin = \"h200\"\n", 3,
           "swizzleperf.toml:1: unknown key 'machin'; did you mean 'machine'");
  sentence("\n[verify]\ngird = \"4\"\n", 3,
           "swizzleperf.toml:3: unknown key 'verify.gird'; did you mean 'grid'?");
  sentence("verify = 3\n", 3, "'verify' must be a table");
  sentence("machine = \n", 3, "swizzleperf.toml:1: not valid TOML");
  sentence("format = \"xml\"\n", 2, "swizzleperf.toml:1: --format");
  sentence("format = {}\n", 3, "expected a text");
  expect_sentence(run({"machines", "--config", "absent.toml"}), 3, "cannot read absent.toml");
}

// --- Where models are found ---------------------------------------------------------------------

TEST(Cli, RunsWhereverItIsInstalled) {
  Command run;
  const fs::path prefix = run.directory.path() / "some where";
  fs::create_directories(prefix / "bin");
  fs::copy(run.program, prefix / "bin/swizzleperf");
  const fs::path models = build_directory().parent_path() / "machines";
  run.program = prefix / "bin/swizzleperf";
  expect_sentence(run({"machines"}), 3, "no machine models found");
  fs::create_directories(prefix / "share/swizzleperf");
  fs::copy(models, prefix / "share/swizzleperf/machines");
  EXPECT_EQ(run({"machines"}).exit_status, 0);
  run.environment["SWIZZLEPERF_MACHINES"] = "/no/such";
  expect_sentence(run({"machines"}), 3, "which SWIZZLEPERF_MACHINES names");
}

}  // namespace
}  // namespace swizzleperf
