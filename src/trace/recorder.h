// How the virtual GPU hands over what one block did.
//
// The interpreter calls `access` once for each executed global-memory instruction of a wave,
// `cost` for the work a wave did since, and `barrier` when all waves of the block have met. Waves
// of a block are interpreted one after the other up to a barrier, but on hardware they run side by
// side; `finish` therefore merges the waves' events between two barriers round robin (first event
// of each wave, second of each, ...).
//
// A recorder belongs to one thread and is reused from block to block; patterns are interned in a
// table that the caller shares between its blocks.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "swizzleperf/trace.h"

namespace swizzleperf {

/// The addresses of the lanes in `mask`, in ascending order.
void sort_lanes(std::uint64_t mask, const std::uint64_t* addresses,
                std::vector<std::uint64_t>& sorted);

/// Interned patterns. Not thread-safe: one table a thread, merged afterwards.
class PatternTable {
 public:
  std::uint32_t intern(const Pattern& pattern);
  [[nodiscard]] const std::vector<Pattern>& patterns() const { return patterns_; }

 private:
  std::vector<Pattern> patterns_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

/// One event of a block with its absolute address; slots are assigned later.
struct RawEvent {
  std::uint64_t address;  ///< of the pattern's lowest byte
  std::uint32_t pattern;
  AccessKind kind;
  std::uint8_t wave;
  bool operator==(const RawEvent&) const = default;
};

/// One block, as run.
struct RawBlock {
  std::vector<RawEvent> events;
  std::vector<Interval> intervals;
};

class BlockRecorder {
 public:
  explicit BlockRecorder(PatternTable& patterns) : patterns_(&patterns) {}

  /// Forgets the previous block; `waves` = waves of the block.
  void begin(std::uint32_t waves);

  /// Ends blocks early: once `events` accesses are recorded, at the next barrier or, at the latest,
  /// after four times as many. 0 = never.
  void stop_after(std::uint64_t events) { stop_after_ = events; }

  /// One executed global-memory instruction of one wave: lane i, if bit i of `mask` is set, touches
  /// [addresses[i], addresses[i] + bytes). addresses has at least 64 entries. Returns false when
  /// the caller wants no more of this block (a prefix was asked for): the block is then abandoned,
  /// with finish() still to be called.
  [[nodiscard]] bool access(AccessKind kind, std::uint32_t wave, std::uint64_t mask,
                            const std::uint64_t* addresses, std::uint32_t bytes);

  /// Work done by a wave of the block since the last call.
  void cost(const Cost& cost) { cost_ += cost; }

  /// All waves of the block have arrived. Returns false as access() does.
  [[nodiscard]] bool barrier();

  /// Ends the block; the result stays valid until the next begin().
  const RawBlock& finish();

 private:
  void close_interval(bool barrier);

  PatternTable* patterns_;
  std::vector<std::vector<RawEvent>> pending_;  // by wave, since the last barrier
  Cost cost_;
  std::uint64_t stop_after_ = 0;
  std::uint64_t recorded_ = 0;
  RawBlock block_;
  Pattern scratch_;
  std::vector<std::uint64_t> sorted_;
};

}  // namespace swizzleperf
