// The memory of the virtual device: host memory, at addresses that are the same in every run.
//
// A kernel's addresses go into traces and decide cache sets, so they must not depend on the host's
// address layout. Allocations are therefore placed upwards from a fixed address that no program,
// library or sanitizer uses, page by page as a real driver does, with an unmapped gap behind each:
// host code that runs past an allocation faults there, kernels are checked to the byte by the
// engine. Addresses are never reused; a 47-bit space is larger than any program's traffic in
// allocations.
//
// Pages come from the kernel untouched, so an array that nobody reads costs nothing: that is what
// lets a 192 GB machine's programs be traced on a laptop. The memory starts as zeros, where a real
// device has leftovers: runs are reproducible, and a program that reads what it never wrote is not
// noticed here.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/exec.h"

namespace swizzleperf::vgpu::runtime {

enum class MemoryKind {
  kDevice,      ///< hipMalloc and its like
  kManaged,     ///< hipMallocManaged
  kVariable,    ///< a __device__, __constant__ or __managed__ variable
  kHost,        ///< hipHostMalloc
  kRegistered,  ///< the program's own memory, made known with hipHostRegister
};

class Heap {
 public:
  /// Null when the limit or the system forbids it. `bytes` may be 0 only for kRegistered.
  void* allocate(std::uint64_t bytes, MemoryKind kind);

  /// Makes memory of the program known to kernels. False when it overlaps what is known.
  bool adopt(void* base, std::uint64_t bytes);

  /// From now on allocations are called as CUDA calls them.
  void speak_cuda() { cuda_ = true; }

  /// Names an allocation in messages and traces.
  void rename(const void* base, std::string name);

  /// False when `base` is not the start of an allocation of one of these kinds.
  bool release(void* base, std::initializer_list<MemoryKind> kinds);

  struct Found {
    const Allocation* allocation;
    MemoryKind kind;
  };
  /// The allocation that contains [address, address + bytes); allocation is null where there is
  /// none.
  [[nodiscard]] Found find(const void* address, std::uint64_t bytes = 1) const;

  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  [[nodiscard]] bool holds_registered() const;
  [[nodiscard]] std::uint64_t used() const { return used_; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }

  /// From now on the contents of allocations are remembered when they are released.
  void keep_digests() { keep_digests_ = true; }
  /// A hash over all memory of the device that there is or was, in allocation order.
  [[nodiscard]] std::string digest() const;

 private:
  struct Place {
    MemoryKind kind;
    std::uint64_t serial;  ///< counts allocations, for names and the digest's order
  };
  struct Contents {
    std::uint64_t serial;
    XXH64_hash_t hash;
  };

  std::size_t index_of(std::uint64_t base) const;
  void insert(std::uint64_t base, std::uint64_t bytes, MemoryKind kind);
  Contents contents(std::size_t index) const;

  DeviceMemory memory_;
  std::vector<Place> places_;  // of memory_.allocations, in the same order
  std::uint64_t next_ = 0x2000'0000'0000;
  std::uint64_t used_ = 0;
  std::uint64_t limit_ = physical_memory();
  std::uint64_t serial_ = 0;
  bool keep_digests_ = false;
  bool cuda_ = false;
  std::vector<Contents> released_;

  static std::uint64_t physical_memory();
};

}  // namespace swizzleperf::vgpu::runtime
