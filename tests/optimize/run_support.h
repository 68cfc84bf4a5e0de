// What tests of whole runs share: a launch to optimise, the executable, and an end at any moment.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/synthetic.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

inline std::filesystem::path executable() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "swizzleperf";
}

/// A GEMM as a trace, so that nothing has to be compiled.
inline std::filesystem::path write_launch(
    const std::filesystem::path& directory,
    const synthetic::Gemm& gemm = {.m = 2304, .n = 1792, .k = 512, .tile = 128, .group = 8}) {
  Trace trace = synthetic::build(gemm);
  trace.program = "synthetic";
  trace.arch = "gfx942";
  trace.lds_bytes = 32768;
  trace.vgprs = 128;
  std::filesystem::path file = directory / "launch.trace";
  write_trace(trace, file);
  return file;
}

/// Starts a command, kills it once something is so (or lets it end), and waits.
template <class Condition>
void start_and_kill_when(const std::vector<std::string>& words, const Condition& condition) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
    argv.push_back(nullptr);
    (void)!freopen("/dev/null", "w", stdout);
    execv(argv[0], argv.data());
    _exit(127);
  }
  while (!condition() && waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// The same after a while.
inline void start_and_kill(const std::vector<std::string>& words, std::chrono::milliseconds after) {
  const auto begin = std::chrono::steady_clock::now();
  start_and_kill_when(words, [&] { return std::chrono::steady_clock::now() - begin >= after; });
}

}  // namespace swizzleperf
