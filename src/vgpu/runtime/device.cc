// Device queries. Programs size their grids by them, so they describe the machine that the program
// was compiled for, with one exception: the memory is no larger than the host's, since a program
// that fills "80 % of the free memory" must still fit.
#include "vgpu/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

constexpr std::uint64_t kGiB = 1ULL << 30;
constexpr int kMiB = 1 << 20;

/// What no machine model says, because no replay needs it.
struct Board {
  const char* arch;
  VirtualDevice device;
  int memory_clock_khz;
  int memory_bus_bits;
  std::uint64_t memory_bytes;
};

const std::array<Board, 3>& boards() {
  static const auto* const all = new std::array<Board, 3>{
      Board{"gfx942",
            {"AMD Instinct MI300X", 304, 2.1, 4ULL << 20, 9, 4, 64 << 10, 4, 8, 32, 512, 8,
             64 << 10, 64 << 10},
            1'300'000,
            8192,
            192 * kGiB},
      Board{"gfx950",
            {"AMD Instinct MI355X", 256, 2.4, 4ULL << 20, 9, 5, 160 << 10, 4, 8, 32, 512, 8,
             160 << 10, 160 << 10},
            2'000'000,
            8192,
            288 * kGiB},
      Board{"gfx90a",
            {"AMD Instinct MI250X", 110, 1.7, 8ULL << 20, 9, 0, 64 << 10, 4, 8, 32, 512, 8,
             64 << 10, 64 << 10},
            1'600'000,
            4096,
            64 * kGiB},
  };
  return *all;
}

const Board& board() {
  for (const Board& b : boards()) {
    if (state().request.arch == b.arch) return b;
  }
  return boards()[0];
}

std::uint64_t total_memory() { return std::min(board().memory_bytes, state().heap.limit()); }

void copy_text(char* to, std::size_t capacity, const std::string& text) {
  std::strncpy(to, text.c_str(), capacity - 1);
  to[capacity - 1] = '\0';
}

hipDeviceProp_t properties() {
  const VirtualDevice& model = device_model();
  hipDeviceProp_t p{};
  copy_text(p.name, sizeof p.name, model.name + " (virtual)");
  copy_text(p.gcnArchName, sizeof p.gcnArchName, fmt::format("{}:sramecc+:xnack-", board().arch));
  p.totalGlobalMem = total_memory();
  p.sharedMemPerBlock = model.block_lds_bytes;
  p.maxSharedMemoryPerMultiProcessor = model.lds_bytes;
  p.regsPerBlock = 65536;
  p.warpSize = static_cast<int>(wave_lanes());
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::fill(std::begin(p.maxThreadsDim), std::end(p.maxThreadsDim), int{kMaxThreadsPerBlock});
  p.maxGridSize[0] = 2147483647;
  p.maxGridSize[1] = p.maxGridSize[2] = 65536;
  p.clockRate = static_cast<int>(model.clock_ghz * 1e6);
  p.clockInstructionRate = 100'000;
  p.memoryClockRate = board().memory_clock_khz;
  p.memoryBusWidth = board().memory_bus_bits;
  p.totalConstMem = 2147483647;
  p.major = static_cast<int>(model.major);
  p.minor = static_cast<int>(model.minor);
  p.multiProcessorCount = static_cast<int>(model.compute_units);
  p.l2CacheSize = static_cast<int>(std::min<std::uint64_t>(model.l2_bytes, INT32_MAX));
  p.maxThreadsPerMultiProcessor =
      static_cast<int>(model.simds * model.waves_per_simd * wave_lanes());
  p.gcnArch = static_cast<int>(std::strtol(board().arch + 3, nullptr, 10));
  p.memPitch = 2147483647;
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.concurrentKernels = p.canMapHostMemory = p.cooperativeLaunch = p.managedMemory = 1;
  p.ECCEnabled = p.concurrentManagedAccess = p.isLargeBar = 1;
  p.arch.hasGlobalInt32Atomics = p.arch.hasGlobalFloatAtomicExch = 1;
  p.arch.hasSharedInt32Atomics = p.arch.hasSharedFloatAtomicExch = p.arch.hasFloatAtomicAdd = 1;
  p.arch.hasGlobalInt64Atomics = p.arch.hasSharedInt64Atomics = p.arch.hasDoubles = 1;
  p.arch.hasWarpVote = p.arch.hasWarpBallot = p.arch.hasWarpShuffle = p.arch.has3dGrid = 1;
  return p;
}

/// The attributes that programs are seen to ask for; -1 for the others.
int attribute(hipDeviceAttribute_t name) {
  const hipDeviceProp_t p = properties();
  switch (name) {
    case hipDeviceAttributeWarpSize:
      return p.warpSize;
    case hipDeviceAttributeMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
      return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxGridDimX:
      return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ:
      return p.maxGridSize[1];
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
      return static_cast<int>(p.maxSharedMemoryPerMultiProcessor);
    case hipDeviceAttributeSharedMemPerBlockOptin:
      return static_cast<int>(device_model().most_block_lds_bytes);
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      return p.multiProcessorCount;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      return p.regsPerBlock;
    case hipDeviceAttributeClockRate:
      return p.clockRate;
    case hipDeviceAttributeMemoryClockRate:
      return p.memoryClockRate;
    case hipDeviceAttributeMemoryBusWidth:
      return p.memoryBusWidth;
    case hipDeviceAttributeL2CacheSize:
      return p.l2CacheSize;
    case hipDeviceAttributeComputeCapabilityMajor:
      return p.major;
    case hipDeviceAttributeComputeCapabilityMinor:
      return p.minor;
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeMemoryPoolsSupported:
    case hipDeviceAttributeEccEnabled:
      return 1;
    case hipDeviceAttributeIntegrated:
    case hipDeviceAttributePageableMemoryAccess:
    case hipDeviceAttributeComputeMode:
    case hipDeviceAttributeIsMultiGpuBoard:
    case hipDeviceAttributeKernelExecTimeout:
      return 0;
    default:
      return -1;
  }
}

constexpr const char* kBusId = "0000:01:00.0";

hipCtx_t the_context() {
  static char place;  // a handle is all it is
  return reinterpret_cast<hipCtx_t>(&place);
}

hipError_t only_device(int device) { return device == 0 ? hipSuccess : hipErrorInvalidDevice; }

}  // namespace

const VirtualDevice& device_model() {
  const auto& asked = state().request.device;
  return asked ? *asked : board().device;
}

std::uint32_t wave_lanes() {
  State& s = state();
  s.modules.load_all(s.heap);
  const std::vector<Kernel> kernels = s.modules.kernels();
  return kernels.empty() ? 64 : kernels.front().info->wave_lanes;
}

}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipInit(unsigned int /*flags*/) { return hipSuccess; }

hipError_t hipGetDeviceCount(int* count) {
  return entry([&] {
    *count = 1;
    return hipSuccess;
  });
}

hipError_t hipGetDevice(int* device) {
  return entry([&] {
    *device = 0;
    return hipSuccess;
  });
}

hipError_t hipSetDevice(int device) {
  return entry([&] { return only_device(device); });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return entry([&] {
    *device = ordinal;
    return only_device(ordinal);
  });
}

hipError_t hipDeviceGetName(char* name, int capacity, hipDevice_t device) {
  return entry([&] {
    if (!name || capacity <= 0) return hipErrorInvalidValue;
    copy_text(name, static_cast<std::size_t>(capacity), device_model().name + " (virtual)");
    return only_device(device);
  });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return entry([&] {
    *bytes = total_memory();
    return only_device(device);
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* result, int device) {
  return entry([&] {
    if (!result) return hipErrorInvalidValue;
    *result = properties();
    return only_device(device);
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t name, int device) {
  return entry([&] {
    if (device != 0) return hipErrorInvalidDevice;
    const int known = attribute(name);
    if (!value || known < 0) return hipErrorInvalidValue;
    *value = known;
    return hipSuccess;
  });
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total) {
  return entry([&] {
    *total = total_memory();
    *free_bytes = *total - std::min<std::uint64_t>(*total, state().heap.used());
    return hipSuccess;
  });
}

hipError_t hipDriverGetVersion(int* version) {
  return entry([&] {
    *version = HIP_VERSION;
    return hipSuccess;
  });
}

hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipDeviceReset() { return hipSuccess; }
hipError_t hipSetDeviceFlags(unsigned /*flags*/) { return hipSuccess; }
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t /*config*/) { return hipSuccess; }
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig /*config*/) { return hipSuccess; }

hipError_t hipGetDeviceFlags(unsigned int* flags) {
  if (flags) *flags = hipDeviceScheduleAuto;
  return flags ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  if (config) *config = hipFuncCachePreferNone;
  return config ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  if (config) *config = hipSharedMemBankSizeFourByte;
  return config ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipDeviceGetLimit(size_t* value, enum hipLimit_t limit) {
  constexpr std::size_t kMallocHeap = 256 << 20;
  if (!value || (limit != hipLimitMallocHeapSize && limit != hipLimitPrintfFifoSize))
    return note(hipErrorInvalidValue);
  *value = limit == hipLimitMallocHeapSize ? kMallocHeap : std::size_t{kMiB};
  return hipSuccess;
}

/// There is one device, whatever is wanted.
hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* wanted) {
  if (!device || !wanted) return note(hipErrorInvalidValue);
  *device = 0;
  return hipSuccess;
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  return entry([&] {
    if (!major || !minor) return hipErrorInvalidValue;
    *major = static_cast<int>(device_model().major);
    *minor = static_cast<int>(device_model().minor);
    return only_device(device);
  });
}
hipError_t hipDeviceGetPCIBusId(char* text, int capacity, int device) {
  return entry([&] {
    if (!text || capacity <= 0) return hipErrorInvalidValue;
    copy_text(text, static_cast<std::size_t>(capacity), kBusId);
    return only_device(device);
  });
}
hipError_t hipDeviceGetByPCIBusId(int* device, const char* text) {
  return entry([&] {
    if (!device || !text || std::strcmp(text, kBusId) != 0) return hipErrorInvalidValue;
    *device = 0;
    return hipSuccess;
  });
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return entry([&] {
    if (!uuid) return hipErrorInvalidValue;
    *uuid = {};
    copy_text(uuid->bytes, sizeof uuid->bytes, board().arch);
    return only_device(device);
  });
}

// No other device is there to reach.
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int /*flags*/) {
  return note(peer == 0 ? hipErrorInvalidValue : hipErrorInvalidDevice);
}
hipError_t hipDeviceDisablePeerAccess(int /*peer*/) { return note(hipErrorPeerAccessNotEnabled); }
hipError_t hipDeviceGetP2PAttribute(int* /*value*/, hipDeviceP2PAttr /*attribute*/, int /*from*/,
                                    int /*to*/) {
  return note(hipErrorInvalidDevice);
}

hipError_t hipProfilerStart() { return hipSuccess; }
hipError_t hipProfilerStop() { return hipSuccess; }

// ---- Contexts: HIP has one a device, and programs for the driver interface make it
// ---------------

hipError_t hipCtxCreate(hipCtx_t* context, unsigned int /*flags*/, hipDevice_t device) {
  return hipDevicePrimaryCtxRetain(context, device);
}
hipError_t hipCtxDestroy(hipCtx_t /*context*/) { return hipSuccess; }
hipError_t hipCtxPushCurrent(hipCtx_t /*context*/) { return hipSuccess; }
hipError_t hipCtxSetCurrent(hipCtx_t /*context*/) { return hipSuccess; }
hipError_t hipCtxSynchronize() { return hipSuccess; }
hipError_t hipCtxPopCurrent(hipCtx_t* context) { return hipCtxGetCurrent(context); }
hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  if (context) *context = the_context();
  return hipSuccess;
}
hipError_t hipCtxGetDevice(hipDevice_t* device) { return hipGetDevice(device); }
hipError_t hipCtxGetFlags(unsigned int* flags) { return hipGetDeviceFlags(flags); }
hipError_t hipCtxGetApiVersion(hipCtx_t /*context*/, int* version) {
  return hipDriverGetVersion(version);
}
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) { return hipDeviceGetCacheConfig(config); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t /*config*/) { return hipSuccess; }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) {
  return hipDeviceGetSharedMemConfig(config);
}
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig /*config*/) { return hipSuccess; }
hipError_t hipCtxEnablePeerAccess(hipCtx_t /*peer*/, unsigned int /*flags*/) {
  return note(hipErrorInvalidDevice);
}
hipError_t hipCtxDisablePeerAccess(hipCtx_t /*peer*/) { return note(hipErrorPeerAccessNotEnabled); }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return entry([&] {
    if (!context) return hipErrorInvalidValue;
    *context = the_context();
    return only_device(device);
  });
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) { return note(only_device(device)); }
hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) { return note(only_device(device)); }
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int /*flags*/) {
  return note(only_device(device));
}
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  if (flags) *flags = 0;
  if (active) *active = 1;
  return note(only_device(device));
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return entry([&] {
    *can = 0;
    return device == 0 && peer == 0 ? hipSuccess : hipErrorInvalidDevice;
  });
}

}  // extern "C"
