// See lines.h. The cost is one pass over each distinct line template, not over each block.
#include "trace/lines.h"

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

/// One block's share of L1: true LRU over `ways` lines in each set.
class L1 {
 public:
  L1(const CacheModel& model, std::uint32_t blocks_per_cu)
      : sets_(std::max(1U, model.sets())),
        ways_(std::max(1U, model.ways / std::max(1U, blocks_per_cu))),
        recency_(sets_) {
    for (auto& set : recency_) set.reserve(ways_ + 1);
  }

  /// A load of `sectors` of a line; true when all of them are present.
  bool load(std::uint64_t line, std::uint8_t sectors) {
    auto& set = recency_[line % sets_];
    const auto it = std::find_if(set.begin(), set.end(), [&](const Way& w) { return w.line == line; });
    Way way = {line, sectors};
    bool hit = false;
    if (it != set.end()) {
      hit = (it->sectors & sectors) == sectors;
      way.sectors |= it->sectors;
      set.erase(it);
    } else if (set.size() == ways_) {
      set.pop_back();
    }
    set.insert(set.begin(), way);
    return hit;
  }

 private:
  struct Way {
    std::uint64_t line;
    std::uint8_t sectors;
  };
  std::uint64_t sets_;
  std::size_t ways_;
  std::vector<std::vector<Way>> recency_;  // most recent first
};

/// The sectors that [begin, end) touches in a line starting at `line_begin`.
std::uint8_t sector_mask(std::uint64_t begin, std::uint64_t end, std::uint64_t line_begin,
                         std::uint64_t line_bytes) {
  const std::uint64_t lo = std::max(begin, line_begin) - line_begin;
  const std::uint64_t hi = std::min(end, line_begin + line_bytes) - line_begin;
  std::uint32_t mask = 0;
  for (std::uint64_t s = lo / kSectorBytes; s * kSectorBytes < hi; ++s) mask |= 1U << s;
  return static_cast<std::uint8_t>(mask);
}

/// Calls visit(line, sectors) for each line of a pattern at `address`, ascending; touching ranges of
/// one line are one visit, as one wave instruction makes one request a line.
template <typename Visit>
void for_each_line(const Pattern& pattern, std::uint64_t address, std::uint64_t line_bytes,
                   const Visit& visit) {
  std::uint64_t line = ~0ULL;
  std::uint8_t sectors = 0;
  for (const ByteRange& range : pattern) {
    const std::uint64_t begin = address + range.begin;
    const std::uint64_t end = begin + range.size;
    for (std::uint64_t l = begin / line_bytes; l * line_bytes < end; ++l) {
      if (l != line && sectors != 0) {
        visit(line, sectors);
        sectors = 0;
      }
      line = l;
      sectors |= sector_mask(begin, end, l * line_bytes, line_bytes);
    }
  }
  if (sectors != 0) visit(line, sectors);
}

/// `reads_whole_line`: a load that misses L1 asks L2 for the whole line (AMD), not for its sectors.
LineTemplate make_line_template(const Trace& trace, const Template& t,
                                const std::vector<std::int64_t>& anchors, const Machine& machine,
                                std::uint32_t blocks_per_cu) {
  const std::uint64_t line_bytes = machine.l2.line_bytes;
  const bool reads_whole_line = machine.l2.read_request_bytes >= line_bytes;
  const auto full = static_cast<std::uint8_t>((1U << (line_bytes / kSectorBytes)) - 1U);
  LineTemplate out;
  out.slot_buffer = t.slot_buffer;
  L1 l1(machine.l1, blocks_per_cu);
  std::size_t next = 0;
  for (const Interval& interval : t.intervals) {
    for (; next < interval.event_end; ++next) {
      const Event& e = t.events[next];
      const std::uint64_t anchor_line = static_cast<std::uint64_t>(anchors[e.slot]) / line_bytes;
      const auto address = static_cast<std::uint64_t>(anchors[e.slot] + e.offset);
      for_each_line(trace.patterns[e.pattern], address, line_bytes,
                    [&](std::uint64_t line, std::uint8_t sectors) {
                      if (e.kind == AccessKind::kLoad) {
                        if (reads_whole_line) sectors = full;
                        ++out.l1_requests;
                        if (l1.load(line, sectors)) {
                          ++out.l1_hits;
                          return;
                        }
                      }
                      out.requests.push_back({static_cast<std::uint32_t>(line - anchor_line),
                                              e.slot, e.kind, sectors});
                    });
    }
    out.intervals.push_back({static_cast<std::uint32_t>(out.requests.size()), interval.cost});
  }
  return out;
}

}  // namespace

LineTrace make_lines(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu) {
  LineTrace out;
  const std::uint64_t line_bytes = machine.l2.line_bytes;
  out.line_bytes = machine.l2.line_bytes;
  out.buffers = trace.buffers;
  out.grid = trace.grid;
  out.blocks.reserve(trace.blocks.size());

  std::uint64_t lowest = ~0ULL;
  std::uint64_t highest = 0;
  for (const Buffer& b : trace.buffers) {
    lowest = std::min(lowest, b.base);
    highest = std::max(highest, b.base + b.bytes);
  }
  const std::uint64_t first_line = lowest / line_bytes;
  if (!trace.buffers.empty() && (highest - lowest) / line_bytes > 0xffffffffULL) {
    throw input_error(fmt::format("the program's arrays span {} GiB; the cache model handles 2^32 "
                                  "lines of {} bytes",
                                  (highest - lowest) >> 30, line_bytes));
  }
  // Where slots lie inside a line and inside L1's period decides the requests; blocks that agree in
  // it share a line template. A hashed L1 has no short period: lines are told apart only.
  const std::uint64_t period =
      machine.l1.index == SetIndex::kBits ? line_bytes * std::max(1U, machine.l1.sets()) : line_bytes;
  std::map<std::pair<std::uint32_t, std::vector<std::uint64_t>>, std::uint32_t> known;
  std::vector<std::int64_t> anchors;
  for (const BlockTrace& block : trace.blocks) {
    const Template& t = trace.templates[block.template_index];
    const std::int64_t* slots = trace.anchors.data() + block.first_anchor;
    anchors.assign(slots, slots + t.slot_buffer.size());
    std::vector<std::uint64_t> phase;
    phase.reserve(anchors.size());
    for (const std::int64_t a : anchors) phase.push_back(static_cast<std::uint64_t>(a) % period);
    const auto [it, is_new] =
        known.try_emplace({block.template_index, std::move(phase)},
                          static_cast<std::uint32_t>(out.templates.size()));
    if (is_new) {
      out.templates.push_back(make_line_template(trace, t, anchors, machine, blocks_per_cu));
    }
    const LineTemplate& lines = out.templates[it->second];
    out.blocks.push_back({it->second, out.anchors.size()});
    for (const std::int64_t a : anchors) {
      out.anchors.push_back(
          static_cast<std::uint32_t>(static_cast<std::uint64_t>(a) / line_bytes - first_line));
    }
    out.num_requests += lines.requests.size();
    out.l1_requests += lines.l1_requests;
    out.l1_hits += lines.l1_hits;
  }
  return out;
}

}  // namespace swizzleperf
