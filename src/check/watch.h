// Watching the blocks of a launch as they read and write: one after the other in dispatch order,
// except that a block which waits for another is left and taken up again.
//
// For each byte it is remembered which block wrote it last and which read it first. A store that
// finds another block's tag is an overlap; a load that finds one is communication; a store that
// finds another block's earlier read is communication too, since in another order of blocks that
// read would see another value. Nothing else has to be kept, so memory is bounded by what the
// launch touches (byte_map.h), not by how long it runs.
//
// What looks alike and is not:
//   - A remap that loses blocks: two blocks make *exactly the same* accesses, reads included. The
//     hash of a block's accesses tells this from halos and from flags that many blocks set.
//   - Stores of equal values (halos, flags) and of different ones. Values are compared when the
//     block ends: what counts is what it left behind.
//   - A read that belongs to an atomic update (the load in front of a compare-and-swap loop): it is
//     forgotten once the block updates those bytes.
//   - The last block to arrive: it reads what others wrote, but only after an atomic told it that
//     they are done. See `Atomics` in watch.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/byte_map.h"
#include "swizzleperf/check.h"

namespace swizzleperf {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// One access of a wave: sorted, disjoint ranges.
struct WatchedAccess {
  AccessKind kind = AccessKind::kLoad;
  bool atomic = false;     ///< a store that is atomic, so that others may store there too
  bool returns = false;    ///< an atomic whose old value is used
  std::uint32_t line = 0;  ///< index into the lines given to finish()
  std::span<const Range> ranges;
};

class LaunchWatch {
 public:
  /// `values`: device addresses are addresses of this process, so that what blocks leave behind can
  /// be compared. Otherwise every overlap counts as one of equal values.
  explicit LaunchWatch(bool values);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  /// The block begins, or goes on after others had a turn. What follows is its own.
  void turn(std::uint64_t block);
  void access(const WatchedAccess& access);
  /// Something else that the block does and that tells it from blocks that do not.
  void does(std::uint64_t what);
  /// The block whose turn it is has ended.
  void end();

  /// Accesses of the block that made the most.
  [[nodiscard]] std::uint64_t longest_block() const { return longest_block_; }

  /// What was found, in the terms of the program: fills all of `findings` but kernel, grid, block,
  /// seconds and arguments; `findings.buffers` (sorted by base) is used for names.
  void finish(const std::vector<SourceLine>& lines, LaunchFindings& findings) const;

 private:
  class Atomics;
  struct Block;

  /// What a byte carries: who wrote it (or read it), where in the source, and how.
  struct Tag {
    std::uint32_t block = 0;
    std::uint32_t line = 0;
    std::uint32_t epoch = 0;  ///< atomics that the block had done before, see Atomics
    bool atomic = false;
  };
  /// A meeting of the current block without its names.
  struct MeetingKey {
    std::uint32_t other;
    std::uint32_t other_line;
    std::uint32_t line;
    bool overwritten;
    bool ordered;
    auto operator<=>(const MeetingKey&) const = default;
  };
  struct Example {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t first_line;
    std::uint32_t second_line;
    std::uint64_t address;
    std::uint64_t bytes;
    bool overwritten = false;
  };
  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t pairs = 0;
    std::vector<Example> examples;
  };

  void load(const WatchedAccess& access);
  void store(const WatchedAccess& access);
  void update(const WatchedAccess& access);
  std::uint32_t write_tag(const WatchedAccess& access);
  std::uint32_t read_tag(std::uint32_t line);
  std::uint32_t new_tag(const Tag& tag);
  void note_hazard(std::uint64_t begin, std::uint64_t end, std::uint32_t line);
  void note_read(std::uint64_t begin, std::uint64_t end, std::uint32_t tag, std::uint32_t line);
  void forget_reads(std::uint64_t begin, std::uint64_t end);
  void forget_own_reads(std::uint64_t begin, std::uint64_t end);
  void meet(const MeetingKey& key, std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool foreign(std::uint32_t tag) const;
  [[nodiscard]] bool repeats_another() const;
  void settle_overlaps(bool repeated);
  void settle_meetings(bool repeated);
  static void add(Sum& sum, const Example& example);

  const bool values_;
  std::vector<Tag> tags_ = {Tag{}};
  ByteMap writers_;
  ByteMap readers_;                  // the first
  std::vector<std::uint64_t> work_;  // by block: hash of its accesses, once it has ended
  std::unique_ptr<Atomics> atomics_;

  // Blocks that have begun and not ended; mostly one.
  std::unordered_map<std::uint32_t, std::unique_ptr<Block>> running_;
  Block* now_ = nullptr;

  // All blocks.
  std::uint64_t longest_block_ = 0;
  std::uint64_t ticket_blocks_ = 0;
  std::uint64_t without_own_bytes_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> blocks_by_bytes_;  // stored -> how many blocks
  Sum repeated_;
  Sum different_;
  Sum same_;
  Sum communication_;
  Sum ordered_;
};

}  // namespace swizzleperf
