// What the virtual device says of itself when a program asks.
#pragma once

#include <cstdint>
#include <string>

namespace swizzleperf::vgpu::runtime {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr std::uint32_t kWaveLanes = 64;

/// The part of a machine that HIP's device queries report.
struct DeviceModel {
  const char* arch;
  const char* name;
  int compute_units;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  std::uint64_t memory_bytes;
  int l2_bytes;
  std::uint32_t lds_bytes;
  int major;
  int minor;
};

/// The machine for the architecture that the program was compiled for.
const DeviceModel& device_model();

}  // namespace swizzleperf::vgpu::runtime
