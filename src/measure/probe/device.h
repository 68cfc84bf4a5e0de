// All that holding a launch needs of a GPU's runtime: what HIP and CUDA do differently, and nothing
// else. Thinking is done above it (memory.cc, held.cc), where it is tested on the virtual GPU.
//
// An object belongs to one launch of the program. What is queued goes to the stream of that launch,
// in order; nothing is promised to have happened before synchronize().
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "swizzleperf/grid.h"

namespace swizzleperf::measure::probe {

/// A call that the runtime refused, as in "hipMemcpyAsync: hipErrorIllegalAddress".
class DeviceFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A piece of device memory.
struct Region {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
};

/// The launch as the program asked for it.
struct LaunchInfo {
  std::string symbol;
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_lds_bytes = 0;
};

/// All functions throw DeviceFault.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual std::string name() = 0;
  virtual std::uint64_t free_bytes() = 0;
  /// How much memory must be written for nothing else to be left in any cache.
  virtual std::uint64_t flush_bytes() = 0;

  /// Null when there is none left.
  virtual void* allocate(std::uint64_t bytes) = 0;
  virtual void release(void* memory) = 0;
  /// Host memory that is copied fast; null when there is none left.
  virtual void* allocate_pinned(std::uint64_t bytes) = 0;
  virtual void release_pinned(void* memory) = 0;

  virtual void fill(void* to, std::uint8_t byte, std::uint64_t bytes) = 0;        // queued
  virtual void copy_within(void* to, const void* from, std::uint64_t bytes) = 0;  // queued
  virtual void copy_in(void* to, const void* host, std::uint64_t bytes) = 0;      // queued
  virtual void copy_out(void* host, const void* from, std::uint64_t bytes) = 0;   // queued
  virtual void launch() = 0;                                                      // queued
  virtual void synchronize() = 0;

  /// An event says when the stream came by it.
  virtual void* make_event() = 0;
  virtual void record(void* event) = 0;  // queued
  virtual double milliseconds(void* from_event, void* to_event) = 0;
  virtual void release_event(void* event) = 0;
};

}  // namespace swizzleperf::measure::probe
