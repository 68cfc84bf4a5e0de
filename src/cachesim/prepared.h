// What a replay needs besides the caches themselves, worked out once per launch and machine, and
// the two forms in which requests come: all of them (from line templates) or a sample of whole L2
// sets.
//
// The replay core is a template over the source, so that the exact replay pays nothing for the
// sample and the reverse. A source offers
//     Block open(logical block)                       where its stream starts
//     num_steps(Block), work(Block, step)             one step = one or several intervals
//     for_each(Block, step, prefetch, f)              f(tag, set, kind, sectors, origin)
//     sets(), weight(array)                           how much of the launch it has
// where origin() tells the array, for the few requests that need it. A set is a line of the host's
// cache and rarely near the last one, so `prefetch(set)` is called a few requests ahead of f.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "cachesim/geometry.h"
#include "swizzleperf/simulate.h"
#include "trace/lines.h"

namespace swizzleperf::cachesim {

/// Counter units and bytes of a request, by its sector mask.
struct RequestUnits {
  explicit RequestUnits(const CacheModel& l2) : store_misses(l2.store_misses) {
    for (std::uint32_t mask = 0; mask < 256; ++mask) {
      bytes[mask] = static_cast<std::uint16_t>(std::popcount(mask) * kSectorBytes);
      read[mask] = count(mask, l2.read_request_bytes);
      write[mask] = count(mask, l2.write_request_bytes);
      fill[mask] = pieces(mask, l2.fill_bytes);
    }
  }
  [[nodiscard]] std::uint32_t of(AccessKind kind, std::uint8_t sectors) const {
    return kind == AccessKind::kLoad ? read[sectors] : write[sectors];
  }
  /// Units that miss in a cache where the line had the sectors `before`. A write needs no fill: the
  /// first piece of a line that is absent misses, the rest hit.
  [[nodiscard]] std::uint32_t missed(AccessKind kind, std::uint8_t sectors,
                                     std::uint8_t before) const {
    const auto missing = static_cast<std::uint8_t>(sectors & ~before);
    if (kind == AccessKind::kLoad) return read[missing];
    if (kind == AccessKind::kStore) return before == 0 ? store_misses : 0;
    return missing != 0 ? write[sectors] : 0;
  }
  std::uint32_t store_misses;
  std::array<std::uint16_t, 256> bytes{};
  std::array<std::uint8_t, 256> read{};
  std::array<std::uint8_t, 256> write{};
  std::array<std::uint8_t, 256> fill{};  ///< sectors that come when those of the mask are missing

 private:
  /// The mask, grown to whole pieces of `unit` bytes.
  static std::uint8_t pieces(std::uint32_t mask, std::uint32_t unit) {
    const std::uint32_t sectors = unit / kSectorBytes;
    std::uint32_t whole = mask;
    for (std::uint32_t s = 0; s < 8; s += sectors) {
      const std::uint32_t piece = ((1U << sectors) - 1U) << s;
      if ((mask & piece) != 0) whole |= piece;
    }
    return static_cast<std::uint8_t>(whole);
  }

  /// Pieces of `unit` bytes that the mask touches.
  static std::uint8_t count(std::uint32_t mask, std::uint32_t unit) {
    const std::uint32_t sectors = unit < kSectorBytes ? 1 : unit / kSectorBytes;
    std::uint8_t pieces = 0;
    for (std::uint32_t s = 0; s < 8; s += sectors) {
      if ((mask >> s & ((1U << sectors) - 1U)) != 0) ++pieces;
    }
    return pieces;
  }
};

/// What a step asks of the machine, whole: also in a sample, which replays only some of its
/// requests.
struct StepWork {
  double compute_ns = 0;       ///< that it keeps a whole CU busy
  std::uint32_t requests = 0;  ///< line requests to L2
  std::uint32_t l2_bytes = 0;
  StepWork& operator+=(const StepWork& other) {
    compute_ns += other.compute_ns;
    requests += other.requests;
    l2_bytes += other.l2_bytes;
    return *this;
  }
};

/// The work of each interval of a line template.
std::vector<StepWork> interval_work(const LineTemplate& lines, const Machine& machine,
                                    const RequestUnits& units);

/// A sampled request, with the set worked out.
struct SampleRequest {
  std::uint32_t tag;
  std::uint16_t set;              ///< among the sampled L2 sets
  std::uint8_t kind_and_sectors;  ///< kind << 4 | sectors (lines of at most four sectors)
  std::uint8_t buffer;
};

/// An array as a sampled request has it: those past 255 are one.
inline std::uint32_t sampled_buffer(std::uint32_t buffer) {
  return std::min<std::uint32_t>(255, buffer);
}

struct Sample {
  std::uint32_t sets = 0;  ///< L2 sets sampled, per die
  std::uint64_t seed = 0;
  std::size_t stride = 1;                   ///< intervals a step
  double share = 0;                         ///< replayed units / all units
  std::vector<double> buffer_weight;        ///< array -> its units / those replayed
  std::vector<std::int32_t> compact;        ///< L2 set -> sampled set, -1 = not sampled
  std::vector<SampleRequest> requests;      ///< by block
  std::vector<std::uint64_t> first;         ///< block -> first request; one more at the end
  std::vector<std::uint32_t> step_end;      ///< relative to the block's first request
  std::vector<std::uint64_t> first_step;    ///< block -> first of its steps
  std::vector<std::vector<StepWork>> work;  ///< template -> step
};

struct Prepared {
  Prepared(const Machine& m, LineTrace l, std::uint32_t per_cu)
      : machine(m), blocks_per_cu(per_cu), lines(std::move(l)), l2_set(m.l2), units(m.l2) {}

  Machine machine;
  std::uint32_t blocks_per_cu;
  LineTrace lines;
  SetMap l2_set;
  RequestUnits units;
  std::vector<std::vector<StepWork>> work;  ///< template -> interval
  double total_units = 0;                   ///< counter units of the whole launch
  std::vector<double> units_by_buffer;      ///< the same by array; 256 or more
  std::vector<Sample> samples;
};

/// Fills in total_units and units_by_buffer.
void count_units(Prepared& prepared);

/// See Replayer::fine_share.
double fine_share(const Prepared& prepared);

/// Keeps the requests of about `share` of the L2 sets; see Replayer::add_sample.
Sample make_sample(const Prepared& prepared, double share, std::uint64_t seed, unsigned threads);

/// Where the lines of the arrays lie: as traced. A what-if may put them elsewhere (classify.cc).
struct AsTraced {
  std::uint32_t operator()(std::uint32_t line, std::uint16_t) const { return line; }
};

/// Every request, at the line where the layout puts it.
template <typename Layout>
class LineSource {
 public:
  /// What a request belongs to.
  struct Origin {
    const std::uint16_t* buffer;
    std::uint32_t line;
    std::uint16_t operator()() const { return *buffer; }
  };
  struct Block {
    const LineTemplate* lines;
    const std::vector<StepWork>* work;
    const std::uint32_t* anchors;
  };

  explicit LineSource(const Prepared& p, Layout layout = {}) : p_(&p), layout_(layout) {}

  [[nodiscard]] Block open(std::uint32_t block) const {
    const BlockLines& b = p_->lines.blocks[block];
    return {&p_->lines.templates[b.template_index], &p_->work[b.template_index],
            p_->lines.anchors.data() + b.first_anchor};
  }
  [[nodiscard]] std::size_t num_steps(const Block& b) const { return b.lines->intervals.size(); }
  [[nodiscard]] const StepWork& work(const Block& b, std::size_t step) const {
    return (*b.work)[step];
  }
  [[nodiscard]] std::uint32_t sets() const { return p_->l2_set.sets(); }
  /// What a unit of an array stands for.
  [[nodiscard]] static double weight(std::size_t /*buffer*/) { return 1; }

  template <typename Prefetch, typename Visit>
  void for_each(const Block& b, std::size_t step, const Prefetch& prefetch,
                const Visit& visit) const {
    const auto& intervals = b.lines->intervals;
    const std::uint32_t begin = step == 0 ? 0 : intervals[step - 1].request_end;
    const std::uint32_t end = intervals[step].request_end;
    const LineRequest* requests = b.lines->requests.data();
    // While one batch is looked up the sets of the next are on their way to the host's L1.
    std::array<Batch, 2> batches;
    std::uint32_t coming = fetch(b, requests, begin, end, batches[0], prefetch);
    for (std::uint32_t first = begin, turn = 0; first < end; turn ^= 1U) {
      const Batch& batch = batches[turn];
      const std::uint32_t n = coming;
      coming = fetch(b, requests, first + n, end, batches[turn ^ 1U], prefetch);
      for (std::uint32_t i = 0; i < n; ++i) {
        const LineRequest& r = requests[first + i];
        visit(batch.tag[i], batch.set[i], r.kind, r.sectors,
              Origin{b.lines->slot_buffer.data() + r.slot, batch.line[i]});
      }
      first += n;
    }
  }

 private:
  static constexpr std::uint32_t kBatch = 16;
  struct Batch {
    std::array<std::uint32_t, kBatch> line;
    std::array<std::uint32_t, kBatch> set;
    std::array<std::uint32_t, kBatch> tag;
  };

  /// Works out sets and tags of the requests from `first` on and prefetches; returns how many.
  template <typename Prefetch>
  std::uint32_t fetch(const Block& b, const LineRequest* requests, std::uint32_t first,
                      std::uint32_t end, Batch& batch, const Prefetch& prefetch) const {
    const std::uint32_t n = std::min(kBatch, end - first);
    for (std::uint32_t i = 0; i < n; ++i) {
      const LineRequest& r = requests[first + i];
      batch.line[i] = layout_(b.anchors[r.slot] + r.line, b.lines->slot_buffer[r.slot]);
    }
    p_->l2_set.map(batch.line.data(), batch.set.data(), batch.tag.data(), n);
    for (std::uint32_t i = 0; i < n; ++i) prefetch(batch.set[i]);
    return n;
  }

  const Prepared* p_;
  [[no_unique_address]] Layout layout_;
};

using ExactSource = LineSource<AsTraced>;

class SampleSource {
 public:
  struct Block {
    const SampleRequest* requests;
    const std::uint32_t* step_end;
    const std::vector<StepWork>* work;
  };

  SampleSource(const Prepared& p, const Sample& s) : p_(&p), s_(&s) {}

  [[nodiscard]] Block open(std::uint32_t block) const {
    return {s_->requests.data() + s_->first[block], s_->step_end.data() + s_->first_step[block],
            &s_->work[p_->lines.blocks[block].template_index]};
  }
  [[nodiscard]] std::size_t num_steps(const Block& b) const { return b.work->size(); }
  [[nodiscard]] const StepWork& work(const Block& b, std::size_t step) const {
    return (*b.work)[step];
  }
  [[nodiscard]] std::uint32_t sets() const { return s_->sets; }
  [[nodiscard]] double weight(std::size_t buffer) const { return s_->buffer_weight[buffer]; }

  template <typename Prefetch, typename Visit>
  void for_each(const Block& b, std::size_t step, const Prefetch& prefetch,
                const Visit& visit) const {
    const SampleRequest* r = b.requests + (step == 0 ? 0 : b.step_end[step - 1]);
    const SampleRequest* const end = b.requests + b.step_end[step];
    for (const SampleRequest* ahead = r; ahead != end; ++ahead) prefetch(ahead->set);
    for (; r != end; ++r) {
      visit(r->tag, r->set, static_cast<AccessKind>(r->kind_and_sectors >> 4),
            static_cast<std::uint8_t>(r->kind_and_sectors & 15), [r] { return r->buffer; });
    }
  }

 private:
  const Prepared* p_;
  const Sample* s_;
};

}  // namespace swizzleperf::cachesim

namespace swizzleperf {

struct Replayer::Data : cachesim::Prepared {
  using cachesim::Prepared::Prepared;
};

}  // namespace swizzleperf
