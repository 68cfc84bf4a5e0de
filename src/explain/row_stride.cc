// See row_stride.h.
#include "explain/row_stride.h"

#include <map>
#include <optional>

namespace swizzleperf {
namespace {

using Jumps = std::map<std::uint32_t, double>;  // lines -> how often

/// The jumps of one block's requests, slot by slot, each counted `weight` times.
void count_jumps(const LineTemplate& t, double weight, std::vector<Jumps>& jumps) {
  struct Run {
    std::uint32_t begin;
    std::uint32_t last;
  };
  std::vector<std::optional<Run>> runs(t.slot_buffer.size());
  for (const LineRequest& r : t.requests) {
    std::optional<Run>& run = runs[r.slot];
    if (run && r.line - run->last <= 1) {
      run->last = r.line;
      continue;
    }
    if (run) {
      const auto jump = static_cast<std::int32_t>(r.line - run->begin);
      jumps[t.slot_buffer[r.slot]][static_cast<std::uint32_t>(jump < 0 ? -jump : jump)] += weight;
    }
    run = Run{r.line, r.line};
  }
}

}  // namespace

std::vector<RowStride> row_strides(const LineTrace& lines) {
  std::vector<double> blocks(lines.templates.size());
  for (const BlockLines& block : lines.blocks) blocks[block.template_index] += 1;
  std::vector<Jumps> jumps(lines.buffers.size());
  for (std::size_t t = 0; t < blocks.size(); ++t) {
    count_jumps(lines.templates[t], blocks[t], jumps);
  }
  std::vector<RowStride> strides(jumps.size());
  for (std::size_t a = 0; a < jumps.size(); ++a) {
    double all = 0;
    double most = 0;
    for (const auto& [length, count] : jumps[a]) {
      all += count;
      if (length <= 1 || count <= most) continue;
      most = count;
      strides[a].bytes = std::uint64_t{length} * lines.line_bytes;
    }
    if (most > 0) strides[a].share = most / all;
  }
  return strides;
}

}  // namespace swizzleperf
