// What stands between us and a child: see supervisor.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/walls.h"

namespace swizzleperf {

/// Everything that is needed between fork and exec, laid out before, so that nothing is allocated.
struct ChildLaunch {
  const char* program;  ///< null: `body` is called instead
  int (*body)(const void*);
  const void* data;
  char* const* argv;
  char* const* envp;
  const char* directory;  ///< null: stay
  std::uint64_t memory_limit_bytes;
  std::uint64_t file_limit_bytes;
  const WallPlan* walls;
  int in;
  int out;  ///< -1: keep ours
  int err;
  int control;  ///< a packet socket: orders come in, one report goes out
};

enum class Order : char { kTerminate = 'T', kKill = 'K' };

/// Sent once: when the child and all its descendants are gone, or when it could not be started.
struct Report {
  enum Step : int { kEnded, kFork, kWall, kDirectory, kMemoryLimit, kFileLimit, kExec } step;
  int value;         ///< kEnded: as waitpid says; else errno
  const char* wall;  ///< kWall: what could not be done; a literal, so valid after fork too
};

/// What the forked process does; only async-signal-safe calls.
[[noreturn]] void supervise(const ChildLaunch& launch);

}  // namespace swizzleperf
