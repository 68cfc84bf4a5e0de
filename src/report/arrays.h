// What a launch asks of each of its arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "swizzleperf/trace.h"

namespace swizzleperf {

/// Over all blocks. Bytes are those that lanes ask for, equal ones within a wave counted once.
struct ArrayTraffic {
  std::uint64_t accesses = 0;  ///< wave instructions
  std::uint64_t loaded_bytes = 0;
  std::uint64_t stored_bytes = 0;  ///< atomics included
  bool operator==(const ArrayTraffic&) const = default;
};

/// By Trace::buffers.
std::vector<ArrayTraffic> traffic_by_array(const Trace& trace);

/// A table of the arrays that are touched at all; `l2_misses` by Trace::buffers.
std::string arrays_table(const Trace& trace, const std::vector<double>& l2_misses);

}  // namespace swizzleperf
