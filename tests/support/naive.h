// What src/trace/lines.h promises, in the slow and obvious form: bytes one by one, maps and lists.
//
// Written from the documentation alone and sharing nothing with the code under test, so that an
// agreement of the two means something.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf::naive {

struct Request {
  std::uint64_t line;  ///< absolute address / line size
  std::uint16_t buffer;
  AccessKind kind;
  std::uint8_t sectors;
  bool operator==(const Request&) const = default;
};

struct Step {
  std::vector<Request> requests;
  Cost cost;
  double l1_clocks = 0;
};

struct Block {
  std::vector<Step> steps;
  std::uint64_t l1_requests = 0;
  std::uint64_t l1_hits = 0;
};

/// Line -> sector mask of one wave instruction.
inline std::map<std::uint64_t, std::uint8_t> coalesce(const Pattern& pattern, std::uint64_t address,
                                                      std::uint64_t line_bytes) {
  std::map<std::uint64_t, std::uint8_t> lines;
  for (const ByteRange& range : pattern) {
    for (std::uint64_t byte = address + range.begin; byte < address + range.begin + range.size;
         ++byte) {
      lines[byte / line_bytes] |= static_cast<std::uint8_t>(1U << (byte % line_bytes / 32));
    }
  }
  return lines;
}

/// One block's share of a CU's L1: so many ways of every set, the most recent line first.
struct L1 {
  std::map<std::uint64_t, std::list<std::pair<std::uint64_t, std::uint8_t>>> sets;
  std::uint64_t num_sets;
  std::size_t ways;

  bool load(std::uint64_t line, std::uint8_t sectors) {
    auto& set = sets[line % num_sets];
    std::uint8_t present = 0;
    for (const auto& [l, s] : set) {
      if (l == line) present = s;
    }
    set.remove_if([&](const auto& entry) { return entry.first == line; });
    set.emplace_front(line, present | sectors);
    if (set.size() > ways) set.pop_back();
    return (present & sectors) == sectors;
  }
};

inline Block lines_of_block(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu,
                            std::uint64_t block) {
  const std::uint64_t line_bytes = machine.l2.line_bytes;
  const Template& t = trace.templates[trace.blocks[block].template_index];
  L1 l1{{},
        std::max<std::uint64_t>(1, machine.l1.bytes / (line_bytes * machine.l1.ways)),
        std::max<std::size_t>(1, machine.l1.ways / blocks_per_cu)};
  Block out;
  std::uint32_t next = 0;
  for (const Interval& interval : t.intervals) {
    Step step;
    step.cost = interval.cost;
    for (; next < interval.event_end; ++next) {
      const Event& e = t.events[next];
      const auto address = static_cast<std::uint64_t>(
          trace.anchors[trace.blocks[block].first_anchor + e.slot] + e.offset);
      for (auto [line, sectors] : coalesce(trace.patterns[e.pattern], address, line_bytes)) {
        double asked = 0;
        for (int s = 0; s < 8; ++s) asked += (sectors >> s & 1) * 32.0;
        step.l1_clocks += std::max(1.0, asked / machine.l1.bytes_per_clk);
        if (e.kind == AccessKind::kLoad) {
          if (machine.l2.read_request_bytes >= line_bytes) {
            sectors = static_cast<std::uint8_t>((1U << (line_bytes / 32)) - 1);
          }
          ++out.l1_requests;
          if (l1.load(line, sectors)) {
            ++out.l1_hits;
            continue;
          }
        }
        step.requests.push_back({line, t.slot_buffer[e.slot], e.kind, sectors});
      }
    }
    out.steps.push_back(std::move(step));
  }
  return out;
}

}  // namespace swizzleperf::naive
