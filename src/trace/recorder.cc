// See recorder.h. The hot path is `access`: 64 lane addresses become sorted byte ranges. Lanes
// nearly always ascend, so ranges are merged in one pass and only sorted when a lane steps back.
#include "trace/recorder.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/random.h"

namespace swizzleperf {
namespace {

// Intervals longer than this are cut: a quantum of the replay must be short against the caches.
constexpr std::size_t kEventsPerInterval = 64;

std::uint64_t hash_pattern(const Pattern& pattern) {
  std::uint64_t h = pattern.size();
  for (const ByteRange& r : pattern) {
    h = (h ^ (static_cast<std::uint64_t>(r.begin) << 32 | r.size)) * 0x9e3779b97f4a7c15ULL;
    h ^= h >> 29;
  }
  return mix64(h);
}

}  // namespace

void sort_lanes(std::uint64_t mask, const std::uint64_t* addresses,
                std::vector<std::uint64_t>& sorted) {
  sorted.clear();
  bool ascending = true;
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t a = addresses[std::countr_zero(mask)];
    ascending = ascending && (sorted.empty() || sorted.back() <= a);
    sorted.push_back(a);
  }
  if (!ascending) std::sort(sorted.begin(), sorted.end());
}

std::uint32_t PatternTable::intern(const Pattern& pattern) {
  const std::uint64_t hash = hash_pattern(pattern);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (patterns_[it->second] == pattern) return it->second;
  }
  const auto index = static_cast<std::uint32_t>(patterns_.size());
  patterns_.push_back(pattern);
  by_hash_.emplace(hash, index);
  return index;
}

void BlockRecorder::begin(std::uint32_t waves) {
  if (pending_.size() < waves) pending_.resize(waves);
  for (auto& events : pending_) events.clear();
  cost_ = {};
  recorded_ = 0;
  block_.events.clear();
  block_.intervals.clear();
}

bool BlockRecorder::access(AccessKind kind, std::uint32_t wave, std::uint64_t mask,
                           const std::uint64_t* addresses, std::uint32_t bytes) {
  if (mask == 0) return true;
  sort_lanes(mask, addresses, sorted_);

  // A pattern spans less than 4 GiB; lanes further apart than that make several events.
  constexpr std::uint64_t kSpan = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t base = sorted_.front();
  scratch_.clear();
  const auto flush = [&] {
    pending_[wave].push_back(
        {base, patterns_->intern(scratch_), kind, static_cast<std::uint8_t>(wave)});
    ++recorded_;
    scratch_.clear();
  };
  for (const std::uint64_t a : sorted_) {
    if (a + bytes - base > kSpan) {
      flush();
      base = a;
    }
    const auto begin = static_cast<std::uint32_t>(a - base);
    if (!scratch_.empty() && begin <= scratch_.back().begin + scratch_.back().size) {
      ByteRange& last = scratch_.back();
      last.size = std::max(last.size, begin + bytes - last.begin);
    } else {
      scratch_.push_back({begin, bytes});
    }
  }
  flush();
  return stop_after_ == 0 || recorded_ < 4 * stop_after_;
}

bool BlockRecorder::barrier() {
  close_interval(true);
  return stop_after_ == 0 || recorded_ < stop_after_;
}

const RawBlock& BlockRecorder::finish() {
  close_interval(false);
  return block_;
}

// Merges the waves' events round robin and cuts them into intervals, sharing the cost evenly.
void BlockRecorder::close_interval(bool barrier) {
  const std::size_t first = block_.events.size();
  std::size_t longest = 0;
  for (const auto& events : pending_) longest = std::max(longest, events.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (const auto& events : pending_) {
      if (i < events.size()) block_.events.push_back(events[i]);
    }
  }
  for (auto& events : pending_) events.clear();

  const std::size_t count = block_.events.size() - first;
  if (count == 0 && cost_ == Cost{} && !barrier) return;
  const std::size_t pieces =
      std::max<std::size_t>(1, (count + kEventsPerInterval - 1) / kEventsPerInterval);
  const double share = 1.0 / static_cast<double>(pieces);
  const Cost piece = {cost_.instructions * share, cost_.vector_ops * share,
                      cost_.matrix_flops * share, cost_.lds_bytes * share};
  for (std::size_t p = 1; p <= pieces; ++p) {
    const std::size_t end = first + std::min(count, p * kEventsPerInterval);
    block_.intervals.push_back({static_cast<std::uint32_t>(end), barrier && p == pieces, piece});
  }
  cost_ = {};
}

}  // namespace swizzleperf
