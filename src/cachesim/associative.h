// A fully associative cache with true LRU, at some twenty nanoseconds a request.
//
// The L2 of a die holds some 32,768 lines, those of eight dies more than the host's caches. So what
// counts is how many far places a request touches. A linked list touches four: a hash slot, a node
// and its two neighbours, and as many again for the line that has to go. This touches one, a hash
// slot that holds a line and the time at which it was last asked for, where time counts requests:
//
//     time     0 . . . . . . . . horizon . . . . . . . now
//     latest   0 0 0 0 0 0 0 0 0 0 1 0 1 1 0 0 1 0 1 1
//
// One bit a time says whether it is still the latest of its line. Each 1 is a line in the cache,
// the first one is the least recently used, and what has to go goes by moving the horizon behind
// it: a line with an earlier time is not there. Its slot stays until the table is rebuilt, one pass
// in order, when times run out or half of the slots are used. There are many slots, since looking
// for a line in a second one costs more than memory. (A tree of stack distances would tell all
// cache sizes at once, for a logarithm a request.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/huge_pages.h"
#include "cachesim/geometry.h"

namespace swizzleperf::cachesim {

class AssociativeCache {
 public:
  /// Room for `lines` lines, at least one.
  explicit AssociativeCache(std::uint32_t lines)
      : lines_(std::max(1U, lines)),
        shift_(32U - static_cast<std::uint32_t>(std::bit_width(8 * lines_ - 1))),
        slots_(std::size_t{1} << (32U - shift_)),
        latest_(std::size_t{kTimesPerLine} * lines_ / kWord + 1) {}

  /// Brings a line's slot near; worth it some ten requests before it is touched.
  void prefetch(std::uint32_t line) const { __builtin_prefetch(slots_.data() + home(line)); }

  /// Touches `sectors` of a line (at least one), allocating it if absent. Returns those that were
  /// present.
  std::uint8_t access(std::uint32_t line, std::uint8_t sectors) {
    if (now_ == latest_.size() * kWord || 2 * used_ > slots_.size()) rebuild();
    Slot& slot = slots_[find(line)];
    std::uint8_t before = 0;
    if (is_held(slot)) {
      before = slot.sectors;
      flip(slot.last);
    } else {
      if (slot.sectors == 0) ++used_;
      if (held_ == lines_) {
        drop_oldest();
      } else {
        ++held_;
      }
    }
    slot = {line, now_, static_cast<std::uint8_t>(before | sectors)};
    flip(now_++);
    return before;
  }

 private:
  static constexpr std::uint32_t kTimesPerLine = 8;
  static constexpr std::uint32_t kWord = 64;

  struct Slot {
    std::uint32_t line;
    std::uint32_t last : 28;
    std::uint32_t sectors : 4;  // none: the slot is empty
  };

  [[nodiscard]] bool is_held(const Slot& slot) const {
    return slot.sectors != 0 && slot.last >= horizon_;
  }

  /// The line's slot, or the empty one where it belongs.
  [[nodiscard]] std::uint32_t find(std::uint32_t line) const {
    std::uint32_t at = home(line);
    while (slots_[at].sectors != 0 && slots_[at].line != line) {
      at = (at + 1) & static_cast<std::uint32_t>(slots_.size() - 1);
    }
    return at;
  }
  [[nodiscard]] std::uint32_t home(std::uint32_t line) const { return hash_line(line) >> shift_; }

  static std::uint64_t bit(std::uint32_t time) { return std::uint64_t{1} << time % kWord; }
  void flip(std::uint32_t time) { latest_[time / kWord] ^= bit(time); }

  void drop_oldest() {
    std::uint32_t word = horizon_ / kWord;  // earlier bits are 0
    while (latest_[word] == 0) ++word;
    horizon_ = word * kWord + static_cast<std::uint32_t>(std::countr_zero(latest_[word]));
    flip(horizon_++);
  }

  /// Lines in the cache get the times 0, 1, ... in the order of their old ones, others are
  /// forgotten. Slots are in the order of hashes and are put back in that order.
  void rebuild() {
    std::vector<std::uint32_t> earlier;  // bits set in all words before
    std::uint32_t sum = 0;
    for (const std::uint64_t word : latest_) {
      earlier.push_back(sum);
      sum += static_cast<std::uint32_t>(std::popcount(word));
    }
    std::vector<Slot> held;
    held.reserve(held_);
    for (Slot& slot : slots_) {
      if (is_held(slot)) {
        const std::uint32_t word = slot.last / kWord;
        const auto before = std::popcount(latest_[word] & (bit(slot.last) - 1));
        held.push_back(
            {slot.line, earlier[word] + static_cast<std::uint32_t>(before), slot.sectors});
      }
      slot = {};
    }
    for (const Slot& slot : held) slots_[find(slot.line)] = slot;
    std::fill(latest_.begin(), latest_.end(), 0);
    for (now_ = 0; now_ < held_; ++now_) flip(now_);
    horizon_ = 0;
    used_ = held_;
  }

  std::uint32_t lines_;
  std::uint32_t shift_;  // of a hash, to a slot number
  std::vector<Slot, HugePageAllocator<Slot>> slots_;
  std::vector<std::uint64_t> latest_;
  std::uint32_t horizon_ = 0;
  std::uint32_t now_ = 0;
  std::uint32_t held_ = 0;  // lines in the cache
  std::uint32_t used_ = 0;  // slots that are not empty
};

}  // namespace swizzleperf::cachesim
