// See working_set.h.
#include "explain/working_set.h"

#include <algorithm>
#include <numeric>

namespace swizzleperf {
namespace {

/// Dispatch indices that the first die gets, in order. One queue feeds all dies in turn at first.
std::vector<std::uint64_t> of_first_die(const Machine& machine, std::uint64_t blocks) {
  const std::uint64_t chunk =
      machine.dispatch == Dispatch::kRoundRobinPerDie ? machine.dispatch_chunk : 1;
  std::vector<std::uint64_t> indices;
  for (std::uint64_t p = 0; p < blocks; ++p) {
    if (p / chunk % machine.dies == 0) indices.push_back(p);
  }
  return indices;
}

/// Of so many of the dispatch indices, from the middle of them.
WorkingSet of_middle(const LineTrace& lines, std::span<const std::uint64_t> indices,
                     std::size_t in_flight, std::span<const std::uint32_t> permutation) {
  const std::size_t generations = std::max<std::size_t>(1, indices.size() / in_flight);
  const std::size_t first = generations / 2 * in_flight;
  const std::size_t end = std::min(indices.size(), first + in_flight);

  WorkingSet set;
  set.blocks = static_cast<std::uint32_t>(end - first);
  set.by_array.resize(lines.buffers.size());
  std::vector<bool> asked(lines.num_lines);
  for (std::size_t i = first; i < end; ++i) {
    const BlockLines& block = lines.blocks[permutation[indices[i]]];
    const std::uint32_t* anchors = lines.anchors.data() + block.first_anchor;
    const LineTemplate& t = lines.templates[block.template_index];
    for (const LineRequest& r : t.requests) {
      const std::uint32_t line = anchors[r.slot] + r.line;
      if (asked[line]) continue;
      asked[line] = true;
      set.by_array[t.slot_buffer[r.slot]] += lines.line_bytes;
    }
  }
  for (const double bytes : set.by_array) set.bytes += bytes;
  return set;
}

}  // namespace

WorkingSet working_set(const LineTrace& lines, const Machine& machine, std::uint32_t blocks_per_cu,
                       std::span<const std::uint32_t> permutation) {
  return of_middle(lines, of_first_die(machine, permutation.size()),
                   std::size_t{machine.cus_per_die} * blocks_per_cu, permutation);
}

WorkingSet device_working_set(const LineTrace& lines, const Machine& machine,
                              std::uint32_t blocks_per_cu,
                              std::span<const std::uint32_t> permutation) {
  std::vector<std::uint64_t> indices(permutation.size());
  std::iota(indices.begin(), indices.end(), 0);
  return of_middle(lines, indices, std::size_t{machine.dies} * machine.cus_per_die * blocks_per_cu,
                   permutation);
}

}  // namespace swizzleperf
