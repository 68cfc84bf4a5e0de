// A build finds its compiler by name, so names are what we offer: symbolic links in a directory of
// ours that goes first on PATH. Nothing of the user's tree is touched but by their own command.
#include "vgpu/toolchain/shell_build.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/subprocess.h"
#include "swizzleperf/error.h"
#include "vgpu/toolchain/locate.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeLimit_s = 3600;

void offer(const fs::path& directory, const std::string& compiler) {
  const fs::path ours = locate_compiler("swizzleperf-" + compiler);
  fs::create_symlink(ours, directory / compiler);
  fs::create_symlink(ours, directory / ("swizzleperf-" + compiler));
}

std::string path_with(const fs::path& directory) {
  const char* const path = std::getenv("PATH");
  return directory.string() + (path != nullptr ? std::string(":") + path : "");
}

}  // namespace

void run_build(const std::string& command) {
  const ScratchDirectory scratch;
  offer(scratch.path(), "hipcc");
  offer(scratch.path(), "nvcc");
  ChildSpec child;
  child.argv = {"sh", "-c", command};
  child.environment["PATH"] = path_with(scratch.path());
  child.time_limit_s = kTimeLimit_s;
  const ChildResult result = run_child(child);
  if (result.ok()) return;
  fmt::print(stderr, "{}{}", result.out, result.err);
  throw input_error(fmt::format("the build '{}' {}", command, how_it_ended(child, result)));
}

}  // namespace swizzleperf::vgpu
