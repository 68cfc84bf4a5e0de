// What HIP has no question for: the kernels of a loaded module and their parameters. For our own
// swizzleperf-launch, so that a launch spec that does not fit its kernel is a sentence.
#pragma once

#include <hip/hip_runtime_api.h>

#include <vector>

#include "vgpu/exec.h"

// NOLINTBEGIN(bugprone-reserved-identifier): only such names leave the library
extern "C" {
const std::vector<swizzleperf::vgpu::KernelInfo>* __hipModuleKernels(hipModule_t module);
/// Ends the process with a sentence, told to whoever asked for the launch.
[[noreturn]] void __hipEnd(const char* sentence);
}
// NOLINTEND(bugprone-reserved-identifier)
