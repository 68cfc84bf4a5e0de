// Child processes done once: argv and no shell, a time limit, killed as a group, an environment
// without keys, output captured to a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizzleperf {

struct ChildSpec {
  std::vector<std::string> argv;
  std::filesystem::path directory;                 ///< empty: ours
  std::map<std::string, std::string> environment;  ///< added to the scrubbed environment
  double time_limit_s = 600;
  std::uint64_t memory_limit_bytes = 0;  ///< RLIMIT_AS; 0 = none
  std::size_t capture_bytes = 1 << 20;   ///< of each stream; the rest is dropped
  std::string input;                     ///< written to its stdin
  bool pass_stdout = false;              ///< let its stdout through instead of capturing
};

struct ChildResult {
  int exit_status = -1;  ///< valid if it exited
  int signal = 0;        ///< nonzero if a signal ended it
  bool timed_out = false;
  double seconds = 0;
  std::string out;
  std::string err;
  [[nodiscard]] bool ok() const { return !timed_out && signal == 0 && exit_status == 0; }
};

/// Throws Error(kInput) when the program cannot be started (not found, not executable).
ChildResult run_child(const ChildSpec& spec);

/// Removes what looks like a secret (…KEY, …TOKEN, …SECRET, …PASSWORD) from a copy of our
/// environment.
std::map<std::string, std::string> scrubbed_environment();

/// The program on PATH, or nothing.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace swizzleperf
