// Asking a built program: write a request, start the program, understand what came of it.
//
// The program is somebody else's code. It may crash, hang, refuse to start, run out of memory or
// simply never launch a kernel; each of these is one sentence here, with the last words it wrote to
// stderr, because those usually say why.
#include "vgpu/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <regex>
#include <sstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "check/findings_json.h"
#include "swizzleperf/error.h"
#include "vgpu/runtime/request.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

// ---- what went wrong ----------------------------------------------------------------------------

/// A line as it can be shown: short, and without what would move the cursor or colour the terminal.
std::string presentable(std::string line) {
  constexpr std::size_t kMost = 200;
  if (line.size() > kMost) line = line.substr(0, kMost) + "...";
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) c = ' ';
  }
  return line;
}

/// The last lines of a text, joined: "; it said: a | b", or "" when there are none.
std::string last_words(const std::string& text) {
  constexpr std::size_t kLines = 3;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(presentable(line));
  }
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return lines.empty() ? "" : fmt::format("; it said: {}", fmt::join(lines, " | "));
}

std::string memory_note(const ProgramSpec& spec) {
  if (spec.memory_limit_bytes == 0) return "";
  return fmt::format(" (memory limit {:.1f} GB)",
                     static_cast<double>(spec.memory_limit_bytes) / 1e9);
}

/// Why there is no response.
std::string diagnose(const ProgramSpec& spec, const ChildResult& child) {
  const std::string name = spec.program.string();
  if (child.timed_out) {
    return fmt::format("{} was stopped at its time limit of {} s{}", name, spec.time_limit_s,
                       last_words(child.err));
  }
  if (child.signal != 0) {
    return fmt::format("{} was ended by signal {} ({}){}{}", name, child.signal,
                       strsignal(child.signal), memory_note(spec), last_words(child.err));
  }
  return fmt::format("{} exited with status {} before the launch{}{}", name, child.exit_status,
                     memory_note(spec), last_words(child.err));
}

// ---- one question -------------------------------------------------------------------------------

void check_regex(const std::string& text) {
  try {
    (void)std::regex(text);
  } catch (const std::regex_error&) {
    throw usage_error(fmt::format("--kernel '{}' is not a regular expression", text));
  }
}

struct Answer {
  Response response;
  ChildResult child;
};

Request request_for(const ProgramSpec& spec, Job job, const fs::path& directory) {
  Request request;
  request.job = job;
  request.response_file = directory / "response.json";
  request.program = spec.program.string();
  request.arch = spec.arch;
  request.device = spec.device;
  request.step_limit = spec.step_limit;
  request.threads = spec.threads;
  request.kernel_regex = spec.kernel_regex;
  request.launch_index = spec.launch_index;
  check_regex(spec.kernel_regex);
  return request;
}

/// CMake may link with another compiler, which does not note where our runtime library lies.
std::string library_path() {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  const std::string own = locate_pieces().runtime_library.parent_path().string();
  return given != nullptr && *given != '\0' ? fmt::format("{}:{}", given, own) : own;
}

Answer ask(const ProgramSpec& spec, const BuiltProgram& program, const Request& request) {
  const fs::path request_file = request.response_file.parent_path() / "request.json";
  fs::remove(request.response_file);
  write_request(request, request_file);

  ChildSpec child;
  child.argv = {program.executable.string()};
  const std::vector<std::string> arguments = program.arguments.value_or(spec.arguments);
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  child.environment[kRequestVariable] = request_file.string();
  child.environment["LD_LIBRARY_PATH"] = library_path();
  child.time_limit_s = spec.time_limit_s;
  child.memory_limit_bytes = spec.memory_limit_bytes;
  Answer answer;
  answer.child = run_child(child);
  if (!fs::exists(request.response_file)) throw input_error(diagnose(spec, answer.child));
  answer.response = read_response(request.response_file);
  if (answer.response.error) {
    const int status = answer.child.exit_status;
    const bool its_own = status != 0 && status != static_cast<int>(Exit::kInput);
    throw input_error(its_own ? fmt::format("{} (exit status {}){}", *answer.response.error, status,
                                            last_words(answer.child.err))
                              : *answer.response.error);
  }
  return answer;
}

}  // namespace

Trace trace_program(const ProgramSpec& spec, const BuiltProgram& program) {
  const ScratchDirectory scratch;
  Request request = request_for(spec, Job::kTrace, scratch.path());
  request.extrapolate = spec.extrapolate;
  request.trace_file = scratch.path() / "trace";
  request.progress_file = scratch.path() / "progress";
  auto answer = std::async(std::launch::async, [&] { return ask(spec, program, request); });
  while (answer.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    if (spec.watch && fs::exists(request.progress_file)) {
      spec.watch(read_file(request.progress_file));
    }
  }
  if (spec.watch) spec.watch("");
  (void)answer.get();
  return read_trace(request.trace_file);
}

FunctionalRun run_functional(const ProgramSpec& spec, const BuiltProgram& program) {
  const ScratchDirectory scratch;
  const Answer answer = ask(spec, program, request_for(spec, Job::kRun, scratch.path()));
  return {.exit_status = answer.child.exit_status,
          .output_digest = answer.response.digest,
          .captured_stdout = answer.child.out,
          .captured_stderr = answer.child.err};
}

namespace {

CheckProgress read_progress(const fs::path& file) {
  CheckProgress progress;
  std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&progress), sizeof progress);
  return progress;
}

}  // namespace

LaunchFindings check_program(const ProgramSpec& spec, const BuiltProgram& program,
                             const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  const ScratchDirectory scratch;
  Request request = request_for(spec, Job::kCheck, scratch.path());
  request.written_file = scratch.path() / "written";
  request.progress_file = scratch.path() / "progress";
  write_file(request.progress_file, std::string(sizeof(CheckProgress), '\0'));
  auto answer = std::async(std::launch::async, [&] { return ask(spec, program, request); });
  while (answer.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    const auto [done, blocks] = read_progress(request.progress_file);
    if (blocks > 0) progress(done, blocks);
  }
  const Response response = answer.get().response;
  if (!response.findings) throw input_error("the check of the launch ended without a result");
  LaunchFindings findings = *response.findings;
  findings.written = written_from_bytes(read_file(request.written_file));
  return findings;
}

BlockComparison compare_blocks(const ProgramSpec& spec, const BuiltProgram& original,
                               const fs::path& patched_bitcode,
                               const std::vector<std::uint32_t>& permutation,
                               std::uint64_t sample_blocks, std::uint64_t seed) {
  const ScratchDirectory scratch;
  Request request = request_for(spec, Job::kCompare, scratch.path());
  request.patched_bitcode = fs::absolute(patched_bitcode);
  request.permutation_file = scratch.path() / "permutation";
  request.sample_blocks = sample_blocks;
  request.seed = seed;
  write_file(request.permutation_file, {reinterpret_cast<const char*>(permutation.data()),
                                        permutation.size() * sizeof permutation[0]});
  const Response response = ask(spec, original, request).response;
  if (!response.comparison) throw input_error("the comparison of blocks ended without a result");
  return *response.comparison;
}

}  // namespace swizzleperf::vgpu
