// What the virtual device says of itself when a program asks.
#pragma once

#include <cstdint>

#include "vgpu/run.h"

namespace swizzleperf::vgpu::runtime {

inline constexpr std::uint32_t kMaxThreadsPerBlock = 1024;

/// The machine that was asked for, or else the usual one for the architecture that the program was
/// compiled for.
const VirtualDevice& device_model();

/// Lanes of the program's waves: 32 where it is CUDA's.
std::uint32_t wave_lanes();

}  // namespace swizzleperf::vgpu::runtime
