// First fit in the order of addresses: simple, and the same for the same sequence of requests.
#include "vgpu/exec/device_heap.h"

#include <algorithm>
#include <iterator>

namespace swizzleperf::vgpu {
namespace {

constexpr std::uint64_t kGrain = 16;  // alignment of malloc

}  // namespace

DeviceHeap::DeviceHeap(std::uint64_t base, std::uint64_t bytes) { free_[base] = bytes; }

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes > UINT64_MAX - kGrain) return 0;
  const std::uint64_t size = std::max(kGrain, (bytes + kGrain - 1) / kGrain * kGrain);
  const std::scoped_lock lock(mutex_);
  const auto fit = std::find_if(free_.begin(), free_.end(),
                                [&](const auto& piece) { return piece.second >= size; });
  if (fit == free_.end()) return 0;
  const auto [begin, available] = *fit;
  free_.erase(fit);
  if (available > size) free_[begin + size] = available - size;
  used_[begin] = size;
  return begin;
}

bool DeviceHeap::release(std::uint64_t address) {
  const std::scoped_lock lock(mutex_);
  const auto piece = used_.find(address);
  if (piece == used_.end()) return false;
  std::uint64_t begin = piece->first;
  std::uint64_t size = piece->second;
  used_.erase(piece);
  auto after = free_.lower_bound(begin);
  if (after != free_.end() && begin + size == after->first) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
    }
  }
  free_[begin] = size;
  return true;
}

}  // namespace swizzleperf::vgpu
