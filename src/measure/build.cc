// A variant is the project's copy with a candidate's files over it, built by the user's own command
// or by the vendor's compiler. Each has a copy, so that builds neither wait for one another nor
// share an object that one of them should have made anew; the files laid over are newer than
// everything else there, which is what build systems look at.
#include "measure/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "base/parallel.h"
#include "base/subprocess.h"
#include "measure/project.h"
#include "measure/sandbox.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;

// --- Who compiles -------------------------------------------------------------------------------

/// PATH as it is, and behind it where vendors install their compilers without saying so.
std::string search_path() {
  const char* const path = std::getenv("PATH");
  std::string result = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (const char* place : {"/usr/local/cuda/bin", "/opt/rocm/bin"}) {
    std::error_code ignored;
    if (fs::is_directory(place, ignored)) result += std::string(":") + place;
  }
  return result;
}

std::string compiler(Language language) {
  const bool cuda = language == Language::kCuda;
  const std::string name = cuda ? "nvcc" : "hipcc";
  const std::string usual = std::string(cuda ? "/usr/local/cuda/bin/" : "/opt/rocm/bin/") + name;
  for (const std::string& candidate : {name, usual}) {
    if (const auto found = find_program(candidate)) return fs::absolute(*found).string();
  }
  throw input_error(
      fmt::format("{} is not on PATH, and the bundle's program is built with it: {}", name,
                  cuda ? "install the CUDA toolkit" : "install ROCm on a machine with an AMD GPU"));
}

bool says(const std::vector<std::string>& options, const std::vector<std::string>& beginnings) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const std::string& b) { return option.starts_with(b); });
  });
}

/// What the user's options say is not said twice: nvcc takes that for a mistake.
std::vector<std::string> compiler_call(const Project& p, const std::string& architecture) {
  const bool cuda = p.language == Language::kCuda;
  const std::string native = architecture.empty() ? "native" : architecture;
  std::vector<std::string> call = {compiler(p.language)};
  if (!says(p.compile_options, {"-O", "--optimize"})) call.emplace_back("-O3");
  if (!says(p.compile_options, {"-std", "--std"})) call.emplace_back("-std=c++20");
  if (cuda) {
    if (!says(p.compile_options, {"-arch", "--gpu-architecture", "-gencode", "--generate-code"})) {
      call.push_back("-arch=" + native);
    }
    call.insert(call.end(), {"-x", "cu"});
  } else {
    if (!says(p.compile_options, {"--offload-arch"})) call.push_back("--offload-arch=" + native);
    call.insert(call.end(), {"-x", "hip"});
  }
  call.insert(call.end(), p.compile_options.begin(), p.compile_options.end());
  call.insert(call.end(), {p.source.string(), "-o", p.program.string()});
  return call;
}

// --- What went wrong ----------------------------------------------------------------------------

std::string first_error(const std::string& text) {
  static const std::regex kError(R"((^|\W)(error|Error|ERROR|fatal|undefined|ld:)(\W|$))");
  std::istringstream lines(text);
  std::string line;
  std::string last;
  while (std::getline(lines, line)) {
    line.erase(
        std::find_if(line.rbegin(), line.rend(), [](char c) { return !std::isspace(c); }).base(),
        line.end());
    const bool warning = line.find("warning:") != std::string::npos;
    if (!warning && std::regex_search(line, kError)) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

std::string failure_of(const ChildSpec& spec, const ChildResult& result, const char* what) {
  if (result.ok()) return "";
  std::string text = fmt::format("{} {}", what, how_it_ended(spec, result));
  std::string why = first_error(result.err);
  if (why.empty()) why = first_error(result.out);
  return why.empty() ? text : text + ": " + why;
}

// --- Building -----------------------------------------------------------------------------------

/// The one place where a build or a test is run; confined where a language model wrote the text.
/// What went wrong, or "".
std::string run_step(const Bundle& bundle, const Variant& variant, std::vector<std::string> argv,
                     const char* what, double limit_s) {
  ChildSpec child;
  child.argv = std::move(argv);
  child.directory = variant.directory;
  child.environment["PATH"] = search_path();
  child.time_limit_s = limit_s;
  if (is_foreign(bundle, variant.number)) {
    Confinement walls;
    walls.writable = variant.directory;
    walls.time_limit_s = limit_s;
    child = confined(std::move(child), walls);
  }
  return failure_of(child, run_child(child), what);
}

/// The candidate's files over the copy, newer than all of it.
void lay_over(const Bundle& bundle, int number, const fs::path& copy) {
  if (number == 0) return;
  const Candidate& candidate = bundle.candidates.at(static_cast<std::size_t>(number) - 1);
  for (const fs::path& file : candidate.files) {
    make_directories((copy / file).parent_path());
    write_file(copy / file, read_file(candidate_folder(bundle.directory, number) / file));
  }
}

std::string build_in(const Bundle& bundle, const Variant& variant, const BuildSettings& settings) {
  const Project& project = bundle.project;
  const std::vector<std::string> call = project.build.empty()
                                            ? compiler_call(project, settings.architecture)
                                            : std::vector<std::string>{"sh", "-c", project.build};
  std::string failure = run_step(bundle, variant, call, "the build", settings.time_limit_s);
  if (failure.empty() && !fs::is_regular_file(variant.program)) {
    failure = fmt::format("the build made no {}", project.program.string());
  }
  return failure;
}

}  // namespace

Variant build_variant(const Bundle& bundle, int number, const fs::path& work_directory,
                      const BuildSettings& settings) {
  Variant variant;
  variant.number = number;
  variant.directory = fs::absolute(work_directory) / std::to_string(number);
  variant.program = variant.directory / bundle.project.program;
  std::error_code fault;
  fs::remove_all(variant.directory, fault);
  if (fault) {
    throw input_error(
        fmt::format("cannot empty {}: {}", variant.directory.string(), fault.message()));
  }
  copy_project(bundle.directory / kProjectFolder, variant.directory);
  lay_over(bundle, number, variant.directory);
  variant.failure = build_in(bundle, variant, settings);
  return variant;
}

std::vector<Variant> build_variants(const Bundle& bundle, const fs::path& work_directory,
                                    const BuildSettings& settings, unsigned jobs) {
  std::vector<Variant> variants(bundle.candidates.size() + 1);
  parallel_for(variants.size(), jobs, [&](std::uint64_t i, unsigned) {
    variants[i] = build_variant(bundle, static_cast<int>(i), work_directory, settings);
  });
  if (!variants[0].failure.empty()) return variants;
  const std::string original = read_file(variants[0].program);
  for (Variant& v : variants) {
    v.same_program = v.number != 0 && v.failure.empty() && read_file(v.program) == original;
  }
  return variants;
}

std::string test_variant(const Bundle& bundle, const Variant& variant,
                         const BuildSettings& settings) {
  if (bundle.project.test.empty()) return "";
  return run_step(bundle, variant, {"sh", "-c", bundle.project.test}, "the test",
                  settings.test_limit_s);
}

}  // namespace swizzleperf::measure
