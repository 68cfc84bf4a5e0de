// The same watch over a trace, in which every block's accesses are known but no values are.
//
// Most of a trace are loads from arrays that the launch does not write. They cannot meet a store;
// they are only hashed, since they tell a repeated block from one that shares some bytes.
#include <algorithm>

#include "base/random.h"
#include "check/watch.h"

namespace swizzleperf {
namespace {

/// By buffer: does any block store there?
std::vector<bool> written_buffers(const Trace& trace) {
  std::vector<bool> written(trace.buffers.size());
  for (const Template& t : trace.templates) {
    for (const Event& event : t.events)
      if (event.kind != AccessKind::kLoad) written[t.slot_buffer[event.slot]] = true;
  }
  return written;
}

}  // namespace

LaunchFindings watch_trace(const Trace& trace) {
  const std::vector<bool> written = written_buffers(trace);
  LaunchWatch watch(/*values=*/false);
  std::vector<Range> ranges;
  for (std::uint64_t block = 0; block < trace.blocks.size(); ++block) {
    const BlockTrace& b = trace.blocks[block];
    const Template& t = trace.templates[b.template_index];
    watch.turn(block);
    for (const Event& event : t.events) {
      const auto address =
          static_cast<std::uint64_t>(trace.anchors[b.first_anchor + event.slot] + event.offset);
      if (event.kind == AccessKind::kLoad && !written[t.slot_buffer[event.slot]]) {
        watch.does(mix64(address ^ std::uint64_t{event.pattern} << 48));
        continue;
      }
      ranges.clear();
      for (const ByteRange& r : trace.patterns[event.pattern])
        ranges.push_back({address + r.begin, address + r.begin + r.size});
      watch.access({.kind = event.kind, .ranges = ranges});
    }
    watch.end();
  }
  LaunchFindings findings;
  findings.kernel = trace.kernel;
  findings.grid = trace.grid;
  findings.block = trace.block;
  findings.buffers = trace.buffers;
  watch.finish({SourceLine{}}, findings);
  return findings;
}

}  // namespace swizzleperf
