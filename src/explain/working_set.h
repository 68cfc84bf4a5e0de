// What the blocks that are in flight at the same time ask for, on a die or on all of them, each
// line counted once.
//
// A line that one generation of blocks has fetched is there for the next only if the generation
// asks for less than L2 holds; so this is the figure to hold against L2 where capacity misses
// dominate; the whole device's is for the last level. It is counted for the generation in the
// middle of the launch, on the first die or on all; a launch that fills the machine less than once
// is one generation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "swizzleperf/machine.h"
#include "trace/lines.h"

namespace swizzleperf {

struct WorkingSet {
  std::uint32_t blocks = 0;
  double bytes = 0;
  std::vector<double> by_array;  ///< bytes, by Trace::buffers
};

WorkingSet working_set(const LineTrace& lines, const Machine& machine, std::uint32_t blocks_per_cu,
                       std::span<const std::uint32_t> permutation);

/// On all dies. Where two of them ask for a line it counts once.
WorkingSet device_working_set(const LineTrace& lines, const Machine& machine,
                              std::uint32_t blocks_per_cu,
                              std::span<const std::uint32_t> permutation);

}  // namespace swizzleperf
