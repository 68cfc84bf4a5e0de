// The same maps as compiled C++, as a yardstick for the evaluator.
#pragma once

#include <cstdint>

namespace swizzleperf {

/// The exact die-contiguous map followed by bands of 8 rows, for dispatch index p.
using NativeMap = void (*)(std::int64_t num_blocks, std::int64_t num_xcds, std::int64_t cols,
                           std::int64_t* targets);

void native_die_contiguous(std::int64_t num_blocks, std::int64_t num_xcds, std::int64_t cols,
                           std::int64_t* targets);
void native_die_contiguous_grouped(std::int64_t num_blocks, std::int64_t num_xcds,
                                   std::int64_t cols, std::int64_t* targets);

}  // namespace swizzleperf
