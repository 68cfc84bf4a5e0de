// HIP source to running kernel, for tests: compiles with clang as a user's program is compiled,
// keeps device buffers, packs arguments, runs in both modes and compares what they record.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/exec.h"

namespace swizzleperf::vgpu::test {

/// Bitcode of `source` (HIP's headers are included for it). Compiled once a process and text.
const std::vector<std::byte>& compile(const std::string& source,
                                      const std::string& arch = "gfx942");

/// Host memory that kernels may touch.
class Device {
 public:
  explicit Device(const std::string& source, const std::string& arch = "gfx942");

  template <class T>
  T* buffer(const std::vector<T>& values, const std::string& name = "buffer") {
    auto* p = static_cast<T*>(allocate(values.size() * sizeof(T), name));
    std::memcpy(p, values.data(), values.size() * sizeof(T));
    return p;
  }
  void* allocate(std::size_t bytes, const std::string& name);

  /// The kernel whose name begins with `name`.
  const KernelInfo& kernel(const std::string& name) const;
  Module& module() { return *module_; }
  const DeviceMemory& memory() const { return memory_; }
  void* variable(const std::string& symbol);

  template <class... Args>
  std::vector<std::byte> pack(const KernelInfo& info, const Args&... args) const {
    std::vector<std::byte> bytes(info.kernarg_bytes + 8);
    std::size_t k = 0;
    (put(bytes, info, k++, &args, sizeof args), ...);
    EXPECT_EQ(k, info.arg_offset.size());
    return bytes;
  }

  /// Runs the grid functionally, after checking on every block that address mode records what
  /// functional mode does (on copies of all buffers).
  template <class... Args>
  void launch(const std::string& name, Dim3 grid, Dim3 block, std::uint32_t lds,
              const Args&... args) {
    const KernelInfo& info = kernel(name);
    const auto kernargs = pack(info, args...);
    Launch l{grid, block, lds, kernargs, nullptr, 50'000'000};
    compare_modes(info, l);
    module_->run_grid(info, l, memory_, 2);
  }

  void compare_modes(const KernelInfo& info, const Launch& launch);

 private:
  static void put(std::vector<std::byte>& bytes, const KernelInfo& info, std::size_t k,
                  const void* value, std::size_t size);

  std::unique_ptr<Module> module_;
  std::vector<std::unique_ptr<std::byte[]>> storage_;
  DeviceMemory memory_;
};

/// C++ compiled for this CPU.
class HostLibrary {
 public:
  explicit HostLibrary(const std::string& source);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }

 private:
  [[nodiscard]] void* symbol(const std::string& name) const;
  void* handle_;
};

/// One access of a block, address by address.
struct Recorded {
  std::vector<RawEvent> events;
  std::vector<Interval> intervals;
  std::vector<Pattern> patterns;
};
Recorded record(Module& module, const KernelInfo& info, const Launch& launch, const Dim3& block,
                Mode mode, const DeviceMemory& memory);

}  // namespace swizzleperf::vgpu::test
