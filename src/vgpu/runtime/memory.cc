// Allocation and the questions a program asks about its pointers.
//
// Device, managed and pinned host memory all come from one heap at real addresses, so a pointer of
// any of them works on both sides. A refusal says on stderr how much was asked for: the program's
// own message seldom does.
#include <fmt/format.h>
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <map>

#include "vgpu/runtime/state.h"

// HIP leaves this type to the implementation.
struct ihipMemPoolHandle_t {
  std::map<hipMemPoolAttr, std::uint64_t> attributes;
};

namespace swizzleperf::vgpu::runtime {
namespace {

hipMemPool_t default_pool() {
  static ihipMemPoolHandle_t pool;
  return &pool;
}

constexpr std::size_t kPitch = 256;
constexpr double kGigabyte = 1e9;

hipError_t allocate(void** result, std::size_t bytes, MemoryKind kind) {
  return entry([&] {
    if (!result) return hipErrorInvalidValue;
    *result = nullptr;
    if (bytes == 0) return hipSuccess;  // as HIP: no memory, no error
    Heap& heap = state().heap;
    *result = heap.allocate(bytes, kind);
    if (*result) return hipSuccess;
    fmt::print(
        stderr,
        "swizzleperf: the program asked for {:.3f} GB of device memory with {:.3f} GB in use; "
        "this machine's memory allows {:.3f} GB\n",
        static_cast<double>(bytes) / kGigabyte, static_cast<double>(heap.used()) / kGigabyte,
        static_cast<double>(heap.limit()) / kGigabyte);
    return hipErrorOutOfMemory;
  });
}

hipError_t release(void* pointer, std::initializer_list<MemoryKind> kinds, hipError_t otherwise) {
  return entry(
      [&] { return !pointer || state().heap.release(pointer, kinds) ? hipSuccess : otherwise; });
}

hipError_t free_device(void* pointer) {
  return release(pointer, {MemoryKind::kDevice, MemoryKind::kManaged}, hipErrorInvalidValue);
}

hipError_t free_host(void* pointer) {
  return release(pointer, {MemoryKind::kHost}, hipErrorInvalidValue);
}

hipError_t need_known(const void* pointer, std::size_t bytes) {
  return entry([&] {
    return state().heap.find(pointer, bytes).allocation ? hipSuccess : hipErrorInvalidValue;
  });
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, MemoryKind::kDevice);
}
hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned int /*flags*/) {
  return hipMalloc(pointer, bytes);
}
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t /*stream*/) {
  return hipMalloc(pointer, bytes);
}
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned int /*flags*/) {
  return allocate(pointer, bytes, MemoryKind::kManaged);
}
hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned int /*flags*/) {
  return allocate(pointer, bytes, MemoryKind::kHost);
}
hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
hipError_t hipMallocHost(void** pointer, size_t bytes) { return hipHostMalloc(pointer, bytes, 0); }

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return note(hipErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return hipMalloc(pointer, *pitch * height);
}

hipError_t hipMalloc3D(hipPitchedPtr* result, hipExtent extent) {
  if (!result) return note(hipErrorInvalidValue);
  *result = {.ptr = nullptr, .pitch = 0, .xsize = extent.width, .ysize = extent.height};
  return hipMallocPitch(&result->ptr, &result->pitch, extent.width, extent.height * extent.depth);
}

hipError_t hipFree(void* pointer) { return free_device(pointer); }
hipError_t hipFreeAsync(void* pointer, hipStream_t /*stream*/) { return free_device(pointer); }
hipError_t hipHostFree(void* pointer) { return free_host(pointer); }
hipError_t hipFreeHost(void* pointer) { return free_host(pointer); }

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned int /*flags*/) {
  return entry([&] {
    if (!pointer || bytes == 0) return hipErrorInvalidValue;
    return state().heap.adopt(pointer, bytes) ? hipSuccess : hipErrorHostMemoryAlreadyRegistered;
  });
}

hipError_t hipHostUnregister(void* pointer) {
  return release(pointer, {MemoryKind::kRegistered}, hipErrorHostMemoryNotRegistered);
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned int /*flags*/) {
  *device = host;
  return need_known(host, 1);
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return entry([&] {
    const Heap::Found found = state().heap.find(pointer);
    if (!attributes || !found.allocation) return hipErrorInvalidValue;
    const bool host = found.kind == MemoryKind::kHost || found.kind == MemoryKind::kRegistered;
    const bool managed = found.kind == MemoryKind::kManaged;
    *attributes = {};
    attributes->memoryType = host ? hipMemoryTypeHost : hipMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(pointer);
    attributes->hostPointer = host || managed ? const_cast<void*>(pointer) : nullptr;
    attributes->isManaged = managed ? 1 : 0;
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return entry([&] {
    const swizzleperf::vgpu::Allocation* const found = state().heap.find(pointer).allocation;
    if (!found) return hipErrorInvalidDevicePointer;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): device addresses are numbers here
    if (base) *base = reinterpret_cast<void*>(found->base);
    if (bytes) *bytes = found->bytes;
    return hipSuccess;
  });
}

hipError_t hipMemPrefetchAsync(const void* pointer, size_t bytes, int /*device*/,
                               hipStream_t /*stream*/) {
  return need_known(pointer, bytes);
}

hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise /*advice*/,
                        int /*device*/) {
  return need_known(pointer, bytes);
}

hipError_t hipMemAllocHost(void** pointer, size_t bytes) {
  return hipHostMalloc(pointer, bytes, 0);
}
hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int /*element_bytes*/) {
  return hipMallocPitch(pointer, pitch, width, height);
}
hipError_t hipHostGetFlags(unsigned int* flags, void* pointer) {
  if (!flags) return note(hipErrorInvalidValue);
  *flags = hipHostMallocDefault;
  return need_known(pointer, 1);
}
hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return hipMemGetAddressRange(nullptr, bytes, pointer);
}

hipError_t hipPointerGetAttribute(void* result, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  hipPointerAttribute_t all;
  if (!result) return note(hipErrorInvalidValue);
  if (const hipError_t fault = hipPointerGetAttributes(&all, pointer)) return fault;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(result) = static_cast<unsigned>(all.memoryType);
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<void**>(result) = all.devicePointer;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<void**>(result) = all.hostPointer;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(result) = static_cast<unsigned>(all.isManaged);
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(result) = 0;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return hipMemGetAddressRange(static_cast<hipDeviceptr_t*>(result), nullptr, pointer);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return hipMemGetAddressRange(nullptr, static_cast<size_t*>(result), pointer);
    default:
      return note(hipErrorNotSupported);
  }
}

// Pools: what is asked of one comes from the heap; its attributes are remembered and change
// nothing.

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  if (!pool || device != 0) return note(hipErrorInvalidValue);
  *pool = default_pool();
  return hipSuccess;
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return hipDeviceGetDefaultMemPool(pool, device);
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return device == 0 && pool ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* /*properties*/) {
  if (!pool) return note(hipErrorInvalidValue);
  *pool = new ihipMemPoolHandle_t;
  return hipSuccess;
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  if (!pool || pool == default_pool()) return note(hipErrorInvalidValue);
  delete pool;
  return hipSuccess;
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t /*keep*/) {
  return pool ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (!pool || !value) return note(hipErrorInvalidValue);
  pool->attributes[attribute] = attribute < hipMemPoolAttrReleaseThreshold
                                    ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                    : *static_cast<std::uint64_t*>(value);
  return hipSuccess;
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (!pool || !value) return note(hipErrorInvalidValue);
  const std::uint64_t known = pool->attributes[attribute];
  if (attribute < hipMemPoolAttrReleaseThreshold)
    *static_cast<int*>(value) = static_cast<int>(known);
  else
    *static_cast<std::uint64_t*>(value) = known;
  return hipSuccess;
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* /*descriptions*/,
                               size_t /*count*/) {
  return pool ? hipSuccess : note(hipErrorInvalidValue);
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  return pool ? hipMallocAsync(pointer, bytes, stream) : note(hipErrorInvalidValue);
}

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"
