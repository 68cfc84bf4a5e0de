// The set-associative cache of the replay: many sets, true LRU, a line's valid and dirty sectors.
//
// This is the innermost loop of the project, so its layout is the point. A set of 16 ways is two
// cache lines of the host:
//
//     tags   16 x u32   line numbers                       64 bytes
//     ages   16 x u8    0 = most recent ... 15 = next out   16 bytes
//     valid  16 x u8    sectors present                     16 bytes
//     dirty  16 x u8    sectors written                     16 bytes
//
// Looking up is four SSE compares and one movemask; touching a way increments every smaller age in
// one subtraction; the victim is the way whose age is ways-1. No branch depends on data except hit
// or miss. Rejected: time stamps (the victim needs a 16-way minimum), move-to-front lists (shifts
// on every hit), a tree PLRU (cheaper, but no vendor says so either, and LRU has a simple
// reference). Sets of more than 16 ways are several such groups whose ages run through all of them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/huge_pages.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace swizzleperf::cachesim {

constexpr std::uint32_t kGroup = 16;
constexpr std::uint32_t kNoLine = 0xffffffffU;

/// Sixteen ways of a set.
struct alignas(64) WayGroup {
  std::array<std::uint32_t, kGroup> tags;
  std::array<std::uint8_t, kGroup> ages;
  std::array<std::uint8_t, kGroup> valid;
  std::array<std::uint8_t, kGroup> dirty;
};

#if defined(__SSE2__)
inline std::uint32_t match_tags(const WayGroup& g, std::uint32_t line) {
  const __m128i key = _mm_set1_epi32(static_cast<int>(line));
  const auto* t = reinterpret_cast<const __m128i*>(g.tags.data());
  const __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(t), key),
                                    _mm_cmpeq_epi32(_mm_load_si128(t + 1), key));
  const __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(t + 2), key),
                                    _mm_cmpeq_epi32(_mm_load_si128(t + 3), key));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(a, b)));
}
inline std::uint32_t match_age(const WayGroup& g, std::uint8_t age) {
  const __m128i ages = _mm_load_si128(reinterpret_cast<const __m128i*>(g.ages.data()));
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(ages, _mm_set1_epi8(static_cast<char>(age)))));
}
/// Adds one to every age below `age`; ages stay below 128, so the signed compare is right.
inline void grow_younger(WayGroup& g, std::uint8_t age) {
  auto* p = reinterpret_cast<__m128i*>(g.ages.data());
  const __m128i ages = _mm_load_si128(p);
  const __m128i younger = _mm_cmplt_epi8(ages, _mm_set1_epi8(static_cast<char>(age)));
  _mm_store_si128(p, _mm_sub_epi8(ages, younger));
}
#else
inline std::uint32_t match_tags(const WayGroup& g, std::uint32_t line) {
  std::uint32_t mask = 0;
  for (std::uint32_t w = 0; w < kGroup; ++w) mask |= std::uint32_t{g.tags[w] == line} << w;
  return mask;
}
inline std::uint32_t match_age(const WayGroup& g, std::uint8_t age) {
  std::uint32_t mask = 0;
  for (std::uint32_t w = 0; w < kGroup; ++w) mask |= std::uint32_t{g.ages[w] == age} << w;
  return mask;
}
inline void grow_younger(WayGroup& g, std::uint8_t age) {
  for (std::uint8_t& a : g.ages) a = static_cast<std::uint8_t>(a + (a < age ? 1 : 0));
}
#endif

/// What left the cache to make room.
struct Evicted {
  std::uint32_t line = kNoLine;
  std::uint8_t dirty = 0;
};

/// Sets x ways, up to 64 ways. Not thread-safe.
class Cache {
 public:
  Cache(std::uint32_t sets, std::uint32_t ways)
      : ways_(ways), groups_((ways + kGroup - 1) / kGroup), data_(std::size_t{sets} * groups_) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      WayGroup& g = data_[i];
      g.tags.fill(kNoLine);
      g.valid.fill(0);
      g.dirty.fill(0);
      // Ways are filled from the last age down, so empty ways go first; padding is never a victim.
      const auto first = static_cast<std::uint32_t>(i % groups_) * kGroup;
      for (std::uint32_t w = 0; w < kGroup; ++w) {
        g.ages[w] = static_cast<std::uint8_t>(first + w < ways_ ? first + w : kPadding);
      }
    }
  }

  void prefetch(std::uint32_t set) const {
    const auto* groups = reinterpret_cast<const char*>(data_.data() + std::size_t{set} * groups_);
    __builtin_prefetch(groups);
    __builtin_prefetch(groups + 64);
  }

  /// Touches `sectors` of a line, allocating it if absent (evicting the least recently used); a
  /// write also makes them dirty. Returns the sectors that were present before.
  std::uint8_t access(std::uint32_t set, std::uint32_t line, std::uint8_t sectors, bool write,
                      Evicted& evicted) {
    WayGroup* groups = data_.data() + std::size_t{set} * groups_;
    // Sixteen ways or fewer is the common case; with the count known, the loops below vanish.
    return groups_ == 1 ? access_in(groups, 1, line, sectors, write, evicted)
                        : access_in(groups, groups_, line, sectors, write, evicted);
  }

  /// Calls visit(line, dirty sectors) for every line that holds written data.
  template <typename Visit>
  void for_each_dirty(const Visit& visit) const {
    for (const WayGroup& g : data_) {
      for (std::uint32_t w = 0; w < kGroup; ++w) {
        if (g.dirty[w] != 0) visit(g.tags[w], g.dirty[w]);
      }
    }
  }

 private:
  static constexpr std::uint32_t kPadding = 127;

  [[gnu::always_inline]] std::uint8_t access_in(WayGroup* groups, std::uint32_t count,
                                                std::uint32_t line, std::uint8_t sectors,
                                                bool write, Evicted& evicted) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const std::uint32_t mask = match_tags(groups[i], line); mask != 0) {
        const auto way = static_cast<std::uint32_t>(std::countr_zero(mask));
        WayGroup& g = groups[i];
        const std::uint8_t before = g.valid[way];
        g.valid[way] |= sectors;
        if (write) g.dirty[way] |= sectors;
        touch(groups, count, g, way);
        return before;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const std::uint32_t mask = match_age(groups[i], static_cast<std::uint8_t>(ways_ - 1));
          mask != 0) {
        const auto way = static_cast<std::uint32_t>(std::countr_zero(mask));
        WayGroup& g = groups[i];
        evicted = {g.tags[way], g.dirty[way]};
        g.tags[way] = line;
        g.valid[way] = sectors;
        g.dirty[way] = write ? sectors : 0;
        touch(groups, count, g, way);
        break;
      }
    }
    return 0;
  }

  [[gnu::always_inline]] static void touch(WayGroup* groups, std::uint32_t count, WayGroup& g,
                                           std::uint32_t way) {
    const std::uint8_t age = g.ages[way];
    for (std::uint32_t i = 0; i < count; ++i) grow_younger(groups[i], age);
    g.ages[way] = 0;
  }

  std::uint32_t ways_;
  std::uint32_t groups_;
  std::vector<WayGroup, HugePageAllocator<WayGroup>> data_;
};

}  // namespace swizzleperf::cachesim
