// Sampling whole cache sets: the classical way to make a trace small without changing what happens
// in the part that is kept. A set sees exactly the requests that it sees in the full replay, so its
// hits and evictions are right; only how many sets were looked at limits the accuracy.
//
// Which sets: the first ones of an order in which every power of two of sets holds every residue of
// their number once (a scrambled van der Corput sequence), so samples are nested, and what visits
// few residues at a time, as rows a power of two apart do, is met as often in every sample. Steps
// are merged until one has a request on average: a step costs a queue operation, and one with
// nothing in it teaches nothing. No further, because a block that advances in leaps evicts what its
// neighbours were about to share.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "cachesim/prepared.h"

namespace swizzleperf::cachesim {
namespace {

constexpr double kRequestsPerStep = 1;
constexpr std::uint32_t kMaxSampledSets = 65536;

/// Where a group of sets stands in the order in which they are chosen. Bit by bit from the lowest,
/// each flipped by a hash of the bits below it: 2^b successive places differ in their lowest b
/// bits.
std::uint64_t place_of(std::uint32_t group, int bits, std::uint64_t seed) {
  std::uint64_t place = 0;
  for (int b = 0; b < bits; ++b) {
    const std::uint32_t below = group & ((1U << b) - 1U);
    const std::uint64_t flip =
        mix64(mix64(seed * 0x10001 + static_cast<std::uint64_t>(b)) + below) >> 63;
    place |= ((group >> b & 1U) ^ flip) << b;
  }
  return place;
}

/// L2 set -> number among the chosen sets, -1 = not chosen. Sets are chosen in groups of
/// `together`, at least one group.
std::vector<std::int32_t> choose_sets(std::uint32_t sets, std::uint32_t together, double share,
                                      std::uint64_t seed, std::uint32_t& chosen) {
  const std::uint32_t groups = sets / together;
  const int bits = std::bit_width(groups - 1);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(groups);
  for (std::uint32_t g = 0; g < groups; ++g) order[g] = {place_of(g, bits, seed), g};
  const auto wanted = static_cast<std::uint32_t>(std::llround(share * groups));
  const std::uint32_t taken = std::clamp(wanted, 1U, std::min(groups, kMaxSampledSets / together));
  std::nth_element(order.begin(), order.begin() + taken - 1, order.end());
  std::vector<std::int32_t> compact(sets, -1);
  for (std::uint32_t i = 0; i < taken; ++i) {
    for (std::uint32_t s = 0; s < together; ++s) compact[order[i].second * together + s] = 0;
  }
  chosen = taken * together;
  std::int32_t next = 0;
  for (std::int32_t& c : compact) {
    if (c == 0) c = next++;
  }
  return compact;
}

/// Where a sample is taken from: a source, its sets' numbers in the new sample (-1 = left out), and
/// the work of its steps by template.
template <typename Source>
struct From {
  Source source;
  std::vector<std::int32_t> compact;
  const std::vector<std::vector<StepWork>>& work;
};

struct BlockSample {
  std::vector<SampleRequest> requests;
  std::vector<std::uint32_t> step_end;
};

template <typename Source>
BlockSample sample_block(const From<Source>& from, std::uint32_t block, std::size_t stride) {
  const auto stream = from.source.open(block);
  const std::size_t steps = from.source.num_steps(stream);
  BlockSample out;
  for (std::size_t i = 0; i < steps; ++i) {
    from.source.for_each(
        stream, i, [](std::uint32_t) {},
        [&](std::uint32_t tag, std::uint32_t set, AccessKind kind, std::uint8_t sectors,
            const auto& buffer) {
          const std::int32_t number = from.compact[set];
          if (number < 0) return;
          out.requests.push_back(
              {tag, static_cast<std::uint16_t>(number),
               static_cast<std::uint8_t>(static_cast<std::uint32_t>(kind) << 4 | sectors),
               static_cast<std::uint8_t>(sampled_buffer(buffer()))});
        });
    if ((i + 1) % stride == 0 || i + 1 == steps) {
      out.step_end.push_back(static_cast<std::uint32_t>(out.requests.size()));
    }
  }
  return out;
}

/// Chunks of blocks are sampled in parallel, then joined in order.
template <typename Source>
void take(Sample& s, const Prepared& p, const From<Source>& from, std::size_t stride,
          unsigned threads) {
  const std::uint64_t blocks = p.lines.blocks.size();
  const std::uint64_t chunk =
      std::max<std::uint64_t>(1, blocks / (std::max<std::uint64_t>(1, threads) * 16));
  std::vector<std::vector<BlockSample>> parts((blocks + chunk - 1) / chunk);
  parallel_for(parts.size(), threads, [&](std::uint64_t part, unsigned) {
    const std::uint64_t end = std::min(blocks, (part + 1) * chunk);
    for (std::uint64_t b = part * chunk; b < end; ++b) {
      parts[part].push_back(sample_block(from, static_cast<std::uint32_t>(b), stride));
    }
  });
  for (std::vector<BlockSample>& part : parts) {
    for (const BlockSample& b : part) {
      s.first.push_back(s.requests.size());
      s.first_step.push_back(s.step_end.size());
      s.requests.insert(s.requests.end(), b.requests.begin(), b.requests.end());
      s.step_end.insert(s.step_end.end(), b.step_end.begin(), b.step_end.end());
    }
    part = {};
  }
  s.first.push_back(s.requests.size());
  for (const std::vector<StepWork>& whole : from.work) {
    std::vector<StepWork> merged;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (i % stride == 0) merged.emplace_back();
      merged.back() += whole[i];
    }
    s.work.push_back(std::move(merged));
  }
}

double num_intervals(const Prepared& p) {
  double intervals = 0;
  for (const BlockLines& b : p.lines.blocks) {
    intervals += static_cast<double>(p.lines.templates[b.template_index].intervals.size());
  }
  return intervals;
}

/// Intervals that a step spans, so that it has a few requests on average.
std::size_t intervals_per_step(const Prepared& p, double share) {
  const double per_interval =
      static_cast<double>(p.lines.num_requests) * share / std::max(1.0, num_intervals(p));
  if (per_interval >= kRequestsPerStep || per_interval <= 0) return 1;
  return static_cast<std::size_t>(std::ceil(kRequestsPerStep / per_interval));
}

/// The smallest sample that contains the new one whole and still has one interval a step.
const Sample* parent_of(const Prepared& p, const Sample& s) {
  const Sample* parent = nullptr;
  for (const Sample& known : p.samples) {
    if (known.seed == s.seed && known.stride == 1 && known.sets >= s.sets &&
        (parent == nullptr || known.sets < parent->sets)) {
      parent = &known;
    }
  }
  return parent;
}

}  // namespace

double fine_share(const Prepared& p) {
  // With fewer in a step, what it is charged for misses is mostly chance, and blocks drift.
  constexpr double kPerInterval = 4;
  constexpr double kLeast = 4e6;
  constexpr double kMost = 32e6;  // half a second
  const double wanted = std::clamp(kPerInterval * num_intervals(p), kLeast, kMost);
  const double share = wanted / std::max(1.0, static_cast<double>(p.lines.num_requests));
  return share > 0.5 ? 1 : share;
}

Sample make_sample(const Prepared& p, double share, std::uint64_t seed, unsigned threads) {
  Sample s;
  s.seed = seed;
  // Only where lines have a home do the sets of a page act together.
  const std::uint32_t together = p.machine.lines_have_home != 0 ? p.l2_set.page_sets() : 1;
  s.compact = choose_sets(p.l2_set.sets(), together, share, seed, s.sets);
  s.stride = intervals_per_step(p, static_cast<double>(s.sets) / p.l2_set.sets());
  if (const Sample* parent = parent_of(p, s)) {
    From<SampleSource> from = {SampleSource(p, *parent), std::vector<std::int32_t>(parent->sets),
                               parent->work};
    for (std::size_t set = 0; set < parent->compact.size(); ++set) {
      const std::int32_t number = parent->compact[set];
      if (number >= 0) from.compact[static_cast<std::size_t>(number)] = s.compact[set];
    }
    take(s, p, from, s.stride, threads);
  } else {
    take(s, p, From<ExactSource>{ExactSource(p), s.compact, p.work}, s.stride, threads);
  }
  std::vector<double> by_buffer(p.units_by_buffer.size());
  for (const SampleRequest& r : s.requests) {
    by_buffer[r.buffer] +=
        p.units.of(static_cast<AccessKind>(r.kind_and_sectors >> 4), r.kind_and_sectors & 15);
  }
  const double units = std::accumulate(by_buffer.begin(), by_buffer.end(), 0.0);
  for (std::size_t b = 0; b < by_buffer.size(); ++b) {
    s.buffer_weight.push_back(by_buffer[b] > 0 ? p.units_by_buffer[b] / by_buffer[b] : 0);
  }
  // A sample that caught nothing still has a share to scale its nothing by.
  s.share = units > 0 ? units / p.total_units : static_cast<double>(s.sets) / p.l2_set.sets();
  return s;
}

}  // namespace swizzleperf::cachesim
