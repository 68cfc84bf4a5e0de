// Child processes done once: argv and no shell, limits of time and memory, nothing that outlives
// them, an environment without keys, output captured to a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/walls.h"

namespace swizzleperf {

struct ChildSpec {
  std::vector<std::string> argv;
  std::filesystem::path directory;                 ///< empty: ours
  std::map<std::string, std::string> environment;  ///< added to the scrubbed environment
  double time_limit_s = 600;
  std::uint64_t memory_limit_bytes = 0;    ///< RLIMIT_AS; 0 = none
  std::uint64_t resident_limit_bytes = 0;  ///< of all its processes together, looked at ten times a
                                           ///< second; pages they share count for each; 0 = none
  std::uint64_t file_limit_bytes = 0;      ///< of any one file that it writes; 0 = none
  int cancel_fd = -1;                      ///< once readable, all its processes are killed at once
  std::size_t capture_bytes = 1 << 20;     ///< of each stream; the rest is dropped
  std::string input;                       ///< written to its stdin
  bool pass_stdout = false;                ///< let its stdout through instead of capturing
  Walls walls;                             ///< what it cannot get past
};

struct ChildResult {
  int exit_status = -1;  ///< valid if it exited
  int signal = 0;        ///< nonzero if a signal ended it
  bool timed_out = false;
  bool over_memory = false;  ///< killed for resident_limit_bytes
  bool cancelled = false;    ///< killed because cancel_fd became readable
  double seconds = 0;
  std::string out;
  std::string err;
  [[nodiscard]] bool ok() const {
    return signal == 0 && exit_status == 0 && !timed_out && !over_memory && !cancelled;
  }
};

/// When it returns, the child and all that descends from it is gone. Throws Error(kInput) when the
/// program cannot be started (not found, not executable).
ChildResult run_child(const ChildSpec& spec);

/// The same with a function of ours in the place of a program: `argv` is a name for messages. It
/// may do what is allowed between fork and exec (no allocation, no lock); it returns the exit
/// status.
using ChildBody = int (*)(const void* data);
ChildResult run_child(const ChildSpec& spec, ChildBody body, const void* data);

/// How a child ended that is not ok(), to follow its name: "used more than 2.0 GB of memory".
std::string how_it_ended(const ChildSpec& spec, const ChildResult& result);

/// Removes what looks like a secret (…KEY, …TOKEN, …SECRET, …PASSWORD) from a copy of our
/// environment.
std::map<std::string, std::string> scrubbed_environment();

/// The program on PATH, or nothing.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace swizzleperf
