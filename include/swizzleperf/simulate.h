// What a machine's caches would do with a launch under a given order of blocks.
//
// A replay takes the L2 requests of every block (trace/lines.h), deals blocks to dies as the
// machine dispatches them, lets the resident blocks advance interval by interval in simulated time,
// and looks every request up in the L2 of its die, then in the last-level cache, then in memory.
// Time comes out of the same pass: each interval waits for its compute unit and for the slowest
// memory level it used, each level being a server with a bandwidth and a latency. So a block that
// runs ahead pays for the lines it fetches first and those behind it hit and catch up, as on
// hardware.
//
// What is assumed, because no vendor guarantees it: the order of dispatch (Machine::dispatch).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

/// Requests and hits of one level, in the units in which the machine's counters count.
struct LevelCounts {
  double requests = 0;
  double hits = 0;
  [[nodiscard]] double hit_rate() const { return requests > 0 ? hits / requests : 0; }
};

struct DomainCounts {
  LevelCounts l2;
  double blocks = 0;
  double finish_ms = 0;  ///< when its last block ended
};

/// The level that was busiest, as a share of the predicted time; dispatch where handing out blocks
/// took longer than any level.
enum class Bound { kCompute, kL2, kFabric, kLastLevel, kMemory, kLatency, kDispatch };
std::string_view bound_name(Bound bound);

/// How long handing out so many blocks takes at least, in nanoseconds.
double least_dispatch_ns(const Machine& machine, std::uint64_t blocks);

struct SimResult {
  bool exact = false;
  double sampled_share = 1;  ///< of the requests that were replayed
  /// Of a replay of part of the launch: requests replayed over those expected. Far from 1 where the
  /// part favours some cache sets (power-of-two strides) and the sample has others.
  double coverage = 1;
  LevelCounts l1;  ///< loads, the same for every swizzle
  LevelCounts l2;
  double merged_requests = 0;      ///< loads that met another's on the way to L2; not in `l2`
  std::optional<LevelCounts> llc;  ///< reads that missed L2
  double hbm_read_bytes = 0;
  double hbm_write_bytes = 0;
  std::vector<DomainCounts> per_domain;
  std::vector<double> misses_by_buffer;  ///< of L2, by Trace::buffers
  double time_ms = 0;
  Bound bound = Bound::kLatency;
  double utilisation[5] = {};  ///< compute, L2, fabric, last level, memory: busy share of time_ms
  double imbalance = 0;        ///< latest die's finish over the mean finish, minus 1

  [[nodiscard]] double l2_misses() const { return l2.requests - l2.hits; }
  [[nodiscard]] double hbm_bytes() const { return hbm_read_bytes + hbm_write_bytes; }
};

struct Classified;
struct Padding;

/// A launch prepared for replaying many orders on one machine; immutable and shared by threads.
class Replayer {
 public:
  Replayer(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu);
  ~Replayer();
  Replayer(Replayer&&) noexcept;
  Replayer& operator=(Replayer&&) noexcept;

  /// Replays every request. permutation[p] = logical block computed at dispatch index p.
  [[nodiscard]] SimResult exact(std::span<const std::uint32_t> permutation) const;

  /// The share of the L2 sets whose sample agrees with the exact replay as well as exact replays
  /// agree with each other when blocks jitter otherwise: half a point of L2 hits on GEMM 8192^3.
  /// 1 where the exact replay costs no more. (docs/model.md, experiment 12)
  [[nodiscard]] double fine_share() const;

  /// Prepares a sample of about `share` of the L2 sets (and the last-level sets behind them); a
  /// later sample of the same seed with a smaller share is a subset. Returns its handle.
  std::size_t add_sample(double share, std::uint64_t seed, unsigned threads);

  /// Replays a sample's requests: whole sets, so their hits and evictions are those of the exact
  /// replay up to the timing of blocks. `permutation` may be a prefix of the order, and only the
  /// first `dies` dies may be looked at (0 = all); counts and time are then scaled to the whole
  /// launch, which is good enough to tell hopeless orders from promising ones.
  [[nodiscard]] SimResult sampled(std::size_t sample, std::span<const std::uint32_t> permutation,
                                  std::uint32_t dies = 0) const;

  [[nodiscard]] std::uint64_t num_blocks() const;
  [[nodiscard]] std::uint64_t num_requests() const;  ///< line requests to L2
  [[nodiscard]] const Machine& machine() const;
  [[nodiscard]] std::uint32_t blocks_per_cu() const;

 private:
  friend class RoomyReplayer;
  friend Classified classify(const Replayer& replayer, std::span<const std::uint32_t> permutation,
                             std::span<const Padding> paddings);  // classify.h
  struct Data;
  std::unique_ptr<Data> data_;
};

/// Replays orders of a launch so small that no set of any cache can overflow: the results are those
/// of Replayer::exact in a tenth of the time. Immutable and shared by threads; the replayer must
/// live as long.
class RoomyReplayer {
 public:
  /// Nothing where a set could overflow, or where lines have a home die.
  static std::optional<RoomyReplayer> of(const Replayer& replayer);
  ~RoomyReplayer();
  RoomyReplayer(RoomyReplayer&&) noexcept;
  RoomyReplayer& operator=(RoomyReplayer&&) noexcept;

  /// Of all blocks.
  [[nodiscard]] SimResult exact(std::span<const std::uint32_t> permutation) const;

 private:
  struct Data;
  explicit RoomyReplayer(std::unique_ptr<const Data> data);
  std::unique_ptr<const Data> data_;
};

}  // namespace swizzleperf
