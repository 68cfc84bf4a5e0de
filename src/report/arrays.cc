// See arrays.h. Blocks of one template ask for the same numbers of bytes, wherever those lie.
#include "report/arrays.h"

#include <fmt/format.h>

#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf {

std::vector<ArrayTraffic> traffic_by_array(const Trace& trace) {
  std::vector<std::uint64_t> blocks(trace.templates.size());
  for (const BlockTrace& block : trace.blocks) ++blocks[block.template_index];
  std::vector<std::uint64_t> bytes_of_pattern;
  for (const Pattern& pattern : trace.patterns) {
    bytes_of_pattern.push_back(0);
    for (const ByteRange& range : pattern) bytes_of_pattern.back() += range.size;
  }
  std::vector<ArrayTraffic> traffic(trace.buffers.size());
  for (std::size_t t = 0; t < blocks.size(); ++t) {
    const Template& one = trace.templates[t];
    for (const Event& event : one.events) {
      ArrayTraffic& array = traffic[one.slot_buffer[event.slot]];
      array.accesses += blocks[t];
      (event.kind == AccessKind::kLoad ? array.loaded_bytes : array.stored_bytes) +=
          blocks[t] * bytes_of_pattern[event.pattern];
    }
  }
  return traffic;
}

std::string arrays_table(const Trace& trace, const std::vector<double>& l2_misses) {
  Table table{{{"array"},
               {"size", true},
               {"accesses", true},
               {"loaded", true},
               {"stored", true},
               {"L2 misses", true}},
              {}};
  const auto bytes = [](std::uint64_t count) { return bytes_words(static_cast<double>(count)); };
  const std::vector<ArrayTraffic> traffic = traffic_by_array(trace);
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    if (traffic[i].accesses == 0) continue;
    table.rows.push_back({trace.buffers[i].name, bytes(trace.buffers[i].bytes),
                          count_words(static_cast<double>(traffic[i].accesses)),
                          bytes(traffic[i].loaded_bytes), bytes(traffic[i].stored_bytes),
                          i < l2_misses.size() ? count_words(l2_misses[i]) : "unknown"});
  }
  return render(table, output_width());
}

}  // namespace swizzleperf
