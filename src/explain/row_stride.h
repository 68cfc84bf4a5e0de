// How far apart the rows of an array lie, as its blocks walk them.
//
// Nobody tells a trace what the leading dimension of an array is, but a block that loads a tile
// jumps by it again and again: from the beginning of one run of neighbouring lines to that of the
// next. The commonest such jump is the row stride.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/lines.h"

namespace swizzleperf {

struct RowStride {
  std::uint64_t bytes = 0;  ///< 0: the array is walked line by line, or hardly at all
  double share = 0;         ///< of all jumps, those of this length
};

/// By Trace::buffers.
std::vector<RowStride> row_strides(const LineTrace& lines);

}  // namespace swizzleperf
