// See repeats.h.
#include "vgpu/runtime/repeats.h"

#include <cstdint>
#include <cstring>
#include <new>

namespace swizzleperf::vgpu::runtime {
namespace {

constexpr std::uint64_t kMostInVain = 3;
constexpr std::uint64_t kMostKept = 512 << 20;  ///< bytes of changes, of all launches together

void* to_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): device addresses
}

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

/// All that makes two launches equal, but for memory.
std::vector<std::byte> identity(const Kernel& kernel, const Launch& launch) {
  std::vector<std::byte> all;
  append(all, reinterpret_cast<std::uintptr_t>(kernel.info));
  append(all, launch.grid);
  append(all, launch.block);
  append(all, launch.dynamic_lds_bytes);
  all.insert(all.end(), launch.kernargs.begin(), launch.kernargs.end());
  return all;
}

}  // namespace

Repeats::Hash Repeats::hash_of(const void* data, std::uint64_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.high64, hash.low64};
}

/// Of each allocation where it lies and what it holds.
std::vector<Repeats::Hash> Repeats::contents(const Heap& heap) {
  std::vector<Hash> all;
  for (const Allocation& a : heap.memory().allocations) {
    all.emplace_back(a.base, a.bytes);
    all.push_back(hash_of(to_pointer(a.base), a.bytes));
  }
  return all;
}

void Repeats::record(Known& known, const Heap& heap, const std::vector<Hash>& before) {
  for (const Change& change : known.changes) kept_bytes_ -= change.contents.size();
  known.changes.clear();
  known.recorded = false;
  const std::vector<Hash> after = contents(heap);
  const auto& allocations = heap.memory().allocations;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    if (after[2 * i + 1] != before[2 * i + 1]) bytes += allocations[i].bytes;
  }
  if (kept_bytes_ + bytes > kMostKept) return;
  try {
    for (std::size_t i = 0; i < allocations.size(); ++i) {
      if (after[2 * i + 1] == before[2 * i + 1]) continue;
      const auto* const data = static_cast<const std::byte*>(to_pointer(allocations[i].base));
      known.changes.push_back({allocations[i].base, {data, data + allocations[i].bytes}});
    }
  } catch (const std::bad_alloc&) {  // no reason to fail: the next one is executed
    known.changes.clear();
    return;
  }
  kept_bytes_ += bytes;
  known.memory = hash_of(before.data(), before.size() * sizeof before[0]);
  known.recorded = true;
}

void Repeats::run(const Kernel& kernel, const Launch& launch, Heap& heap,
                  const std::function<void()>& execute) {
  const std::vector<std::byte> own = identity(kernel, launch);
  Known& known = known_[hash_of(own.data(), own.size())];
  const bool first = known.seen++ == 0;
  // The program's own memory, made known to the device, may be gone by now.
  if (first || !kernel.info->repeatable || known.in_vain >= kMostInVain ||
      heap.holds_registered()) {
    return execute();
  }
  const std::vector<Hash> before = contents(heap);
  if (known.recorded && known.memory == hash_of(before.data(), before.size() * sizeof before[0])) {
    for (const Change& change : known.changes) {
      std::memcpy(to_pointer(change.base), change.contents.data(), change.contents.size());
    }
    known.in_vain = 0;
    ++spared_;
    return;
  }
  if (known.recorded) ++known.in_vain;
  execute();
  record(known, heap, before);
  if (!known.recorded) known.in_vain = kMostInVain;
}

}  // namespace swizzleperf::vgpu::runtime
