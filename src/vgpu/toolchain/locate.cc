// The executable finds its companions relative to itself, so a build folder and an installed tree
// both work wherever they are moved, without an environment variable to set.
#include "vgpu/toolchain/locate.h"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

#include "base/subprocess.h"
#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

namespace fs = std::filesystem;

fs::path find_piece(const fs::path& home, std::initializer_list<const char*> places,
                    std::string_view name) {
  for (const char* place : places) {
    const fs::path candidate = (home / place / name).lexically_normal();
    if (fs::exists(candidate)) return candidate;
  }
  throw input_error(fmt::format("{} is missing beside {}: build or install swizzleperf completely",
                                name, home.string()));
}

fs::path home_directory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

}  // namespace

fs::path locate_compiler(const std::string& name) {
  return find_piece(home_directory(), {".", "../bin"}, name);
}

Pieces locate_pieces() {
  const fs::path home = home_directory();
  return {.runtime_library = find_piece(home, {".", "../lib"}, "libswizzleperf_hip.so"),
          .device_library =
              find_piece(home, {"device", "../share/swizzleperf"}, "swizzleperf_device.bc"),
          .prelude = find_piece(home, {"device", "../share/swizzleperf"}, "prelude.h"),
          .launcher = find_piece(home, {"."}, "swizzleperf-launch"),
          .cuda_headers = find_piece(home, {"device", "../share/swizzleperf"}, "cuda"),
          .hip_headers = find_piece(home, {"device", "../share/swizzleperf"}, "hip")};
}

bool is_cuda_toolkit(const fs::path& directory) {
  const auto has = [&](const char* name) { return fs::exists(directory / name); };
  return has("cuda_runtime_api.h") && has("crt") && !has("swizzleperf_cuda.h");
}

std::string find_compiler() {
  const auto found = find_program("clang++-22");
  if (!found) throw input_error("clang++-22 is not on PATH: install the package clang-22");
  return found->string();
}

}  // namespace swizzleperf::vgpu
