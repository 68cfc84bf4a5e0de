// Copies and fills. Device memory is host memory, so each is a memcpy once both ends are known to
// be what the caller says: the end that should be on the device must lie inside one allocation.
// Host pointers cannot be checked; a wrong one faults as it would on hardware.
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "vgpu/runtime/graph.h"
#include "vgpu/runtime/state.h"

namespace swizzleperf::vgpu::runtime {
namespace {

bool on_device(const void* pointer, std::size_t bytes) {
  return state().heap.find(pointer, bytes).allocation != nullptr;
}

/// Rows of `width` bytes, `pitch` bytes apart: what a copy or fill touches at one end.
struct Rows {
  std::size_t pitch;
  std::size_t width;
  std::size_t count;
  [[nodiscard]] std::size_t span() const { return pitch * (count - 1) + width; }
  [[nodiscard]] bool valid() const { return width <= pitch; }
  [[nodiscard]] bool empty() const { return width == 0 || count == 0; }
};

hipError_t check_ends(const void* to, std::size_t to_span, const void* from, std::size_t from_span,
                      hipMemcpyKind kind) {
  if (!to || !from) return hipErrorInvalidValue;
  const bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
  const bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) {
    return hipErrorInvalidMemcpyDirection;
  }
  if ((to_device && !on_device(to, to_span)) || (from_device && !on_device(from, from_span))) {
    return hipErrorInvalidValue;
  }
  return hipSuccess;
}

hipError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t count, hipMemcpyKind kind) {
  const Rows target{to_pitch, width, count};
  const Rows source{from_pitch, width, count};
  if (target.empty()) return hipSuccess;
  if (!target.valid() || !source.valid()) return hipErrorInvalidPitchValue;
  if (const hipError_t fault = check_ends(to, target.span(), from, source.span(), kind)) {
    return fault;
  }
  for (std::size_t row = 0; row < count; ++row) {
    std::memmove(static_cast<char*>(to) + row * to_pitch,
                 static_cast<const char*>(from) + row * from_pitch, width);
  }
  return hipSuccess;
}

hipError_t copy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return entry([&] { return copy_rows(to, bytes, from, bytes, bytes, 1, kind); });
}

/// The asynchronous forms: done at once, or recorded while the stream captures.
template <class Body>
hipError_t on_stream(hipStream_t stream, hipGraphNodeType type, Body body) {
  return captured(stream, type, body) ? hipSuccess : body();
}

hipError_t copy_async(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                      hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemcpy1D, [=] { return copy(to, from, bytes, kind); });
}

hipError_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height, hipMemcpyKind kind) {
  return entry([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}

template <class Unit>
hipError_t fill(void* to, Unit value, std::size_t count) {
  return entry([&] {
    if (count == 0) return hipSuccess;
    if (!on_device(to, count * sizeof(Unit))) return hipErrorInvalidValue;
    std::fill_n(static_cast<Unit*>(to), count, value);
    return hipSuccess;
  });
}

hipError_t fill_2d(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return entry([&] {
    const Rows rows{pitch, width, height};
    if (rows.empty()) return hipSuccess;
    if (!rows.valid()) return hipErrorInvalidPitchValue;
    if (!on_device(to, rows.span())) return hipErrorInvalidValue;
    for (std::size_t row = 0; row < height; ++row) {
      std::memset(static_cast<char*>(to) + row * pitch, value, width);
    }
    return hipSuccess;
  });
}

/// Only linear memory on both ends; arrays need textures, which are not supported.
hipError_t copy_3d(const hipMemcpy3DParms& p) {
  if (p.srcArray || p.dstArray) return hipErrorNotSupported;
  const auto plane = [](const hipPitchedPtr& ptr, const hipPos& pos, std::size_t z) {
    return static_cast<char*>(ptr.ptr) + ((pos.z + z) * ptr.ysize + pos.y) * ptr.pitch + pos.x;
  };
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    const hipError_t result =
        copy_rows(plane(p.dstPtr, p.dstPos, z), p.dstPtr.pitch, plane(p.srcPtr, p.srcPos, z),
                  p.srcPtr.pitch, p.extent.width, p.extent.height, p.kind);
    if (result != hipSuccess) return result;
  }
  return hipSuccess;
}

/// The part of a device variable that a symbol copy names, or null.
void* within_symbol(const void* shadow, std::size_t bytes, std::size_t offset) {
  State& s = state();
  s.modules.load_all(s.heap);
  const Symbol symbol = s.modules.symbol(shadow);
  if (!symbol.address || offset > symbol.bytes || bytes > symbol.bytes - offset) return nullptr;
  return static_cast<char*>(symbol.address) + offset;
}

}  // namespace
}  // namespace swizzleperf::vgpu::runtime

using namespace swizzleperf::vgpu::runtime;

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return copy_async(to, from, bytes, kind, stream);
}
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                               hipStream_t /*stream*/) {
  return copy(to, from, bytes, kind);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyHostToDevice);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToHost);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void* from, size_t bytes, hipStream_t stream) {
  return copy_async(to, from, bytes, hipMemcpyHostToDevice, stream);
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return copy_async(to, from, bytes, hipMemcpyDeviceToHost, stream);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
  return copy_async(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind);
}
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemcpy,
                   [=] { return copy_2d(to, to_pitch, from, from_pitch, width, height, kind); });
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters) {
  return entry([&] { return parameters ? copy_3d(*parameters) : hipErrorInvalidValue; });
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream) {
  if (!parameters) return note(hipErrorInvalidValue);
  return on_stream(stream, hipGraphNodeTypeMemcpy,
                   [copied = *parameters] { return hipMemcpy3D(&copied); });
}

hipError_t hipMemset(void* to, int value, size_t bytes) {
  return fill(to, static_cast<unsigned char>(value), bytes);
}
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset, [=] { return hipMemset(to, value, bytes); });
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return fill(to, value, count);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count,
                            hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset, [=] { return fill(to, value, count); });
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return fill(to, value, count);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count,
                             hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset, [=] { return fill(to, value, count); });
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return fill(to, value, count);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset, [=] { return fill(to, value, count); });
}
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_2d(to, pitch, value, width, height);
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset,
                   [=] { return fill_2d(to, pitch, value, width, height); });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                             hipMemcpyKind kind) {
  return entry([&] {
    void* const to = within_symbol(symbol, bytes, offset);
    return to ? copy_rows(to, bytes, from, bytes, bytes, 1, kind) : hipErrorInvalidSymbol;
  });
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemcpyToSymbol,
                   [=] { return hipMemcpyToSymbol(symbol, from, bytes, offset, kind); });
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
  return entry([&] {
    const void* const from = within_symbol(symbol, bytes, offset);
    return from ? copy_rows(to, bytes, from, bytes, bytes, 1, kind) : hipErrorInvalidSymbol;
  });
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemcpyFromSymbol,
                   [=] { return hipMemcpyFromSymbol(to, symbol, bytes, offset, kind); });
}

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return entry([&] {
    *address = within_symbol(symbol, 0, 0);
    return *address ? hipSuccess : hipErrorInvalidSymbol;
  });
}
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return entry([&] {
    *bytes = within_symbol(symbol, 0, 0) ? state().modules.symbol(symbol).bytes : 0;
    return *bytes ? hipSuccess : hipErrorInvalidSymbol;
  });
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return note(hipErrorInvalidDevice);
  return copy(to, from, bytes, hipMemcpyDeviceToDevice);
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                              size_t bytes, hipStream_t stream) {
  if (to_device != 0 || from_device != 0) return note(hipErrorInvalidDevice);
  return copy_async(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* p) {
  if (!p) return note(hipErrorInvalidValue);
  if (p->srcMemoryType == hipMemoryTypeArray || p->dstMemoryType == hipMemoryTypeArray)
    return note(hipErrorNotSupported);
  const void* const source =
      p->srcMemoryType == hipMemoryTypeHost ? p->srcHost : static_cast<const void*>(p->srcDevice);
  void* const target = p->dstMemoryType == hipMemoryTypeHost ? p->dstHost : p->dstDevice;
  const auto at = [](auto* base, std::size_t y, std::size_t pitch, std::size_t x) {
    return base + y * pitch + x;
  };
  return copy_2d(at(static_cast<char*>(target), p->dstY, p->dstPitch, p->dstXInBytes), p->dstPitch,
                 at(static_cast<const char*>(source), p->srcY, p->srcPitch, p->srcXInBytes),
                 p->srcPitch, p->WidthInBytes, p->Height, hipMemcpyDefault);
}
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* parameters, hipStream_t stream) {
  if (!parameters) return note(hipErrorInvalidValue);
  return on_stream(stream, hipGraphNodeTypeMemcpy,
                   [copied = *parameters] { return hipMemcpyParam2D(&copied); });
}
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* parameters) {
  return hipMemcpyParam2D(parameters);
}

hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const plane = static_cast<char*>(to.ptr) + z * to.ysize * to.pitch;
    if (const hipError_t fault = fill_2d(plane, to.pitch, value, extent.width, extent.height))
      return fault;
  }
  return hipSuccess;
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return on_stream(stream, hipGraphNodeTypeMemset, [=] { return hipMemset3D(to, value, extent); });
}

}  // extern "C"
