// Sharing is known where launches are made for it, and counted over all pairs where they are small.
#include "context/sharing.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>

#include "base/random.h"
#include "support/random_launch.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

LineTrace lines_of(const Trace& trace, std::uint32_t blocks_per_cu = 2) {
  return make_lines(trace, synthetic::mi300x(), blocks_per_cu);
}

const AxisSharing& along(const ArraySharing& array, const std::string& axis) {
  for (const AxisSharing& a : array.axes) {
    if (a.axis == axis) return a;
  }
  ADD_FAILURE() << "no axis " << axis;
  return array.axes.front();
}

double share_at(const AxisSharing& axis, std::uint64_t distance) {
  for (const PairSharing& p : axis.pairs) {
    if (p.distance == distance) return p.share();
  }
  ADD_FAILURE() << "no distance " << distance;
  return -1;
}

// ---- by brute force -----------------------------------------------------------------------------

using Lines = std::set<std::uint32_t>;

struct Brute {
  std::vector<Lines> of_block;
  Dim3 grid;

  Brute(const LineTrace& trace, std::uint32_t buffer)
      : of_block(trace.blocks.size()), grid(trace.grid) {
    for (std::size_t b = 0; b < of_block.size(); ++b) {
      const LineTemplate& t = trace.templates[trace.blocks[b].template_index];
      for (const LineRequest& r : t.requests) {
        if (t.slot_buffer[r.slot] != buffer) continue;
        of_block[b].insert(trace.anchors[trace.blocks[b].first_anchor + r.slot] + r.line);
      }
    }
  }

  [[nodiscard]] static std::array<std::uint64_t, 3> index_of(std::uint64_t b, const Dim3& grid) {
    const Dim3 i = unlinear(b, grid);
    return {i.x, i.y, i.z};
  }

  /// Whether b is `distance` behind a along the axis (3: the linear index), others equal.
  [[nodiscard]] bool apart(std::size_t a, std::size_t b, std::size_t axis,
                           std::uint64_t distance) const {
    if (axis == 3) return a + distance == b;
    auto from = index_of(a, grid);
    from[axis] += distance;
    return from == index_of(b, grid);
  }

  [[nodiscard]] bool in_row(std::size_t a, std::size_t b, std::size_t axis) const {
    auto one = index_of(a, grid);
    auto other = index_of(b, grid);
    one[axis] = other[axis] = 0;
    return one == other;
  }

  static std::uint64_t common(const Lines& a, const Lines& b) {
    std::uint64_t n = 0;
    for (const std::uint32_t line : a) n += b.count(line);
    return n;
  }

  void expect_pairs(const PairSharing& is, std::size_t axis) const {
    PairSharing want;
    want.least = 1;
    for (std::size_t a = 0; a < of_block.size(); ++a) {
      for (std::size_t b = 0; b < of_block.size(); ++b) {
        if (of_block[a].empty() || !apart(a, b, axis, is.distance)) continue;
        const std::uint64_t shared = common(of_block[a], of_block[b]);
        ++want.pairs;
        want.lines += of_block[a].size();
        want.shared += shared;
        const double share = double(shared) / double(of_block[a].size());
        want.least = std::min(want.least, share);
        want.most = std::max(want.most, share);
      }
    }
    if (want.pairs == 0) want.least = 0;
    EXPECT_EQ(is.pairs, want.pairs);
    EXPECT_EQ(is.skipped, 0U);
    EXPECT_EQ(is.lines, want.lines);
    EXPECT_EQ(is.shared, want.shared);
    EXPECT_EQ(is.least, want.least);
    EXPECT_EQ(is.most, want.most);
  }

  void expect_row(const RowSharing& is, std::size_t axis) const {
    RowSharing want;
    for (std::size_t a = 0; a < of_block.size(); ++a) {
      for (const std::uint32_t line : of_block[a]) {
        std::uint64_t inside = 0;
        std::uint64_t size = 0;
        std::uint64_t outside = 0;
        for (std::size_t b = 0; b < of_block.size(); ++b) {
          const bool row = in_row(a, b, axis);
          size += row;
          (row ? inside : outside) += of_block[b].count(line);
        }
        ++want.lines;
        want.by_all += inside == size;
        want.by_any += inside > 1;
        want.outside += outside > 0;
      }
    }
    EXPECT_EQ(is.skipped, 0U);
    EXPECT_EQ(is.lines, want.lines);
    EXPECT_EQ(is.by_all, want.by_all);
    EXPECT_EQ(is.by_any, want.by_any);
    EXPECT_EQ(is.outside, want.outside);
  }

  void expect_counts(const ArraySharing& is) const {
    std::vector<std::uint64_t> sizes;
    std::map<std::uint32_t, std::uint64_t> blocks;
    for (const Lines& lines : of_block) {
      if (!lines.empty()) sizes.push_back(lines.size());
      for (const std::uint32_t line : lines) ++blocks[line];
    }
    std::vector<std::uint64_t> counts;
    for (const auto& [line, n] : blocks) counts.push_back(n);
    EXPECT_EQ(is.blocks, sizes.size());
    EXPECT_EQ(is.lines, counts.size());
    for (auto& [values, spread] :
         {std::pair{&sizes, is.lines_of_block}, std::pair{&counts, is.blocks_of_line}}) {
      std::sort(values->begin(), values->end());
      EXPECT_EQ(spread.least, values->front());
      EXPECT_EQ(spread.median, (*values)[(values->size() - 1) / 2]);
      EXPECT_EQ(spread.most, values->back());
    }
  }
};

void expect_as_counted(const Trace& trace) {
  const LineTrace lines = lines_of(trace);
  const std::vector<ArraySharing> arrays = measure_sharing(lines, 2);
  std::size_t asked = 0;
  for (std::uint32_t buffer = 0; buffer < lines.buffers.size(); ++buffer) {
    const Brute brute(lines, buffer);
    bool any = false;
    for (const Lines& l : brute.of_block) any = any || !l.empty();
    asked += any;
  }
  ASSERT_EQ(arrays.size(), asked);
  const std::size_t grid_axes =
      std::size_t{lines.grid.x > 1} + (lines.grid.y > 1) + (lines.grid.z > 1);
  for (const ArraySharing& array : arrays) {
    SCOPED_TRACE(array.buffer);
    const Brute brute(lines, array.buffer);
    brute.expect_counts(array);
    ASSERT_EQ(array.axes.size(), grid_axes + (grid_axes > 1));
    for (const AxisSharing& axis : array.axes) {
      SCOPED_TRACE(axis.axis);
      const bool linear = axis.axis == "pid";
      const std::size_t which = linear ? 3 : static_cast<std::size_t>(axis.axis[4] - 'x');
      for (const PairSharing& pairs : axis.pairs) {
        SCOPED_TRACE(pairs.distance);
        brute.expect_pairs(pairs, which);
      }
      const std::size_t only = lines.grid.x > 1 ? 0 : lines.grid.y > 1 ? 1 : 2;
      if (!linear || grid_axes == 1) brute.expect_row(axis.row, linear ? only : which);
    }
  }
}

TEST(Sharing, IsWhatAllPairsSay) {
  Random random(7);
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE(i);
    Trace trace = synthetic::random_trace(random);
    const std::uint64_t blocks = trace.grid.count();
    // The same blocks in other pictures.
    for (const std::uint32_t x : {1U, 2U, 3U, 5U}) {
      for (const std::uint32_t y : {1U, 2U, 4U}) {
        if (blocks % (x * y) != 0 || !synthetic::coin(random)) continue;
        trace.grid = {x, y, static_cast<std::uint32_t>(blocks / (x * y))};
        expect_as_counted(trace);
      }
    }
  }
}

TEST(Sharing, OfKernelsIsWhatAllPairsSay) {
  expect_as_counted(synthetic::build(synthetic::Gemm{3 * 128, 5 * 128, 128}));
  expect_as_counted(synthetic::build(synthetic::Gemm{6 * 128, 4 * 128, 64, 128, 4}));
  expect_as_counted(synthetic::build(synthetic::Transpose{160}));
}

// ---- by construction ----------------------------------------------------------------------------

/// A launch whose block asks for whole lines of one array, as a function of its index.
struct Made {
  Dim3 grid;
  std::uint64_t lines;
  std::function<std::vector<std::uint64_t>(const Dim3&)> of;

  [[nodiscard]] Trace launch() const {
    Trace t;
    t.grid = grid;
    t.block = {64, 1, 1};
    t.buffers = {{"array", 1ULL << 40, lines * 128}};
    return t;
  }
  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(1);
    for (const std::uint64_t line : of(index)) {
      std::array<std::uint64_t, 64> lanes{};
      lanes.fill((1ULL << 40) + line * 128);
      if (!r.access(AccessKind::kLoad, 0, 1, lanes.data(), 4)) return;
    }
  }
};

ArraySharing sharing_of(const Made& made) {
  const Trace trace = synthetic::build(made, 2, false);
  expect_as_counted(trace);
  return measure_sharing(lines_of(trace), 1).front();
}

TEST(Sharing, OfAGemmIsAlongRowsAndColumns) {
  const std::vector<ArraySharing> arrays =
      measure_sharing(lines_of(synthetic::build(synthetic::Gemm{1280, 1536, 128})), 2);
  ASSERT_EQ(arrays.size(), 3U);
  const auto expect = [](const ArraySharing& array, double x, double y) {
    for (const std::uint64_t d : {1, 2, 4, 8}) {
      EXPECT_EQ(share_at(along(array, "pid_x"), d), x);
      EXPECT_EQ(share_at(along(array, "pid_y"), d), y);
    }
    for (const auto& [axis, share] : {std::pair{"pid_x", x}, std::pair{"pid_y", y}}) {
      const RowSharing& row = along(array, axis).row;
      EXPECT_EQ(row.by_all, static_cast<std::uint64_t>(share) * row.lines);
      EXPECT_EQ(row.by_any, row.by_all);
      EXPECT_EQ(row.outside, (x + y > share ? row.lines : 0));
    }
  };
  expect(arrays[0], 1, 0);
  expect(arrays[1], 0, 1);
  expect(arrays[2], 0, 0);
  EXPECT_EQ(arrays[0].blocks_of_line.least, 12);
  EXPECT_EQ(arrays[0].blocks_of_line.most, 12);
  EXPECT_EQ(arrays[1].blocks_of_line.median, 10);
  EXPECT_EQ(arrays[2].blocks_of_line.most, 1);
  EXPECT_EQ(arrays[0].lines_of_block.median, 128 * 128 * 2 / 128);
}

TEST(Sharing, OfAllAndOfNone) {
  const ArraySharing all =
      sharing_of({{4, 3, 2}, 4, [](const Dim3&) { return std::vector<std::uint64_t>{0, 1, 3}; }});
  EXPECT_EQ(all.lines, 3U);
  EXPECT_EQ(all.blocks_of_line.least, 24);
  for (const AxisSharing& axis : all.axes) {
    for (const PairSharing& p : axis.pairs) EXPECT_EQ(p.least, 1);
    EXPECT_EQ(axis.row.by_all, axis.row.lines);
  }
  const ArraySharing none =
      sharing_of({{4, 3, 2}, 24, [](const Dim3& i) {
                    return std::vector<std::uint64_t>{i.x + 4 * (i.y + 3 * i.z)};
                  }});
  for (const AxisSharing& axis : none.axes) {
    for (const PairSharing& p : axis.pairs) EXPECT_EQ(p.most, 0);
    EXPECT_EQ(axis.row.by_any + axis.row.outside, 0U);
  }
}

/// Blocks of two rows of three lines each and one row of halo on either side.
TEST(Sharing, OfAHaloEndsAtItsWidth) {
  const ArraySharing halo =
      sharing_of({{3, 9, 1}, 20 * 9, [](const Dim3& i) {
                    std::vector<std::uint64_t> lines;
                    for (std::uint64_t row = 2 * i.y; row < 2 * i.y + 4; ++row) {
                      for (std::uint64_t c = 0; c < 3; ++c) lines.push_back(row * 9 + 3 * i.x + c);
                    }
                    return lines;
                  }});
  EXPECT_EQ(share_at(along(halo, "pid_y"), 1), 0.5);
  EXPECT_EQ(share_at(along(halo, "pid_y"), 2), 0);
  EXPECT_EQ(share_at(along(halo, "pid_x"), 1), 0);
  const RowSharing& column = along(halo, "pid_y").row;
  EXPECT_EQ(column.by_all, 0U);
  EXPECT_EQ(column.outside, 0U);
  EXPECT_EQ(column.by_any, 27U * 12 - 2U * 3 * 6);  // all but the outer rows of the outer blocks
}

/// A kernel that sees a picture of 10 columns in a grid of one axis, the last row ragged.
TEST(Sharing, FindsColumnsThatTheGridHides) {
  const ArraySharing b = sharing_of(
      {{77, 1, 1}, 10, [](const Dim3& i) { return std::vector<std::uint64_t>{i.x % 10}; }});
  ASSERT_EQ(b.axes.size(), 1U);
  EXPECT_EQ(b.axes[0].axis, "pid");
  EXPECT_EQ(share_at(b.axes[0], 10), 1);
  EXPECT_EQ(share_at(b.axes[0], 20), 1);
  EXPECT_EQ(share_at(b.axes[0], 1), 0);
}

/// Every prefix is spread over the launch, and what is left out is said.
TEST(Sharing, SaysWhatItLeftOut) {
  Random random(3);
  const LineTrace lines = lines_of(synthetic::build(Made{{512, 2, 1},
                                                         4096,
                                                         [](const Dim3& i) {
                                                           Random own(i.x + 512 * i.y);
                                                           std::vector<std::uint64_t> asked(20);
                                                           for (std::uint64_t& line : asked)
                                                             line = own.below(4096);
                                                           return asked;
                                                         }},
                                                    2, false));
  const std::vector<ArraySharing> all = measure_sharing(lines, 2);
  const std::vector<ArraySharing> some = measure_sharing(lines, 2, 2000);
  const PairSharing& every = along(all[0], "pid_x").pairs.front();
  const PairSharing& part = along(some[0], "pid_x").pairs.front();
  EXPECT_EQ(every.pairs, 511U * 2);
  EXPECT_EQ(every.skipped, 0U);
  EXPECT_GT(part.pairs, 20U);
  EXPECT_GT(part.skipped, 0U);
  EXPECT_EQ(part.pairs + part.skipped, every.pairs);
  const RowSharing& rows = along(some[0], "pid_y").row;
  EXPECT_GT(rows.rows, 0U);
  EXPECT_EQ(rows.rows + rows.skipped, 512U);
  // What concerns the array alone is always counted whole.
  EXPECT_EQ(all[0].lines, some[0].lines);
  EXPECT_EQ(all[0].blocks_of_line.most, some[0].blocks_of_line.most);
}

TEST(Sharing, OfALaunchThatAsksForNothing) {
  Trace trace;
  trace.grid = {4, 2, 1};
  trace.templates = {{}};
  trace.blocks.assign(8, {0, 0});
  EXPECT_TRUE(measure_sharing(lines_of(trace), 2).empty());
  trace.grid = {1, 1, 1};
  trace.blocks.resize(1);
  EXPECT_TRUE(measure_sharing(lines_of(trace), 2).empty());
}

}  // namespace
}  // namespace swizzleperf
