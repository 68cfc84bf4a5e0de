// What kernels allocate themselves (malloc and new in device code).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace swizzleperf::vgpu {

/// Hands out pieces of one stretch of device memory; the runtime owns that memory.
class DeviceHeap {
 public:
  DeviceHeap(std::uint64_t base, std::uint64_t bytes);

  /// 0 when there is no room, as malloc does.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False when `address` is not the start of a piece in use.
  bool release(std::uint64_t address);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  // begin -> bytes, never touching
  std::map<std::uint64_t, std::uint64_t> used_;
};

}  // namespace swizzleperf::vgpu
