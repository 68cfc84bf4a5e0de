// In a file of its own, so that the compiler knows neither the grid nor the die count.

#include "native.h"

#include <algorithm>

namespace swizzleperf {

void native_die_contiguous(std::int64_t num_blocks, std::int64_t num_xcds, std::int64_t /*cols*/,
                           std::int64_t* targets) {
  const std::int64_t share = num_blocks / num_xcds;
  const std::int64_t extra = num_blocks % num_xcds;
  for (std::int64_t p = 0; p < num_blocks; ++p) {
    const std::int64_t die = p % num_xcds;
    targets[p] = die * share + std::min(die, extra) + p / num_xcds;
  }
}

void native_die_contiguous_grouped(std::int64_t num_blocks, std::int64_t num_xcds,
                                   std::int64_t cols, std::int64_t* targets) {
  constexpr std::int64_t kHeight = 8;
  const std::int64_t share = num_blocks / num_xcds;
  const std::int64_t extra = num_blocks % num_xcds;
  const std::int64_t rows = num_blocks / cols;
  const std::int64_t band = kHeight * cols;
  for (std::int64_t p = 0; p < num_blocks; ++p) {
    const std::int64_t die = p % num_xcds;
    const std::int64_t q = die * share + std::min(die, extra) + p / num_xcds;
    const std::int64_t first = q / band * kHeight;
    const std::int64_t tall = std::min(rows - first, kHeight);
    targets[p] = (first + q % band % tall) * cols + q % band / tall;
  }
}

}  // namespace swizzleperf
