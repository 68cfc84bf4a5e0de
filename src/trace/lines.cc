// See lines.h. The cost is one pass over each distinct line template, not over each block.
#include "trace/lines.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "fmt/format.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

/// Sets of an L1, chosen by plain address bits. Its lines are modelled at L2's size: where they are
/// shorter there are fewer of the longer ones, not a larger cache.
std::uint64_t l1_sets(const Machine& machine) {
  const std::uint64_t line_and_ways = std::uint64_t{machine.l2.line_bytes} * machine.l1.ways;
  return std::max<std::uint64_t>(1, machine.l1.bytes / std::max<std::uint64_t>(1, line_and_ways));
}

/// One block's share of L1: true LRU over `ways` lines in each set.
class L1 {
 public:
  L1(std::uint64_t sets, const CacheModel& model, std::uint32_t blocks_per_cu)
      : sets_(sets),
        ways_(std::max(1U, model.ways / std::max(1U, blocks_per_cu))),
        recency_(sets_) {
    for (auto& set : recency_) set.reserve(ways_ + 1);
  }

  /// A load of `sectors` of a line; true when all of them are present.
  bool load(std::uint64_t line, std::uint8_t sectors) {
    auto& set = recency_[line % sets_];
    const auto it =
        std::find_if(set.begin(), set.end(), [&](const Way& w) { return w.line == line; });
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

/// Calls visit(line, sectors) for each line of a pattern at `address`, ascending; touching ranges
/// of one line are one visit, as one wave instruction makes one request a line.
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
  L1 l1(l1_sets(machine), machine.l1, blocks_per_cu);
  std::size_t next = 0;
  for (const Interval& interval : t.intervals) {
    double l1_clocks = 0;
    for (; next < interval.event_end; ++next) {
      const Event& e = t.events[next];
      const std::uint64_t anchor_line = static_cast<std::uint64_t>(anchors[e.slot]) / line_bytes;
      const auto address = static_cast<std::uint64_t>(anchors[e.slot] + e.offset);
      for_each_line(trace.patterns[e.pattern], address, line_bytes,
                    [&](std::uint64_t line, std::uint8_t sectors) {
                      const double bytes = std::popcount(sectors) * double{kSectorBytes};
                      l1_clocks += std::max(1.0, bytes / machine.l1.bytes_per_clk);
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
    out.intervals.push_back(
        {static_cast<std::uint32_t>(out.requests.size()), interval.cost, l1_clocks});
  }
  return out;
}

/// The bytes that a slot's events touch, relative to its anchor.
struct Reach {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::vector<Reach> reach_of_slots(const Trace& trace, const Template& t) {
  std::vector<Reach> reach(t.slot_buffer.size());
  std::vector<bool> seen(reach.size(), false);
  for (const Event& e : t.events) {
    const ByteRange& last = trace.patterns[e.pattern].back();
    const Reach event = {e.offset, e.offset + std::int64_t{last.begin} + last.size};
    Reach& slot = reach[e.slot];
    slot = seen[e.slot] ? Reach{std::min(slot.begin, event.begin), std::max(slot.end, event.end)}
                        : event;
    seen[e.slot] = true;
  }
  return reach;
}

/// The span of lines that the program's arrays lie in.
struct Span {
  std::uint64_t begin = ~0ULL;  // bytes
  std::uint64_t end = 0;
};

Span span_of(const Trace& trace, std::uint64_t line_bytes) {
  Span span;
  for (const Buffer& b : trace.buffers) {
    span.begin = std::min(span.begin, b.base);
    span.end = std::max(span.end, b.base + b.bytes);
  }
  // The last line number means "none" in a cache.
  if (span.begin < span.end && span.end / line_bytes - span.begin / line_bytes >= 0xffffffffULL) {
    throw input_error(
        fmt::format("the program's arrays span {} GiB; the cache model handles 2^32 "
                    "lines of {} bytes",
                    (span.end - span.begin) >> 30, line_bytes));
  }
  return span;
}

/// Blocks of one template with equal keys make the same requests. Two things tell them apart: where
/// slots lie inside a line and inside L1's period, and how far apart two slots are that may touch
/// the same lines (the tiles of A.A^T, say, are one tile on the diagonal): there one slot's loads
/// hit what the other's brought.
void sharing_key(const std::vector<std::int64_t>& anchors, const std::vector<Reach>& reach,
                 std::uint64_t period, std::uint64_t line_bytes, std::vector<std::int64_t>& key) {
  constexpr std::int64_t kApart = std::numeric_limits<std::int64_t>::min();
  key.clear();
  for (const std::int64_t a : anchors) {
    key.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % period));
  }
  const auto line = static_cast<std::int64_t>(line_bytes);
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    for (std::size_t j = i + 1; j < anchors.size(); ++j) {
      const std::int64_t apart = anchors[j] - anchors[i];
      const bool meet = apart + reach[j].begin < reach[i].end + line &&
                        apart + reach[j].end + line > reach[i].begin;
      key.push_back(meet ? apart : kApart);
    }
  }
}

void check_inside(const std::vector<std::int64_t>& anchors, const std::vector<Reach>& reach,
                  const Span& span) {
  for (std::size_t s = 0; s < anchors.size(); ++s) {
    if (reach[s].begin == reach[s].end) continue;
    if (anchors[s] + reach[s].begin < static_cast<std::int64_t>(span.begin) ||
        anchors[s] + reach[s].end > static_cast<std::int64_t>(span.end)) {
      throw input_error(
          "the trace has accesses outside the program's arrays; write it anew with `swizzleperf "
          "trace`");
    }
  }
}

}  // namespace

LineTrace make_lines(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu) {
  LineTrace out;
  const std::uint64_t line_bytes = machine.l2.line_bytes;
  out.line_bytes = machine.l2.line_bytes;
  out.buffers = trace.buffers;
  out.grid = trace.grid;
  out.blocks.reserve(trace.blocks.size());

  const Span span = span_of(trace, line_bytes);
  const std::uint64_t first_line = span.begin / line_bytes;
  if (span.begin < span.end) {
    out.num_lines = static_cast<std::uint32_t>((span.end - 1) / line_bytes - first_line + 1);
  }
  const std::uint64_t period = line_bytes * l1_sets(machine);
  std::vector<std::vector<Reach>> reach;
  reach.reserve(trace.templates.size());
  for (const Template& t : trace.templates) reach.push_back(reach_of_slots(trace, t));

  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, std::uint32_t> known;
  std::pair<std::uint32_t, std::vector<std::int64_t>> key;
  std::vector<std::int64_t> anchors;
  for (const BlockTrace& block : trace.blocks) {
    const Template& t = trace.templates[block.template_index];
    const std::int64_t* slots = trace.anchors.data() + block.first_anchor;
    anchors.assign(slots, slots + t.slot_buffer.size());
    check_inside(anchors, reach[block.template_index], span);
    key.first = block.template_index;
    sharing_key(anchors, reach[block.template_index], period, line_bytes, key.second);
    const auto [it, is_new] =
        known.try_emplace(key, static_cast<std::uint32_t>(out.templates.size()));
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
