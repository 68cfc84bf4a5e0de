// What a program asks about its kernels: resources and how many blocks share a compute unit. The
// answers come from the real code generator for the program's architecture, on first question.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <map>

#include "vgpu/runtime/device.h"
#include "vgpu/runtime/launch.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

const CodegenResources& resources(const Kernel& kernel) {
  static auto* const known = new std::map<const KernelInfo*, CodegenResources>;
  const auto at = known->find(kernel.info);
  if (at != known->end()) return at->second;
  return (*known)[kernel.info] =
             codegen_resources(kernel.bitcode, kernel.info->symbol, state().request.arch);
}

std::uint32_t blocks_per_cu(const Kernel& kernel, std::uint32_t threads,
                            std::uint64_t dynamic_lds_bytes) {
  const VirtualDevice& device = device_model();
  const std::uint32_t lanes = kernel.info->wave_lanes;
  const std::uint32_t vgprs = std::max(resources(kernel).vgprs, 1U);
  const std::uint32_t granule = device.register_granule;
  const std::uint32_t registers = (vgprs + granule - 1) / granule * granule;
  const std::uint32_t waves =
      device.simds * std::min(device.waves_per_simd, device.registers_per_lane / registers);
  const std::uint32_t by_waves = std::min(device.blocks, waves / ((threads + lanes - 1) / lanes));
  const std::uint64_t lds = kernel.info->static_lds_bytes + dynamic_lds_bytes;
  const std::uint64_t by_lds = lds ? device.lds_bytes / lds : by_waves;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(by_waves, by_lds));
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return entry([&] {
    const Kernel* const kernel = kernel_of(function);
    if (!kernel) return hipErrorInvalidDeviceFunction;
    const swizzleperf::vgpu::CodegenResources& used = resources(*kernel);
    *attributes = {};
    attributes->maxThreadsPerBlock = kMaxThreadsPerBlock;
    attributes->numRegs = static_cast<int>(used.vgprs);
    attributes->sharedSizeBytes = kernel->info->static_lds_bytes;
    attributes->localSizeBytes = used.scratch_bytes;
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(device_model().most_block_lds_bytes - kernel->info->static_lds_bytes);
    return hipSuccess;
  });
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute /*attribute*/,
                               int /*value*/) {
  return entry([&] { return kernel_of(function) ? hipSuccess : hipErrorInvalidDeviceFunction; });
}

hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t /*config*/) {
  return entry([&] { return kernel_of(function) ? hipSuccess : hipErrorInvalidDeviceFunction; });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                        int threads, size_t dynamic_lds_bytes) {
  return entry([&] {
    const Kernel* const kernel = kernel_of(function);
    if (!kernel) return hipErrorInvalidDeviceFunction;
    if (!blocks || threads <= 0 || threads > static_cast<int>(kMaxThreadsPerBlock)) {
      return hipErrorInvalidValue;
    }
    *blocks = static_cast<int>(
        blocks_per_cu(*kernel, static_cast<std::uint32_t>(threads), dynamic_lds_bytes));
    return hipSuccess;
  });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                 int threads,
                                                                 size_t dynamic_lds_bytes,
                                                                 unsigned int /*flags*/) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_lds_bytes);
}

/// The block size with the most resident threads; of equals the larger one.
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* threads, const void* function,
                                             size_t dynamic_lds_bytes, int limit) {
  return entry([&] {
    const Kernel* const kernel = kernel_of(function);
    if (!kernel) return hipErrorInvalidDeviceFunction;
    const auto most =
        limit > 0 ? std::min<std::uint32_t>(limit, kMaxThreadsPerBlock) : kMaxThreadsPerBlock;
    std::uint32_t best = 0;
    std::uint32_t best_resident = 0;
    const std::uint32_t lanes = kernel->info->wave_lanes;
    for (std::uint32_t size = lanes; size <= most; size += lanes) {
      const std::uint32_t resident = size * blocks_per_cu(*kernel, size, dynamic_lds_bytes);
      if (resident < best_resident) continue;
      best = size;
      best_resident = resident;
    }
    if (best == 0) return hipErrorInvalidValue;
    *threads = static_cast<int>(best);
    *grid = static_cast<int>(best_resident / best * device_model().compute_units);
    return hipSuccess;
  });
}

// The same of a loaded module's functions.
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads,
                                                              size_t dynamic_lds_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_lds_bytes);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                       hipFunction_t function,
                                                                       int threads,
                                                                       size_t dynamic_lds_bytes,
                                                                       unsigned int /*flags*/) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_lds_bytes);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* threads, hipFunction_t function,
                                                   size_t dynamic_lds_bytes, int limit) {
  return hipOccupancyMaxPotentialBlockSize(grid, threads, static_cast<const void*>(function),
                                           dynamic_lds_bytes, limit);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* threads,
                                                            hipFunction_t function,
                                                            size_t dynamic_lds_bytes, int limit,
                                                            unsigned int /*flags*/) {
  return hipOccupancyMaxPotentialBlockSize(grid, threads, static_cast<const void*>(function),
                                           dynamic_lds_bytes, limit);
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                               hipFunction_t function) {
  hipFuncAttributes all;
  if (!value) return note(hipErrorInvalidValue);
  if (const hipError_t fault = hipFuncGetAttributes(&all, function)) return fault;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      return hipSuccess;
    default:
      return note(hipErrorNotSupported);
  }
}
hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig /*config*/) {
  return entry([&] { return kernel_of(function) ? hipSuccess : hipErrorInvalidDeviceFunction; });
}

const char* hipKernelNameRef(const hipFunction_t function) {
  const std::lock_guard lock(state().mutex);
  const Kernel* const kernel = kernel_of(function);
  return kernel ? kernel->info->symbol.c_str() : nullptr;
}
const char* hipKernelNameRefByPtr(const void* function, hipStream_t /*stream*/) {
  const std::lock_guard lock(state().mutex);
  const Kernel* const kernel = kernel_of(function);
  return kernel ? kernel->info->symbol.c_str() : nullptr;
}

}  // extern "C"
