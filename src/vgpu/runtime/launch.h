// One launch, from the form the program gives it to the form the engine wants.
#pragma once

#include <hip/hip_runtime_api.h>

#include "vgpu/runtime/modules.h"

namespace swizzleperf::vgpu::runtime {

/// The kernel behind a host function, with all modules loaded; null when there is none.
const Kernel* kernel_of(const void* host_function);

/// Checks the launch as HIP does, packs the values behind `arguments` and performs it.
hipError_t launch_kernel(const Kernel& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                         void** arguments);

/// Runs one block on the program's memory; what it did is in `recorder` until its finish().
void run_recorded(const Kernel& kernel, const Launch& launch, const Dim3& block, Mode mode,
                  BlockRecorder& recorder);

}  // namespace swizzleperf::vgpu::runtime
