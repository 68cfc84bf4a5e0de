// One launch, from the form the program gives it to the form the engine wants.
#pragma once

#include <hip/hip_runtime_api.h>

#include "vgpu/runtime/modules.h"

namespace swizzleperf::vgpu::runtime {

/// The kernel behind a host function or a handle of a loaded module's function (hipFunction_t),
/// with all modules loaded; null when there is none.
const Kernel* kernel_of(const void* function);
/// Of a handle only (module_api.cc).
const Kernel* kernel_of(hipFunction_t function);

/// A launch that was checked, with its arguments' values.
struct PreparedLaunch {
  const Kernel* kernel = nullptr;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  std::vector<std::byte> arguments;
};

/// `extra` is HIP's other way to pass arguments: as one block. Called under the lock.
hipError_t prepare(const void* function, dim3 grid, dim3 block, void** arguments, void** extra,
                   std::size_t shared_bytes, PreparedLaunch& launch);
/// Called without the lock.
hipError_t run_prepared(const PreparedLaunch& launch);
/// Both, or the first only while the stream is capturing. Called without the lock.
hipError_t launch_on(hipStream_t stream, const void* function, dim3 grid, dim3 block,
                     void** arguments, void** extra, std::size_t shared_bytes);

/// Runs one block on the program's memory; what it did is in `recorder` until its finish().
void run_recorded(const Kernel& kernel, const Launch& launch, const Dim3& block, Mode mode,
                  BlockRecorder& recorder);

}  // namespace swizzleperf::vgpu::runtime
