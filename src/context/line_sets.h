// The distinct lines that each block asks of one array.
//
// Blocks of one template whose anchors lie alike ask for the same shape of lines, moved. A shape is
// kept as runs of neighbouring lines; a set is a shape at an offset, and blocks that ask for the
// same lines have the same set. So a GEMM of 4096 blocks has a few shapes and 64 sets an array.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/lines.h"

namespace swizzleperf {

struct LineRun {
  std::uint32_t begin;  ///< from the shape's first line
  std::uint32_t end;
};

struct LineShape {
  std::vector<LineRun> runs;  ///< sorted, not touching; the first begins at 0
  std::uint64_t lines = 0;
};

struct LineSet {
  std::uint32_t shape;
  std::uint32_t first;  ///< line, from the array's first that anybody asks for
};

struct ArrayLines {
  static constexpr std::uint32_t kNothing = UINT32_MAX;

  std::vector<LineShape> shapes;
  std::vector<LineSet> sets;
  std::vector<std::uint32_t> set_of_block;  ///< by linear block; kNothing where it asks for none
  std::uint32_t span = 0;                   ///< from the first line asked for to the last

  [[nodiscard]] std::uint64_t lines_of(std::uint32_t set) const {
    return shapes[sets[set].shape].lines;
  }
  /// Calls body(first line, one past the last) for every run of the set.
  template <typename Body>
  void for_runs(std::uint32_t set, const Body& body) const {
    const std::uint32_t first = sets[set].first;
    for (const LineRun& run : shapes[sets[set].shape].runs)
      body(first + run.begin, first + run.end);
  }
};

ArrayLines array_lines(const LineTrace& lines, std::uint32_t buffer);

/// Counts the lines that two sets have in common, remembering what depends on shapes and distance.
class Overlaps {
 public:
  explicit Overlaps(const ArrayLines& lines) : lines_(lines) {}
  std::uint64_t operator()(std::uint32_t set, std::uint32_t other);
  /// Steps of some nanoseconds that all calls took.
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

 private:
  struct Pair {
    std::uint32_t shape = ArrayLines::kNothing;
    std::uint32_t other = ArrayLines::kNothing;
    std::int64_t distance = 0;
    bool operator==(const Pair&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const;
  };
  std::uint64_t merged(const Pair& pair);

  const ArrayLines& lines_;
  std::unordered_map<Pair, std::uint64_t, Hash> known_;
  Pair last_;  // blocks next to each other are often alike
  std::uint64_t last_common_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace swizzleperf
