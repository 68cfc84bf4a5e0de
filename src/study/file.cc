// See file.h.
#include "study/file.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/toml_section.h"
#include "base/words.h"
#include "swizzleperf/machine.h"

namespace swizzleperf::study {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kAttempts = 10;
constexpr std::uint64_t kMostAttempts = 10'000;
constexpr std::uint64_t kMostTrials = 10'000;

std::vector<std::string> at_least_one(const Section& s, std::string_view key) {
  std::vector<std::string> texts = s.texts(key);
  if (texts.empty()) throw s.error(s.line(key), fmt::format("'{}' must name at least one", key));
  return texts;
}

/// As the options of optimize take it. Nothing where it is not given.
std::optional<std::uint64_t> count_up_to(const Section& s, std::string_view key,
                                         std::uint64_t most) {
  if (!s.has(key)) return std::nullopt;
  const std::uint64_t value = s.count(key);
  if (value > most) throw s.error(s.line(key), fmt::format("'{}' is at most {}", key, most));
  return value;
}

std::optional<double> number_between(const Section& s, std::string_view key, double least,
                                     double most) {
  const std::optional<double> value = s.maybe_number(key);
  if (value && !(*value >= least && *value <= most)) {  // nan is neither
    throw s.error(s.line(key), fmt::format("'{}' is from {:g} to {:g}", key, least, most));
  }
  return value;
}

std::optional<double> seconds(const Section& s, std::string_view key) {
  return number_between(s, key, 0.001, 1e9);
}

fs::path existing(const Section& s, const fs::path& directory, std::string_view key) {
  fs::path file = (directory / s.text(key)).lexically_normal();
  if (!fs::is_regular_file(file)) {
    throw s.error(s.line(key), fmt::format("{}: no such file", file.string()));
  }
  return file;
}

// --- Kernels ------------------------------------------------------------------------------------

Program read_program(const Section& s, const fs::path& directory) {
  s.allow({"name", "program", "sizes", "compile_options", "kernel", "launch"});
  Program p;
  p.program = existing(s, directory, "program");
  p.name = s.text("name", p.program.stem().string());
  p.sizes = s.texts("sizes");
  if (p.sizes.empty()) p.sizes = {""};
  p.compile_options = s.texts("compile_options");
  p.kernel = s.text("kernel", "");
  if (const auto launch = number_between(s, "launch", 0, 1 << 30)) {
    p.launch = static_cast<std::int64_t>(*launch);
  }
  return p;
}

/// The HIP sources of a suite (kernels/suite.json), each at its "study" sizes.
std::vector<Program> read_suite(const fs::path& file, const json& suite) {
  std::vector<Program> programs;
  for (const auto& [name, entry] : suite.items()) {
    if (!entry.contains("study")) continue;
    Program p;
    p.name = name;
    p.program = file.parent_path() / name / (name + ".hip");
    p.sizes = entry["study"].get<std::vector<std::string>>();
    p.launch = entry.value("study_launch", std::int64_t{-1});
    programs.push_back(std::move(p));
  }
  return programs;
}

void add_suite(const Section& s, StudyFile& study) {
  const fs::path file = existing(s, study.file.parent_path(), "suite");
  const std::string text = read_file(file);
  study.text += text;
  try {
    study.programs = read_suite(file, json::parse(text));
  } catch (const json::exception&) {
    throw s.error(s.line("suite"),
                  fmt::format("{}: not a suite: an object of {{\"study\": [sizes]}} by kernel",
                              file.string()));
  }
}

// --- Proposers ----------------------------------------------------------------------------------

/// Words that are files beside the study's become paths that hold wherever the study is run.
std::vector<std::string> argv_of(const std::string& command, const fs::path& directory) {
  std::vector<std::string> argv = split_words(command);
  for (std::string& word : argv) {
    const bool path = word.find('/') != std::string::npos || &word != argv.data();
    if (path && fs::is_regular_file(directory / word)) {
      word = fs::absolute(directory / word).lexically_normal().string();
    }
  }
  return argv;
}

Asked read_proposer(const Section& s, const StudyFile& study, std::uint64_t attempts) {
  s.allow({"name", "ask", "command", "command_time_limit_s", "attempts", "samples", "provider",
           "models", "base", "temperature", "max_output_tokens", "record", "replay", "max_calls",
           "max_tokens", "max_seconds", "edit"});
  const fs::path directory = study.file.parent_path();
  Asked asked;
  ProposerSettings& p = asked.settings;
  p.names = at_least_one(s, "ask");
  if (std::find(p.names.begin(), p.names.end(), "manual") != p.names.end()) {
    throw s.error(s.line("ask"),
                  "a study waits for nobody: the proposer manual is asked by optimize");
  }
  asked.name = s.text("name", fmt::format("{}", fmt::join(p.names, "+")));
  p.attempts = count_up_to(s, "attempts", kMostAttempts).value_or(attempts);
  p.samples = count_up_to(s, "samples", 1000).value_or(1);
  const std::string edit = s.text("edit", "formula");
  if (edit != "formula" && edit != "kernel") {
    throw s.error(s.line("edit"), fmt::format("'edit' is formula or kernel, not '{}'", edit));
  }
  p.edit = edit == "kernel" ? Edit::kKernel : Edit::kFormula;
  p.command.argv = argv_of(s.text("command", ""), directory);
  if (const auto limit = seconds(s, "command_time_limit_s")) p.command.time_limit_s = *limit;
  if (s.has("max_calls")) p.limits.calls = s.count("max_calls");
  if (s.has("max_tokens")) p.limits.tokens = s.count("max_tokens");
  p.limits.seconds = seconds(s, "max_seconds");
  asked.models = s.texts("models");
  llm::EndpointOptions& e = p.endpoint;
  e.provider = s.text("provider", "");
  e.base = s.text("base", "");
  e.temperature = number_between(s, "temperature", 0, 1000);
  if (const auto most = count_up_to(s, "max_output_tokens", 10'000'000)) {
    e.max_output_tokens = static_cast<std::uint32_t>(*most);
  }
  for (const auto& [key, option] : {std::pair{"record", &e.record}, {"replay", &e.replay}}) {
    if (s.has(key)) *option = fs::absolute(directory / s.text(key)).lexically_normal().string();
  }
  if (!asked.models.empty()) e.model = asked.models.front();
  try {
    check_proposers(p);
  } catch (const Error& error) {
    throw s.error(s.line("ask"), error.what());
  }
  return asked;
}

// --- The whole ----------------------------------------------------------------------------------

ContextKind context_of(const Section& s, const std::string& name) {
  for (const ContextKind kind :
       {ContextKind::kUnaware, ContextKind::kAware, ContextKind::kOverload}) {
    if (context_name(kind) == name) return kind;
  }
  throw s.error(s.line("contexts"),
                fmt::format("'{}' is no context: unaware, aware or overload", name));
}

Objective objective_of(const Section& s) {
  const std::string name = s.text("objective", "time");
  for (const Objective o : {Objective::kTime, Objective::kL2, Objective::kHbm}) {
    if (objective_name(o) == name) return o;
  }
  throw s.error(s.line("objective"), fmt::format("'{}' is no objective: time, l2 or hbm", name));
}

/// Names make directories and rows: they must differ.
void refuse_doubles(const StudyFile& study, const Section& top) {
  std::set<std::string> seen;
  for (const Program& p : study.programs) {
    if (!seen.insert("program " + p.name).second) {
      throw top.error(fmt::format("two programs are called '{}'; name one", p.name));
    }
  }
  for (const Asked& a : study.proposers) {
    if (!seen.insert("proposer " + a.name).second) {
      throw top.error(fmt::format("two proposers are called '{}'; name one", a.name));
    }
  }
}

StudyFile read(const fs::path& file, const toml::table& table) {
  const Section top(file, table);
  top.allow({"suite", "programs", "machines", "contexts", "proposers", "trials", "attempts", "seed",
             "objective"});
  StudyFile study;
  study.file = file;
  study.text = read_file(file);
  study.objective = objective_of(top);
  study.trials = count_up_to(top, "trials", kMostTrials).value_or(1);
  if (top.has("seed")) study.seed = top.count("seed");
  study.machines = at_least_one(top, "machines");
  for (std::string& name : study.machines) {
    if (name.ends_with(".toml")) name = fs::absolute(file.parent_path() / name).string();
    load_machine(name);
  }
  for (const std::string& name : at_least_one(top, "contexts")) {
    study.contexts.push_back(context_of(top, name));
  }
  if (top.has("suite")) add_suite(top, study);
  if (top.has("programs")) {
    for (const Section& s : top.sections("programs")) {
      study.programs.push_back(read_program(s, file.parent_path()));
    }
  }
  if (study.programs.empty()) {
    throw top.error("no kernel to study; give [[programs]], or a suite with \"study\" sizes");
  }
  const std::uint64_t attempts = count_up_to(top, "attempts", kMostAttempts).value_or(kAttempts);
  for (const Section& s : top.sections("proposers")) {
    study.proposers.push_back(read_proposer(s, study, attempts));
  }
  if (study.proposers.empty()) throw top.error("nobody to ask; give [[proposers]]");
  refuse_doubles(study, top);
  return study;
}

}  // namespace

StudyFile read_study(const fs::path& file) {
  if (!fs::is_regular_file(file)) throw input_error(file.string() + ": no such study file");
  try {
    return read(fs::absolute(file).lexically_normal(), toml::parse_file(file.string()));
  } catch (const toml::parse_error& error) {
    throw input_error(
        fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
  }
}

fs::path default_study() {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  for (const char* place : {"kernels/study.toml", "share/swizzleperf/kernels/study.toml"}) {
    if (fs::is_regular_file(prefix / place)) return prefix / place;
  }
  throw input_error(fmt::format(
      "no study found in {0}/kernels or {0}/share/swizzleperf/kernels; give a study file",
      prefix.string()));
}

}  // namespace swizzleperf::study
