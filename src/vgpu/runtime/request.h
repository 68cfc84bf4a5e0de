// What the process that runs the user's program is asked to do, and what it answers.
//
// Parent and child share no memory and the child may die at any instruction of the user's code, so
// both sides are files: the request is written before the child starts and named by an environment
// variable; the response appears whole (written beside, renamed) or not at all. No request means
// that somebody simply runs the program: every launch is then executed and nothing is recorded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "swizzleperf/check.h"
#include "vgpu/run.h"

namespace swizzleperf::vgpu {

inline constexpr const char* kRequestVariable = "SWIZZLEPERF_REQUEST";

enum class Job {
  kNone,     ///< nobody asks: simply run
  kRun,      ///< execute everything; answer with the digest of device memory
  kTrace,    ///< record one launch, then stop
  kCompare,  ///< compare a patched module with the original on one launch, then stop
  kCheck,    ///< watch how the blocks of one launch share memory, then stop
};

struct Request {
  Job job = Job::kNone;
  std::filesystem::path response_file;
  std::string program;  ///< what the user named, for the trace
  std::string arch = "gfx942";
  std::optional<VirtualDevice> device;
  std::uint64_t step_limit = 0;
  unsigned threads = 0;  ///< 0 = all cores

  // kTrace, kCompare, kCheck: which launch.
  std::string kernel_regex;
  std::int64_t launch_index = -1;

  // kTrace.
  bool extrapolate = true;
  std::filesystem::path trace_file;

  // kCompare.
  std::filesystem::path patched_bitcode;
  std::filesystem::path permutation_file;  ///< 32-bit targets, one a block
  std::uint64_t sample_blocks = 0;
  std::uint64_t seed = 1;

  // kCheck.
  std::filesystem::path written_file;   ///< for LaunchFindings::written
  std::filesystem::path progress_file;  ///< a CheckProgress, kept up to date; kTrace: a sentence
};

/// How far a check is, as its progress file holds it.
struct CheckProgress {
  std::uint64_t done = 0;
  std::uint64_t blocks = 0;
};

/// The parts that apply are set; `error` excludes all others.
struct Response {
  std::optional<std::string> error;  ///< a whole sentence
  std::string digest;
  std::optional<BlockComparison> comparison;
  std::optional<LaunchFindings> findings;  ///< without `written`
};

void write_request(const Request& request, const std::filesystem::path& file);
Request read_request(const std::filesystem::path& file);
void write_response(const Response& response, const std::filesystem::path& file);
Response read_response(const std::filesystem::path& file);

}  // namespace swizzleperf::vgpu
