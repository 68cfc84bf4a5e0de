// A fully associative cache with true LRU, at some ten nanoseconds a request.
//
// The L2 of a die holds some 32,768 lines, those of eight dies more than the host's caches. So what
// counts is how many far places a request touches. A linked list touches four: a hash slot, a node
// and its two neighbours. This touches one: a hash slot, which holds the line itself and when it
// was last asked for, as its place in a log of all requests. The log is written in sequence; one
// bit an entry says whether it is still the latest of its line, so the least recently used line is
// the first whose bit is set. When the log is full the living entries move to its front; with eight
// entries a line that is rare. (A tree of stack distances would tell all cache sizes at once, for a
// logarithm a request.)
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/huge_pages.h"
#include "cachesim/geometry.h"

namespace swizzleperf::cachesim {

class AssociativeCache {
 public:
  /// Room for `lines` lines, at least one.
  explicit AssociativeCache(std::uint32_t lines)
      : lines_(std::max(1U, lines)),
        shift_(32U - static_cast<std::uint32_t>(std::bit_width(4 * lines_ - 1))),
        slots_(std::size_t{1} << (32U - shift_)),
        log_(std::size_t{kLogPerLine} * lines_),
        alive_(log_.size() / kWord + 1) {}

  /// Brings a line's slot near; worth it some ten requests before it is touched.
  void prefetch(std::uint32_t line) const { __builtin_prefetch(slots_.data() + home(line)); }

  /// Touches `sectors` of a line (at least one), allocating it if absent. Returns those that were
  /// present.
  std::uint8_t access(std::uint32_t line, std::uint8_t sectors) {
    if (end_ == log_.size()) compact();
    Slot& slot = slots_[find(line)];
    const std::uint8_t before = slot.sectors;
    if (before != 0) flip(slot.last);
    slot = {line, end_, static_cast<std::uint8_t>(before | sectors)};
    log_[end_] = line;
    flip(end_++);
    if (before == 0 && ++held_ > lines_) evict();
    return before;
  }

 private:
  static constexpr std::uint32_t kLogPerLine = 8;
  static constexpr std::uint32_t kWord = 64;

  struct Slot {
    std::uint32_t line;
    std::uint32_t last : 28;    // its latest entry in the log
    std::uint32_t sectors : 4;  // none: the slot is empty
  };

  [[nodiscard]] std::uint32_t home(std::uint32_t line) const { return hash_line(line) >> shift_; }
  [[nodiscard]] std::uint32_t mask() const { return static_cast<std::uint32_t>(slots_.size()) - 1; }

  /// The line's slot, or the empty one where it belongs.
  [[nodiscard]] std::uint32_t find(std::uint32_t line) const {
    std::uint32_t at = home(line);
    while (slots_[at].sectors != 0 && slots_[at].line != line) at = (at + 1) & mask();
    return at;
  }

  void flip(std::uint32_t entry) { alive_[entry / kWord] ^= std::uint64_t{1} << entry % kWord; }

  /// The first living entry.
  std::uint32_t oldest() {
    while (alive_[word_] == 0) ++word_;
    return word_ * kWord + static_cast<std::uint32_t>(std::countr_zero(alive_[word_]));
  }

  void evict() {
    const std::uint32_t entry = oldest();
    flip(entry);
    --held_;
    erase(find(log_[entry]));
    prefetch(log_[oldest()]);  // the next to go
  }

  /// Closes the gap: a later slot moves up unless its home lies behind the gap.
  void erase(std::uint32_t gap) {
    for (std::uint32_t at = (gap + 1) & mask(); slots_[at].sectors != 0; at = (at + 1) & mask()) {
      if (((at - home(slots_[at].line)) & mask()) < ((at - gap) & mask())) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap].sectors = 0;
  }

  void compact() {
    std::uint32_t kept = 0;
    for (; word_ < alive_.size(); ++word_) {
      for (std::uint64_t alive = std::exchange(alive_[word_], 0); alive != 0; alive &= alive - 1) {
        const std::uint32_t line =
            log_[word_ * kWord + static_cast<std::uint32_t>(std::countr_zero(alive))];
        slots_[find(line)].last = kept;
        log_[kept++] = line;
      }
    }
    for (end_ = 0; end_ < kept; ++end_) flip(end_);
    word_ = 0;
  }

  std::uint32_t lines_;
  std::uint32_t shift_;  // of a hash, to a slot number; at most a quarter of the slots are used
  std::vector<Slot, HugePageAllocator<Slot>> slots_;
  std::vector<std::uint32_t> log_;
  std::vector<std::uint64_t> alive_;  // a bit for each entry of the log
  std::uint32_t word_ = 0;            // of `alive_`; those before it are 0
  std::uint32_t end_ = 0;             // of the log
  std::uint32_t held_ = 0;
};

}  // namespace swizzleperf::cachesim
