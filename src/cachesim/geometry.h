// Which set a line falls into, and which sets a sample keeps.
//
// Vendors publish neither hash. Three shapes cover what is known (machine.h, SetIndex); the hashes
// here are ours and only stand for "spreads all address bits". The last-level set is chosen so that
// it determines the L2 set (its high part is the L2 set, its low part a hash of the tag): a sample
// of whole L2 sets then contains whole last-level sets, and both levels can be sampled together.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>

#include "base/random.h"
#include "swizzleperf/machine.h"

namespace swizzleperf::cachesim {

/// Lines of a page of memory (2 KiB where lines have 128 bytes): what one activation opens.
constexpr std::uint32_t kPageLines = 16;

/// XOR of all groups of `bits` bits of a 32-bit value, by halving: for 4 bits 16, 8 and 4.
inline std::uint32_t fold(std::uint32_t value, std::uint32_t bits) {
  if (bits == 0) return 0;
  std::uint32_t width = bits;
  while (width < 16) width *= 2;
  for (; width > bits; width /= 2) value ^= value >> width;
  return (value ^ value >> bits) & ((1U << bits) - 1U);
}

inline std::uint32_t hash_line(std::uint32_t line) {
  std::uint32_t h = line * 0x9e3779b1U;
  h ^= h >> 15;
  h *= 0x85ebca77U;
  return h ^ (h >> 13);
}

/// A number in [0, bound) from 32 hashed bits.
inline std::uint32_t scale_hash(std::uint32_t hash, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{hash} * bound) >> 32);
}

/// The set index of one cache, with its constants worked out. Channelled caches have power-of-two
/// channels, stripes and sets a channel (the loader of machine models checks it).
class SetMap {
 public:
  explicit SetMap(const CacheModel& model)
      : index_(model.index),
        sets_(model.sets()),
        stripe_mask_(model.interleave_bytes / model.line_bytes - 1),
        set_mask_(model.sets() / model.channels - 1),
        stripe_bits_(bits_of(stripe_mask_ + 1)),
        channel_bits_(bits_of(model.channels)),
        set_bits_(bits_of(set_mask_ + 1)),
        group_bits_(
            index_ == SetIndex::kHashed ? bits_of(std::gcd(sets_, std::uint32_t{kPageLines})) : 0),
        group_mask_((1U << group_bits_) - 1U) {}

  [[nodiscard]] std::uint32_t sets() const { return sets_; }
  /// Neighbouring sets that hold the lines of one page, each page one line a set: a sample takes
  /// all of them or none. One where sets are not hashed.
  [[nodiscard]] std::uint32_t page_sets() const { return 1U << group_bits_; }

  /// Where a line lies: its set, and a tag that no other line of that set has.
  struct Place {
    std::uint32_t set;
    std::uint32_t tag;
  };

  [[nodiscard]] Place operator()(std::uint32_t line) const {
    Place place{};
    map(&line, &place.set, &place.tag, 1);
    return place;
  }

  /// The sets and tags of n lines: one loop a shape, which the compiler vectorises.
  void map(const std::uint32_t* line, std::uint32_t* set, std::uint32_t* tag,
           std::uint32_t n) const {
    switch (index_) {
      case SetIndex::kBits:
        for (std::uint32_t i = 0; i < n; ++i) {
          set[i] = line[i] % sets_;
          tag[i] = line[i] / sets_;
        }
        return;
      case SetIndex::kHashed:
        // Distinct hashes of one group of sets differ below the binary point. Within the group the
        // lines of a page are shuffled, so that a column of a matrix does not fall into one set.
        for (std::uint32_t i = 0; i < n; ++i) {
          const std::uint32_t hash = hash_line(line[i] >> group_bits_);
          const std::uint64_t product = std::uint64_t{hash} * (sets_ >> group_bits_);
          const auto group = static_cast<std::uint32_t>(product >> 32);
          set[i] = group << group_bits_ | ((line[i] ^ hash) & group_mask_);
          tag[i] = static_cast<std::uint32_t>(product);
        }
        return;
      case SetIndex::kHashedChannels:
        break;
    }
    // Sixteen channels are what there is; the general fold would keep a loop in the loop.
    if (channel_bits_ == 4) {
      map_channels([](std::uint32_t stripe, std::uint32_t) { return fold(stripe, 4); }, line, set,
                   tag, n);
    } else {
      map_channels(fold, line, set, tag, n);
    }
  }

  /// No line below `lines` has a larger tag.
  [[nodiscard]] std::uint32_t largest_tag(std::uint32_t lines) const {
    return index_ == SetIndex::kHashed ? ~0U : lines / sets_;
  }

 private:
  /// The fold gives back the stripe's lowest group from its higher ones, which `within` holds, so a
  /// tag need not. Constants are copied first: the compiler cannot know that results do not
  /// overwrite them.
  template <typename Fold>
  void map_channels(const Fold& fold_stripe, const std::uint32_t* line, std::uint32_t* set,
                    std::uint32_t* tag, std::uint32_t n) const {
    const SetMap m = *this;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t stripe = line[i] >> m.stripe_bits_;
      const std::uint32_t within =
          ((stripe >> m.channel_bits_) << m.stripe_bits_) | (line[i] & m.stripe_mask_);
      set[i] = fold_stripe(stripe, m.channel_bits_) << m.set_bits_ | (within & m.set_mask_);
      tag[i] = within >> m.set_bits_;
    }
  }

  static std::uint32_t bits_of(std::uint32_t power) {
    return static_cast<std::uint32_t>(std::countr_zero(power));
  }

  SetIndex index_;
  std::uint32_t sets_;
  std::uint32_t stripe_mask_;
  std::uint32_t set_mask_;
  std::uint32_t stripe_bits_;
  std::uint32_t channel_bits_;
  std::uint32_t set_bits_;
  std::uint32_t group_bits_;
  std::uint32_t group_mask_;
};

/// The die whose L2 stands before the memory of a line, where lines have a home; `tag` is one of
/// hashed sets, equal for the lines of a page.
inline std::uint32_t home_die(std::uint32_t set, std::uint32_t tag, std::uint32_t dies) {
  return scale_hash(hash_line(tag ^ set * 0x9e3779b1U), dies);
}

/// How many last-level sets stand behind one L2 set (at least one). The last level holds lines as
/// long as L2's, whatever the model says of its own: its capacity is kept, not its line count.
inline std::uint32_t llc_sets_per_l2_set(const Machine& machine) {
  if (!machine.llc) return 0;
  const std::uint64_t set_bytes = std::uint64_t{machine.l2.line_bytes} * machine.llc->ways;
  const std::uint64_t per = machine.llc->bytes / set_bytes / machine.l2.sets();
  return static_cast<std::uint32_t>(per == 0 ? 1 : per);
}

/// The last-level set inside the group of an L2 set, by the tag that a line has there.
inline std::uint32_t llc_set_in_group(std::uint32_t tag, std::uint32_t per_l2_set) {
  return scale_hash(hash_line(tag ^ 0x5bd1e995U), per_l2_set);
}

}  // namespace swizzleperf::cachesim
