// See heap.h. Small arrays start at a page, large ones at 2 MiB, as the AMD driver aligns them;
// that also lets the system back them with huge pages, without which touching 128 MB costs 30000
// faults.
#include "vgpu/runtime/heap.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace swizzleperf::vgpu::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kHugePage = 2 << 20;
constexpr std::size_t kMostGaps = 30'000;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void* to_pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): device addresses
}

bool belongs_to_device(MemoryKind kind) {
  return kind != MemoryKind::kHost && kind != MemoryKind::kRegistered;
}

const char* word(MemoryKind kind, bool cuda) {
  switch (kind) {
    case MemoryKind::kDevice:
      return cuda ? "cudaMalloc" : "hipMalloc";
    case MemoryKind::kManaged:
      return cuda ? "cudaMallocManaged" : "hipMallocManaged";
    case MemoryKind::kVariable:
      return "device variable";
    case MemoryKind::kHost:
      return cuda ? "cudaMallocHost" : "hipHostMalloc";
    case MemoryKind::kRegistered:
      return cuda ? "cudaHostRegister" : "hipHostRegister";
  }
  return "";
}

}  // namespace

std::uint64_t Heap::physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

void* Heap::allocate(std::uint64_t bytes, MemoryKind kind) {
  if (bytes > limit_ || used_ > limit_ - bytes) return nullptr;
  const std::uint64_t unit = bytes >= kHugePage ? kHugePage : kPage;
  const std::uint64_t base = round_up(next_, unit);
  const std::uint64_t mapped = round_up(bytes, unit);
  void* const place =
      mmap(to_pointer(base), mapped, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  if (unit == kHugePage) madvise(place, mapped, MADV_HUGEPAGE);
  // The system bounds the number of separate mappings; beyond a half of that, neighbours touch.
  next_ = base + mapped + (places_.size() < kMostGaps ? kPage : 0);
  used_ += bytes;
  insert(base, bytes, kind);
  return place;
}

bool Heap::adopt(void* base, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(base);
  for (const Allocation& known : memory_.allocations) {
    if (address < known.base + known.bytes && known.base < address + bytes) return false;
  }
  insert(address, bytes, MemoryKind::kRegistered);
  return true;
}

void Heap::insert(std::uint64_t base, std::uint64_t bytes, MemoryKind kind) {
  auto& all = memory_.allocations;
  const auto at = std::upper_bound(all.begin(), all.end(), base,
                                   [](std::uint64_t b, const Allocation& a) { return b < a.base; });
  const auto index = at - all.begin();
  all.insert(at, {base, bytes, fmt::format("{} #{}", word(kind, cuda_), ++serial_)});
  places_.insert(places_.begin() + index, {kind, serial_});
}

void Heap::rename(const void* base, std::string name) {
  const std::size_t index = index_of(reinterpret_cast<std::uint64_t>(base));
  if (index < places_.size()) memory_.allocations[index].name = std::move(name);
}

bool Heap::release(void* base, std::initializer_list<MemoryKind> kinds) {
  const std::size_t index = index_of(reinterpret_cast<std::uint64_t>(base));
  if (index == places_.size() ||
      std::find(kinds.begin(), kinds.end(), places_[index].kind) == kinds.end()) {
    return false;
  }
  const Place place = places_[index];
  if (keep_digests_ && belongs_to_device(place.kind)) released_.push_back(contents(index));
  if (place.kind != MemoryKind::kRegistered) {
    const std::uint64_t bytes = memory_.allocations[index].bytes;
    const std::uint64_t mapped = round_up(bytes, bytes >= kHugePage ? kHugePage : kPage);
    // A hole between neighbours that touch is one mapping more, which there may be no room for.
    if (munmap(base, mapped) != 0) madvise(base, mapped, MADV_DONTNEED);
    used_ -= bytes;
  }
  memory_.allocations.erase(memory_.allocations.begin() + static_cast<std::ptrdiff_t>(index));
  places_.erase(places_.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

std::size_t Heap::index_of(std::uint64_t base) const {
  const auto& all = memory_.allocations;
  const auto at = std::lower_bound(all.begin(), all.end(), base,
                                   [](const Allocation& a, std::uint64_t b) { return a.base < b; });
  return at != all.end() && at->base == base ? static_cast<std::size_t>(at - all.begin())
                                             : all.size();
}

Heap::Found Heap::find(const void* address, std::uint64_t bytes) const {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const auto& all = memory_.allocations;
  const auto after =
      std::upper_bound(all.begin(), all.end(), begin,
                       [](std::uint64_t b, const Allocation& a) { return b < a.base; });
  if (after == all.begin()) return {nullptr, MemoryKind::kHost};
  const auto index = static_cast<std::size_t>(after - all.begin()) - 1;
  const std::uint64_t offset = begin - all[index].base;
  if (offset > all[index].bytes || bytes > all[index].bytes - offset) {
    return {nullptr, MemoryKind::kHost};
  }
  return {&all[index], places_[index].kind};
}

bool Heap::holds_registered() const {
  return std::any_of(places_.begin(), places_.end(),
                     [](const Place& p) { return p.kind == MemoryKind::kRegistered; });
}

Heap::Contents Heap::contents(std::size_t index) const {
  const Allocation& allocation = memory_.allocations[index];
  return {places_[index].serial, XXH3_64bits(to_pointer(allocation.base), allocation.bytes)};
}

std::string Heap::digest() const {
  std::vector<Contents> all = released_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (belongs_to_device(places_[i].kind)) all.push_back(contents(i));
  }
  std::sort(all.begin(), all.end(),
            [](const Contents& a, const Contents& b) { return a.serial < b.serial; });
  std::vector<XXH64_hash_t> hashes;
  hashes.reserve(all.size());
  for (const Contents& one : all) hashes.push_back(one.hash);
  const XXH128_hash_t hash = XXH3_128bits(hashes.data(), hashes.size() * sizeof hashes[0]);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace swizzleperf::vgpu::runtime
