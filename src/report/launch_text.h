// How launches and figures read on a terminal, for every verb alike.
#pragma once

#include <string>

#include "swizzleperf/grid.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

/// "64 x 64 blocks of 256 threads"
std::string launch_words(const Dim3& grid, const Dim3& block);

/// "64 x 64", axes of extent 1 left out
std::string extent_words(const Dim3& extent);

/// "3 a CU", in the words of the machine's vendor
std::string blocks_per_unit_words(std::uint32_t blocks, const Machine& machine);

/// How the trace was obtained: blocks run, checked, extrapolated.
std::string method_words(const Trace& trace);

/// 1234567 -> "1.23 MB", in powers of ten
std::string bytes_words(double bytes);

/// Milliseconds with three decimals, below a tenth with five, so that small launches differ, too.
std::string ms_words(double ms);

/// 1234567 -> "1.23 M"
std::string count_words(double count);

}  // namespace swizzleperf
