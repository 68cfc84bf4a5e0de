// What HIP has no question for: the kernels of a loaded module and their parameters. For our own
// swizzleperf-launch, so that a launch spec that does not fit its kernel is a sentence.
#pragma once

#include <hip/hip_runtime_api.h>

#include <vector>

#include "vgpu/exec.h"

extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): only such names leave the library
const std::vector<swizzleperf::vgpu::KernelInfo>* __hipModuleKernels(hipModule_t module);
}
