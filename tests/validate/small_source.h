// A source of measurements small enough to be read at a glance, for tests that change a word of it.
#pragma once

#include <filesystem>
#include <string>

#include "base/files.h"

namespace swizzleperf::validate {

/// Each block copies 1 KiB of its own and reads what its neighbour copies.
inline constexpr const char* kSmallProgram = R"(#include <hip/hip_runtime.h>
__global__ void shift(const float* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}
int main() {
  const unsigned blocks = 64;
  float *in, *out;
  (void)hipMalloc(&in, blocks * 256 * sizeof(float));
  (void)hipMalloc(&out, blocks * 256 * sizeof(float));
  shift<<<blocks, 256>>>(in, out);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
)";

inline constexpr const char* kSmallLaunches = R"(title = "A machine"
machine = "mi300x"
moved_points = 2
time_spread = 0.05
orders = [
  { name = "as it is", swizzle = "identity" },
  { name = "near", swizzle = "die-contiguous" },
]
[[measured]]
file = "points.csv"
repeated = "median"
l2_hit_rate = { column = "hits", over = "requests" }
time_ms = { column = "us", scale = 0.001 }
[[bounds]]
statistic = "l2_worst_error"
at_most = 100
[[launches]]
name = "shift 64"
kernel = "shift"
program = "shift.hip"
use = "fit"
judged_orders = ["near"]
)";

inline constexpr const char* kSmallPoints = R"(launch,swizzle,hits,requests,us
shift 64,as it is,10,40,4
shift 64,as it is,20,80,8
shift 64,as it is,10,40,5
shift 64,near,30,40,
)";

/// What one launches.toml, table and program are, written below `directory`.
struct SmallSource {
  std::string launches = kSmallLaunches;
  std::string points = kSmallPoints;
  std::string program = kSmallProgram;

  /// Returns launches.toml.
  std::filesystem::path write(const std::filesystem::path& directory) const {
    const std::filesystem::path source = directory / "small";
    std::filesystem::create_directories(source);
    write_file(source / "launches.toml", launches);
    write_file(source / "points.csv", points);
    write_file(source / "shift.hip", program);
    return source / "launches.toml";
  }
};

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace swizzleperf::validate
