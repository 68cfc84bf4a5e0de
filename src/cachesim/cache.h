// The set-associative cache of the replay: many sets, true LRU, a line's valid and dirty sectors.
//
// This is the innermost loop of the project, and at a hundred million requests it is bound by how
// many bytes of sets move through the host's caches: eight dies' L2 do not fit into its L1, nor a
// last level of 256 MB into anything. So a set of 16 ways is one cache line of the host:
//
//     tags   16 x u16   what tells a set's lines apart     32 bytes
//     ages   16 x u8    0 = most recent ... 15 = next out   16 bytes
//     valid  16 x u4    sectors present                      8 bytes
//     dirty  16 x u4    sectors written                      8 bytes
//
// Tags are the part of a line's number that its set does not tell (geometry.h), so 16 bits are
// enough for arrays of 17 GB in a cache of 2048 sets of 128-byte lines. Where they are not, the
// same code runs with 32-bit tags and two host lines a set.
//
// Looking up is two SSE compares and one movemask; touching a way increments every smaller age in
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
/// Sixteen ways of a set.
template <typename Tag>
struct alignas(64) WayGroup {
  static constexpr Tag kNone = static_cast<Tag>(~Tag{0});

  std::array<Tag, kGroup> tags;
  std::array<std::uint8_t, kGroup> ages;
  std::uint64_t valid;  // four bits a way
  std::uint64_t dirty;
};

#if defined(__SSE2__)
inline std::uint32_t match_tags(const WayGroup<std::uint16_t>& g, std::uint32_t tag) {
  const __m128i key = _mm_set1_epi16(static_cast<short>(tag));
  const auto* t = reinterpret_cast<const __m128i*>(g.tags.data());
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(
      _mm_cmpeq_epi16(_mm_load_si128(t), key), _mm_cmpeq_epi16(_mm_load_si128(t + 1), key))));
}
inline std::uint32_t match_tags(const WayGroup<std::uint32_t>& g, std::uint32_t tag) {
  const __m128i key = _mm_set1_epi32(static_cast<int>(tag));
  const auto* t = reinterpret_cast<const __m128i*>(g.tags.data());
  const __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(t), key),
                                    _mm_cmpeq_epi32(_mm_load_si128(t + 1), key));
  const __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(t + 2), key),
                                    _mm_cmpeq_epi32(_mm_load_si128(t + 3), key));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(a, b)));
}
/// SSE2 takes four instructions to spread a byte that a load from a small table saves.
inline __m128i sixteen_of(std::uint8_t value) {
  struct alignas(16) Table {
    std::array<std::array<std::uint8_t, kGroup>, 128> bytes;
    constexpr Table() : bytes() {
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i].fill(static_cast<std::uint8_t>(i));
    }
  };
  static constexpr Table kTable;
  return _mm_load_si128(reinterpret_cast<const __m128i*>(kTable.bytes[value].data()));
}

/// A mask of the ways of an age.
template <typename Tag>
inline std::uint32_t match_age(const WayGroup<Tag>& g, std::uint8_t age) {
  const __m128i ages = _mm_load_si128(reinterpret_cast<const __m128i*>(g.ages.data()));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(ages, sixteen_of(age))));
}
/// Adds one to every age below `age`; ages stay below 128, so the signed compare is right.
template <typename Tag>
inline void grow_younger(WayGroup<Tag>& g, std::uint8_t age) {
  auto* p = reinterpret_cast<__m128i*>(g.ages.data());
  const __m128i ages = _mm_load_si128(p);
  const __m128i younger = _mm_cmplt_epi8(ages, sixteen_of(age));
  _mm_store_si128(p, _mm_sub_epi8(ages, younger));
}
#else
template <typename Tag>
inline std::uint32_t match_tags(const WayGroup<Tag>& g, std::uint32_t tag) {
  std::uint32_t mask = 0;
  for (std::uint32_t w = 0; w < kGroup; ++w) mask |= std::uint32_t{g.tags[w] == tag} << w;
  return mask;
}
template <typename Tag>
inline std::uint32_t match_age(const WayGroup<Tag>& g, std::uint8_t age) {
  std::uint32_t mask = 0;
  for (std::uint32_t w = 0; w < kGroup; ++w) mask |= std::uint32_t{g.ages[w] == age} << w;
  return mask;
}
template <typename Tag>
inline void grow_younger(WayGroup<Tag>& g, std::uint8_t age) {
  for (std::uint8_t& a : g.ages) a = static_cast<std::uint8_t>(a + (a < age ? 1 : 0));
}
#endif

/// What left the cache to make room.
struct Evicted {
  std::uint32_t tag = 0;
  std::uint8_t dirty = 0;
};

/// Sets x ways, up to 64 ways, lines of up to four sectors. Not thread-safe.
template <typename Tag>
class Cache {
 public:
  static constexpr bool kOneLineASet = false;

  Cache(std::uint32_t sets, std::uint32_t ways)
      : ways_(ways), groups_((ways + kGroup - 1) / kGroup), data_(std::size_t{sets} * groups_) {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      Group& g = data_[i];
      g.tags.fill(Group::kNone);
      g.valid = 0;
      g.dirty = 0;
      // Ways are filled from the last age down, so empty ways go first; padding is never a victim.
      const auto first = static_cast<std::uint32_t>(i % groups_) * kGroup;
      for (std::uint32_t w = 0; w < kGroup; ++w) {
        g.ages[w] = static_cast<std::uint8_t>(first + w < ways_ ? first + w : kPadding);
      }
    }
  }

  void prefetch(std::uint32_t set) const {
    const auto* groups = reinterpret_cast<const char*>(data_.data() + std::size_t{set} * groups_);
    for (std::size_t line = 0; line < sizeof(Group); line += 64) __builtin_prefetch(groups + line);
  }

  /// Touches `sectors` of a line, allocating it if absent (evicting the least recently used); a
  /// write also makes them dirty. Returns the sectors that were present before.
  [[gnu::always_inline]] std::uint8_t access(std::uint32_t set, std::uint32_t tag,
                                             std::uint8_t sectors, bool write, Evicted& evicted) {
    Group* groups = data_.data() + std::size_t{set} * groups_;
    // Sixteen ways or fewer is the common case; only its hits are worth being inline.
    if (groups_ > 1) return access_wide(groups, tag, sectors, write, evicted);
    if (const std::uint32_t mask = match_tags(*groups, tag); mask != 0) {
      return hit(groups, 1, *groups, mask, sectors, write);
    }
    replace(groups, 1, tag, sectors, write, evicted);
    return 0;
  }

  /// Makes sectors of a line present that came along with others, if the line is there.
  void add(std::uint32_t set, std::uint32_t tag, std::uint8_t sectors) {
    Group* groups = data_.data() + std::size_t{set} * groups_;
    for (std::uint32_t i = 0; i < groups_; ++i) {
      if (const std::uint32_t mask = match_tags(groups[i], tag); mask != 0) {
        groups[i].valid |= at_way(sectors, static_cast<std::uint32_t>(std::countr_zero(mask)));
      }
    }
  }

  /// Takes what is dirty of a line, which stays. Returns its sectors.
  std::uint8_t clean(std::uint32_t set, std::uint32_t tag) {
    Group* groups = data_.data() + std::size_t{set} * groups_;
    for (std::uint32_t i = 0; i < groups_; ++i) {
      const std::uint32_t mask = groups[i].dirty == 0 ? 0 : match_tags(groups[i], tag);
      if (mask == 0) continue;
      const auto way = static_cast<std::uint32_t>(std::countr_zero(mask));
      const std::uint8_t dirty = sectors_of(groups[i].dirty, way);
      groups[i].dirty &= ~at_way(15, way);
      return dirty;
    }
    return 0;
  }

  /// Calls visit(set, tag, dirty sectors) for every line that holds written data.
  template <typename Visit>
  void for_each_dirty(const Visit& visit) const {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Group& g = data_[i];
      for (std::uint32_t w = 0; g.dirty != 0 && w < kGroup; ++w) {
        if (const std::uint8_t dirty = sectors_of(g.dirty, w); dirty != 0) {
          visit(static_cast<std::uint32_t>(i / groups_), std::uint32_t{g.tags[w]}, dirty);
        }
      }
    }
  }

 private:
  using Group = WayGroup<Tag>;
  static constexpr std::uint32_t kPadding = 127;
  static constexpr std::uint32_t kSectorBits = 4;

  static std::uint8_t sectors_of(std::uint64_t all, std::uint32_t way) {
    return static_cast<std::uint8_t>(all >> (way * kSectorBits) & 15U);
  }
  static std::uint64_t at_way(std::uint8_t sectors, std::uint32_t way) {
    return std::uint64_t{sectors} << (way * kSectorBits);
  }

  [[gnu::noinline]] std::uint8_t access_wide(Group* groups, std::uint32_t tag, std::uint8_t sectors,
                                             bool write, Evicted& evicted) {
    for (std::uint32_t i = 0; i < groups_; ++i) {
      if (const std::uint32_t mask = match_tags(groups[i], tag); mask != 0) {
        return hit(groups, groups_, groups[i], mask, sectors, write);
      }
    }
    replace(groups, groups_, tag, sectors, write, evicted);
    return 0;
  }

  [[gnu::always_inline]] static std::uint8_t hit(Group* groups, std::uint32_t count, Group& g,
                                                 std::uint32_t mask, std::uint8_t sectors,
                                                 bool write) {
    const auto way = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint8_t before = sectors_of(g.valid, way);
    g.valid |= at_way(sectors, way);
    if (write) g.dirty |= at_way(sectors, way);
    touch(groups, count, g, way);
    return before;
  }

  [[gnu::noinline]] void replace(Group* groups, std::uint32_t count, std::uint32_t tag,
                                 std::uint8_t sectors, bool write, Evicted& evicted) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t mask = match_age(groups[i], static_cast<std::uint8_t>(ways_ - 1));
      if (mask == 0) continue;
      const auto way = static_cast<std::uint32_t>(std::countr_zero(mask));
      Group& g = groups[i];
      evicted = {g.tags[way], sectors_of(g.dirty, way)};
      g.tags[way] = static_cast<Tag>(tag);
      g.valid = (g.valid & ~at_way(15, way)) | at_way(sectors, way);
      g.dirty = (g.dirty & ~at_way(15, way)) | (write ? at_way(sectors, way) : 0);
      touch(groups, count, g, way);
      return;
    }
  }

  [[gnu::always_inline]] static void touch(Group* groups, std::uint32_t count, Group& g,
                                           std::uint32_t way) {
    const std::uint8_t age = g.ages[way];
    for (std::uint32_t i = 0; i < count; ++i) grow_younger(groups[i], age);
    g.ages[way] = 0;
  }

  std::uint32_t ways_;
  std::uint32_t groups_;
  std::vector<Group, HugePageAllocator<Group>> data_;
};

/// A cache of a launch so small that none of its lines ever has to go: every line is a set of its
/// own, a byte of sectors. The rest of Cache's interface, so that the replay is the same code.
class RoomyCache {
 public:
  static constexpr bool kOneLineASet = true;

  RoomyCache(std::uint32_t lines, std::uint32_t /*ways*/)
      : sectors_((lines + kWord - 1) / kWord * kWord) {}

  void prefetch(std::uint32_t) const {}

  std::uint8_t access(std::uint32_t line, std::uint32_t /*tag*/, std::uint8_t sectors, bool write,
                      Evicted&) {
    std::uint8_t& now = sectors_[line];
    const std::uint8_t before = now & 15U;
    now |= static_cast<std::uint8_t>(write ? sectors | sectors << 4 : sectors);
    return before;
  }

  template <typename Visit>
  void for_each_dirty(const Visit& visit) const {
    constexpr std::uint64_t kDirty = 0xf0f0f0f0f0f0f0f0;
    for (std::uint32_t first = 0; first < sectors_.size(); first += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, sectors_.data() + first, kWord);
      if ((word & kDirty) == 0) continue;  // as nearly everywhere
      for (std::uint32_t line = first; line < first + kWord; ++line)
        if (sectors_[line] > 15) visit(line, 0U, static_cast<std::uint8_t>(sectors_[line] >> 4));
    }
  }

 private:
  static constexpr std::uint32_t kWord = 8;
  std::vector<std::uint8_t> sectors_;  // present in the low half, dirty in the high one
};

}  // namespace swizzleperf::cachesim
