// Large arrays on large pages.
//
// The replay touches megabytes of cache sets at random; on 4 KiB pages nearly each touch misses the
// TLB as well. Where the kernel offers large pages on request (it does by default on most
// distributions), arrays of a megabyte and more ask for them. A refusal changes nothing but speed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace swizzleperf {

template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kWorthIt = std::size_t{1} << 20;

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    const std::size_t align = bytes >= kWorthIt ? kPage : alignof(T) > 64 ? alignof(T) : 64;
    void* p = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (p == nullptr) throw std::bad_alloc();
    if (bytes >= kWorthIt) (void)madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  bool operator==(const HugePageAllocator&) const { return true; }
};

}  // namespace swizzleperf
