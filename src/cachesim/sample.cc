// Sampling whole cache sets: the classical way to make a trace small without changing what happens
// in the part that is kept. A set sees exactly the requests that it sees in the full replay, so its
// hits and evictions are right; only how many sets were looked at limits the accuracy.
//
// Sets are chosen by a hash of their number against a threshold, so samples are nested, and power-
// of-two strides (which favour some sets) are sampled without bias. Steps are merged until one has
// a few requests on average: a step costs a queue operation, and one with nothing in it teaches
// nothing.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "cachesim/prepared.h"

namespace swizzleperf::cachesim {
namespace {

constexpr double kRequestsPerStep = 4;
constexpr std::uint32_t kMaxSampledSets = 65536;

/// Sampled sets in increasing order of number; at least one.
std::vector<std::int32_t> choose_sets(std::uint32_t sets, double share, std::uint64_t seed,
                                      std::uint32_t& chosen) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(sets);
  for (std::uint32_t s = 0; s < sets; ++s) order[s] = {mix64(seed * 0x10001 + s), s};
  const auto wanted = static_cast<std::uint32_t>(std::llround(share * sets));
  chosen = std::clamp(wanted, 1U, std::min(sets, kMaxSampledSets));
  std::nth_element(order.begin(), order.begin() + chosen - 1, order.end());
  std::vector<std::int32_t> compact(sets, -1);
  for (std::uint32_t i = 0; i < chosen; ++i) compact[order[i].second] = 0;
  std::int32_t next = 0;
  for (std::int32_t& c : compact) {
    if (c == 0) c = next++;
  }
  return compact;
}

/// Intervals a step of each template spans.
std::size_t intervals_per_step(const Prepared& p, double share) {
  double intervals = 0;
  for (const BlockLines& b : p.lines.blocks) {
    intervals += static_cast<double>(p.lines.templates[b.template_index].intervals.size());
  }
  const double per_interval =
      static_cast<double>(p.lines.num_requests) * share / std::max(1.0, intervals);
  if (per_interval >= kRequestsPerStep || per_interval <= 0) return 1;
  return static_cast<std::size_t>(std::ceil(kRequestsPerStep / per_interval));
}

struct BlockSample {
  std::vector<SampleRequest> requests;
  std::vector<std::uint32_t> step_end;
};

BlockSample sample_block(const Prepared& p, const Sample& s, std::uint32_t block,
                         std::size_t stride) {
  const BlockLines& where = p.lines.blocks[block];
  const LineTemplate& t = p.lines.templates[where.template_index];
  const std::uint32_t* anchors = p.lines.anchors.data() + where.first_anchor;
  BlockSample out;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < t.intervals.size(); ++i) {
    for (; next < t.intervals[i].request_end; ++next) {
      const LineRequest& r = t.requests[next];
      const std::uint32_t line = anchors[r.slot] + r.line;
      const std::int32_t set = s.compact[p.l2_set(line)];
      if (set < 0) continue;
      out.requests.push_back(
          {line, static_cast<std::uint16_t>(set),
           static_cast<std::uint8_t>(static_cast<std::uint32_t>(r.kind) << 4 | r.sectors),
           static_cast<std::uint8_t>(std::min<std::uint32_t>(255, t.slot_buffer[r.slot]))});
    }
    if ((i + 1) % stride == 0 || i + 1 == t.intervals.size()) {
      out.step_end.push_back(static_cast<std::uint32_t>(out.requests.size()));
    }
  }
  return out;
}

}  // namespace

Sample make_sample(const Prepared& p, double share, std::uint64_t seed, unsigned threads) {
  Sample s;
  s.compact = choose_sets(p.l2_set.sets(), share, seed, s.sets);
  const std::size_t stride = intervals_per_step(p, static_cast<double>(s.sets) / p.l2_set.sets());
  for (const std::vector<double>& whole : p.compute_ns) {
    std::vector<double> merged;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (i % stride == 0) merged.push_back(0);
      merged.back() += whole[i];
    }
    s.compute_ns.push_back(std::move(merged));
  }

  // Chunks of blocks are sampled in parallel, then joined in order.
  const std::uint64_t blocks = p.lines.blocks.size();
  const std::uint64_t chunk =
      std::max<std::uint64_t>(1, blocks / (std::max<std::uint64_t>(1, threads) * 16));
  std::vector<std::vector<BlockSample>> parts((blocks + chunk - 1) / chunk);
  parallel_for(parts.size(), threads, [&](std::uint64_t part, unsigned) {
    const std::uint64_t end = std::min(blocks, (part + 1) * chunk);
    for (std::uint64_t b = part * chunk; b < end; ++b) {
      parts[part].push_back(sample_block(p, s, static_cast<std::uint32_t>(b), stride));
    }
  });
  double units = 0;
  for (const auto& part : parts) {
    for (const BlockSample& b : part) {
      s.first.push_back(s.requests.size());
      s.first_step.push_back(s.step_end.size());
      s.requests.insert(s.requests.end(), b.requests.begin(), b.requests.end());
      s.step_end.insert(s.step_end.end(), b.step_end.begin(), b.step_end.end());
    }
  }
  s.first.push_back(s.requests.size());
  for (const SampleRequest& r : s.requests) {
    units += p.units.of(static_cast<AccessKind>(r.kind_and_sectors >> 4), r.kind_and_sectors & 15);
  }
  // A sample that caught nothing still has a share to scale its nothing by.
  s.share = units > 0 ? units / p.total_units : static_cast<double>(s.sets) / p.l2_set.sets();
  return s;
}

}  // namespace swizzleperf::cachesim
