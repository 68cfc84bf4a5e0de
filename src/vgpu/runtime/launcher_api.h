// What HIP has no question for, for our own swizzleperf-launch: the kernels that were loaded and
// their parameters, so that a launch spec that does not fit its kernel is a sentence, and a way to
// say it.
#pragma once

#include <string>
#include <vector>

#include "vgpu/exec.h"

// NOLINTBEGIN(bugprone-reserved-identifier): only such names leave the library
extern "C" {
/// All kernels of the loaded modules.
const std::vector<swizzleperf::vgpu::KernelInfo>* __hipLoadedKernels();
/// Ends the process with a sentence, told to whoever asked for the launch.
[[noreturn]] void __hipEnd(const char* sentence);
}
// NOLINTEND(bugprone-reserved-identifier)
