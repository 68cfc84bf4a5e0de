// Which blocks of a launch ask for the same cache lines.
//
// This is what an order of blocks can use, and all it can use: where no two blocks share a line, no
// order helps. So it is measured, not read off the source: for each array, of the lines that a
// block asks for, how many does the block at distance 1, 2, 4, ... along an axis of the grid also
// ask for, how many do all (or any) of the blocks that differ from it in that axis only, and how
// many does somebody else. A line counts once a block, however often the block asks.
//
// A launch of a million blocks has 10^12 pairs. What makes the count exact in a second is that few
// pairs differ: a block's lines are a shape (from its template) moved to an offset, and the overlap
// of two blocks depends on their shapes and the distance of their offsets only. Blocks of irregular
// kernels have a shape each; there every count has a budget, and where it runs out the pairs (or
// rows) that were looked at, spread over the launch, are told apart from all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/lines.h"

namespace swizzleperf {

struct Spread {
  double least = 0;
  double median = 0;
  double most = 0;
};

/// The median is the lower of two.
template <typename T>
Spread spread_of(std::vector<T> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {static_cast<double>(*least), static_cast<double>(*middle), static_cast<double>(*most)};
}

/// Pairs of blocks (b, b + distance along an axis), both inside the grid.
struct PairSharing {
  std::uint64_t distance = 0;
  std::uint64_t pairs = 0;    ///< looked at, of those whose first block asks for the array at all
  std::uint64_t skipped = 0;  ///< not looked at, over the budget
  std::uint64_t lines = 0;    ///< that the first blocks ask for
  std::uint64_t shared = 0;   ///< of them, those that the second asks for too
  double least = 0;           ///< over the pairs, the share of the first's lines
  double most = 0;
  [[nodiscard]] double share() const {
    return lines > 0 ? static_cast<double>(shared) / static_cast<double>(lines) : 0;
  }
};

/// A row is all blocks that differ in one axis only.
struct RowSharing {
  std::uint64_t rows = 0;     ///< looked at
  std::uint64_t skipped = 0;  ///< over the budget
  std::uint64_t lines = 0;    ///< that blocks ask for, summed over the blocks of those rows
  std::uint64_t by_all = 0;   ///< of them, those that every block of the row asks for
  std::uint64_t by_any = 0;   ///< those that another block of the row asks for
  std::uint64_t outside = 0;  ///< those that a block outside the row asks for
};

struct AxisSharing {
  std::string axis;  ///< pid_x, pid_y, pid_z; pid, the linear index, where the grid has others too
  std::uint64_t extent = 0;
  std::vector<PairSharing> pairs;  ///< by distance
  RowSharing row;                  ///< nothing for pid
};

struct ArraySharing {
  std::uint32_t buffer = 0;  ///< index into Trace::buffers
  std::uint64_t blocks = 0;  ///< that ask for it at all
  std::uint64_t lines = 0;   ///< of the array, that anybody asks for
  Spread lines_of_block;     ///< over the blocks that ask
  Spread blocks_of_line;     ///< over the lines that are asked for
  std::vector<AxisSharing> axes;
};

/// Work for one figure, in steps of some nanoseconds; enough for a million blocks that are alike
/// and for every kernel of the suite at its full size.
constexpr std::uint64_t kSharingBudget = 50'000'000;

/// The arrays that are asked for, by Trace::buffers. The same for any number of threads.
std::vector<ArraySharing> measure_sharing(const LineTrace& lines, unsigned threads,
                                          std::uint64_t budget = kSharingBudget);

}  // namespace swizzleperf
