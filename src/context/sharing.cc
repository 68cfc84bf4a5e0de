// See sharing.h.
#include "context/sharing.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/parallel.h"
#include "context/line_sets.h"

namespace swizzleperf {
namespace {

/// An axis of the grid: the block at distance d is d * stride further in the linear index.
struct Axis {
  std::string name;
  std::uint64_t extent;
  std::uint64_t stride;
  bool whole = false;  ///< the linear index beside the grid's own axes
};

std::vector<Axis> axes_of(const Dim3& grid) {
  std::vector<Axis> axes;
  const std::uint64_t rows = std::uint64_t{grid.x} * grid.y;
  if (grid.x > 1) axes.push_back({"pid_x", grid.x, 1});
  if (grid.y > 1) axes.push_back({"pid_y", grid.y, grid.x});
  if (grid.z > 1) axes.push_back({"pid_z", grid.z, rows});
  if (axes.empty()) return axes;
  if (axes.size() == 1) {
    axes.front().name = "pid";
  } else {
    axes.push_back({"pid", grid.count(), 1, true});
  }
  return axes;
}

/// Visits [0, count) in an order whose every prefix is spread over the whole.
class Scattered {
 public:
  explicit Scattered(std::uint64_t count) : count_(count) {
    step_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.618 * double(count)));
    while (std::gcd(step_, count_) > 1) ++step_;
  }
  std::uint64_t next() {
    const std::uint64_t at = at_;
    at_ = (at_ + step_) % count_;
    return at;
  }

 private:
  std::uint64_t count_;
  std::uint64_t step_;
  std::uint64_t at_ = 0;
};

// --- Pairs --------------------------------------------------------------------------------------

PairSharing share_pairs(const ArrayLines& array, const Axis& axis, std::uint64_t distance,
                        std::uint64_t budget) {
  constexpr std::uint64_t kStretch = 256;  // blocks next to each other are looked up next to it
  PairSharing out;
  out.distance = distance;
  out.least = 1;
  Overlaps overlaps(array);
  const auto look = [&](std::uint64_t block) {
    const std::uint32_t set = array.set_of_block[block];
    if (set == ArrayLines::kNothing) return;
    if (overlaps.spent() > budget) {
      ++out.skipped;
      return;
    }
    const std::uint32_t other = array.set_of_block[block + distance * axis.stride];
    const std::uint64_t shared = other == ArrayLines::kNothing ? 0 : overlaps(set, other);
    const std::uint64_t lines = array.lines_of(set);
    const double share = static_cast<double>(shared) / static_cast<double>(lines);
    ++out.pairs;
    out.lines += lines;
    out.shared += shared;
    out.least = std::min(out.least, share);
    out.most = std::max(out.most, share);
  };
  const std::uint64_t blocks = array.set_of_block.size();
  const std::uint64_t stretches = (blocks + kStretch - 1) / kStretch;
  Scattered order(stretches);
  for (std::uint64_t i = 0; i < stretches; ++i) {
    const std::uint64_t first = order.next() * kStretch;
    std::uint64_t coordinate = first / axis.stride % axis.extent;
    std::uint64_t left = axis.stride - first % axis.stride;  // until the coordinate goes on
    for (std::uint64_t block = first; block < std::min(blocks, first + kStretch); ++block) {
      if (coordinate + distance < axis.extent) look(block);
      if (--left > 0) continue;
      left = axis.stride;
      if (++coordinate == axis.extent) coordinate = 0;
    }
  }
  if (out.pairs == 0) out.least = 0;
  return out;
}

std::vector<std::uint64_t> doubling_distances(std::uint64_t extent) {
  constexpr std::uint64_t kFarthest = 64;
  std::vector<std::uint64_t> distances;
  for (std::uint64_t d = 1; d < extent && d <= kFarthest; d *= 2) distances.push_back(d);
  return distances;
}

/// Of a few blocks spread over the launch, how much others share with them, by distance.
std::vector<double> probe(const ArrayLines& array, std::uint64_t budget) {
  constexpr std::uint64_t kProbes = 16;
  const std::uint64_t blocks = array.set_of_block.size();
  std::vector<std::uint64_t> shared(blocks + 1);
  std::vector<std::uint64_t> lines(blocks + 1);
  Overlaps overlaps(array);
  for (std::uint64_t p = 0; p < kProbes && overlaps.spent() <= budget; ++p) {
    const std::uint64_t block = blocks * p / (2 * kProbes);
    const std::uint32_t set = array.set_of_block[block];
    if (set == ArrayLines::kNothing) continue;
    for (std::uint64_t d = 1; block + d < blocks; ++d) {
      const std::uint32_t other = array.set_of_block[block + d];
      lines[d] += array.lines_of(set);
      if (other != ArrayLines::kNothing) shared[d] += overlaps(set, other);
    }
  }
  std::vector<double> shares;
  for (std::uint64_t d = 0; d <= blocks; ++d) {
    shares.push_back(lines[d] > 0 ? double(shared[d]) / double(lines[d]) : 0);
  }
  return shares;
}

/// Distances at which blocks share clearly more than at those next to them: a kernel that works its
/// tiles out of one index shares along the columns of a picture that the grid hides. What a few
/// blocks suggest is believed if pairs from all over the launch say so too.
std::vector<std::uint64_t> standing_out(const ArrayLines& array, const Axis& axis,
                                        std::uint64_t budget) {
  constexpr double kClearly = 0.05;
  constexpr std::size_t kMost = 3;
  constexpr int kTries = 6;
  const std::vector<double> shares = probe(array, budget);
  std::vector<std::uint64_t> distances;
  int tries = 0;
  for (std::uint64_t d = 2; d + 1 < shares.size(); ++d) {
    if (shares[d] <= std::max(shares[d - 1], shares[d + 1]) + kClearly) continue;
    if (distances.size() == kMost || ++tries > kTries) break;
    const auto share = [&](std::uint64_t at) {
      return share_pairs(array, axis, at, budget / (3 * kTries)).share();
    };
    if (share(d) > std::max(share(d - 1), share(d + 1)) + kClearly) distances.push_back(d);
  }
  return distances;
}

// --- Rows ---------------------------------------------------------------------------------------

/// By line, how many blocks ask for it.
std::vector<std::uint32_t> blocks_by_line(const ArrayLines& array) {
  std::vector<std::uint32_t> blocks_of_set(array.sets.size());
  for (const std::uint32_t set : array.set_of_block) {
    if (set != ArrayLines::kNothing) ++blocks_of_set[set];
  }
  std::vector<std::uint32_t> blocks(std::size_t{array.span} + 1);  // first as steps
  for (std::uint32_t set = 0; set < array.sets.size(); ++set) {
    array.for_runs(set, [&](std::uint32_t begin, std::uint32_t end) {
      blocks[begin] += blocks_of_set[set];
      blocks[end] -= blocks_of_set[set];
    });
  }
  std::inclusive_scan(blocks.begin(), blocks.end(), blocks.begin());
  blocks.pop_back();
  return blocks;
}

class RowCounter {
 public:
  RowCounter(const ArrayLines& array, const std::vector<std::uint32_t>& total, std::uint64_t extent)
      : array_(array), total_(total), extent_(extent), in_row_(array.span) {}

  /// Rows of equal sets share alike.
  const RowSharing& count(std::vector<std::uint32_t> sets) {
    std::sort(sets.begin(), sets.end());
    const auto [at, fresh] = known_.try_emplace(std::move(sets), RowSharing{});
    if (fresh) at->second = counted(at->first);
    return at->second;
  }
  [[nodiscard]] std::uint64_t spent() const { return spent_; }

 private:
  /// Each is found three times in a table larger than the processor's caches.
  static constexpr std::uint64_t kStepsOfLine = 4;

  template <typename Body>
  static void for_distinct(const std::vector<std::uint32_t>& sets, const Body& body) {
    for (std::size_t i = 0, end = 0; i < sets.size(); i = end) {
      while (end < sets.size() && sets[end] == sets[i]) ++end;
      body(sets[i], static_cast<std::uint32_t>(end - i));
    }
  }

  RowSharing counted(const std::vector<std::uint32_t>& sets) {
    for_distinct(sets, [&](std::uint32_t set, std::uint32_t times) {
      spent_ += kStepsOfLine * array_.lines_of(set);
      array_.for_runs(set, [&](std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t line = begin; line < end; ++line) in_row_[line] += times;
      });
    });
    RowSharing out;
    for_distinct(sets, [&](std::uint32_t set, std::uint32_t times) {
      out.lines += times * array_.lines_of(set);
      array_.for_runs(set, [&](std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t line = begin; line < end; ++line) {
          out.by_all += in_row_[line] == extent_ ? times : 0;
          out.by_any += in_row_[line] > 1 ? times : 0;
          out.outside += total_[line] > in_row_[line] ? times : 0;
        }
      });
    });
    for_distinct(sets, [&](std::uint32_t set, std::uint32_t) {
      array_.for_runs(set, [&](std::uint32_t begin, std::uint32_t end) {
        std::fill(in_row_.begin() + begin, in_row_.begin() + end, 0);
      });
    });
    return out;
  }

  const ArrayLines& array_;
  const std::vector<std::uint32_t>& total_;
  std::uint64_t extent_;
  std::vector<std::uint32_t> in_row_;  // by line, blocks of the row that ask for it
  std::map<std::vector<std::uint32_t>, RowSharing> known_;
  std::uint64_t spent_ = 0;
};

RowSharing share_rows(const ArrayLines& array, const std::vector<std::uint32_t>& total,
                      const Axis& axis, std::uint64_t budget) {
  RowSharing out;
  RowCounter counter(array, total, axis.extent);
  const std::uint64_t rows = array.set_of_block.size() / axis.extent;
  Scattered order(rows);
  std::vector<std::uint32_t> sets;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t row = order.next();
    if (counter.spent() > budget) {
      out.skipped = rows - i;
      break;
    }
    const std::uint64_t first = row / axis.stride * axis.stride * axis.extent + row % axis.stride;
    sets.clear();
    for (std::uint64_t b = 0; b < axis.extent; ++b) {
      const std::uint32_t set = array.set_of_block[first + b * axis.stride];
      if (set != ArrayLines::kNothing) sets.push_back(set);
    }
    const RowSharing& one = counter.count(sets);
    ++out.rows;
    out.lines += one.lines;
    out.by_all += one.by_all;
    out.by_any += one.by_any;
    out.outside += one.outside;
  }
  return out;
}

// --- One array ----------------------------------------------------------------------------------

/// An array with what all its figures are made from.
struct Prepared {
  ArrayLines array;
  std::vector<std::uint32_t> total;  // by line, blocks that ask for it
};

void count_blocks_and_lines(const Prepared& p, ArraySharing& out) {
  std::vector<std::uint64_t> of_block;
  for (const std::uint32_t set : p.array.set_of_block) {
    if (set != ArrayLines::kNothing) of_block.push_back(p.array.lines_of(set));
  }
  std::vector<std::uint32_t> of_line;
  for (const std::uint32_t blocks : p.total) {
    if (blocks > 0) of_line.push_back(blocks);
  }
  out.blocks = of_block.size();
  out.lines = of_line.size();
  out.lines_of_block = spread_of(std::move(of_block));
  out.blocks_of_line = spread_of(std::move(of_line));
}

void plan_axes(const Prepared& p, const std::vector<Axis>& axes, std::uint64_t budget,
               ArraySharing& out) {
  for (const Axis& axis : axes) {
    std::vector<std::uint64_t> distances = doubling_distances(axis.extent);
    if (axes.size() == 1) {
      const std::vector<std::uint64_t> more = standing_out(p.array, axis, budget);
      distances.insert(distances.end(), more.begin(), more.end());
      std::sort(distances.begin(), distances.end());
      distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
    }
    AxisSharing along = {axis.name, axis.extent, {}, {}};
    for (const std::uint64_t d : distances) along.pairs.push_back({d, 0, 0, 0, 0, 0, 0});
    out.axes.push_back(std::move(along));
  }
}

}  // namespace

std::vector<ArraySharing> measure_sharing(const LineTrace& lines, unsigned threads,
                                          std::uint64_t budget) {
  const std::vector<Axis> axes = axes_of(lines.grid);
  std::vector<Prepared> prepared(lines.buffers.size());
  std::vector<ArraySharing> out(lines.buffers.size());
  parallel_for(out.size(), threads, [&](std::uint64_t a, unsigned) {
    prepared[a].array = array_lines(lines, static_cast<std::uint32_t>(a));
    prepared[a].total = blocks_by_line(prepared[a].array);
    out[a].buffer = static_cast<std::uint32_t>(a);
    count_blocks_and_lines(prepared[a], out[a]);
    if (out[a].blocks > 0) plan_axes(prepared[a], axes, budget, out[a]);
  });

  struct Task {
    std::size_t array;
    std::size_t axis;
    PairSharing* pairs;  // or, if null, the rows
  };
  std::vector<Task> tasks;
  for (std::size_t a = 0; a < out.size(); ++a) {
    for (std::size_t x = 0; x < out[a].axes.size(); ++x) {
      for (PairSharing& pairs : out[a].axes[x].pairs) tasks.push_back({a, x, &pairs});
      if (!axes[x].whole) tasks.push_back({a, x, nullptr});
    }
  }
  parallel_for(tasks.size(), threads, [&](std::uint64_t i, unsigned) {
    const Task& task = tasks[i];
    const Prepared& p = prepared[task.array];
    const Axis& axis = axes[task.axis];
    if (task.pairs != nullptr) {
      *task.pairs = share_pairs(p.array, axis, task.pairs->distance, budget);
    } else {
      out[task.array].axes[task.axis].row = share_rows(p.array, p.total, axis, budget);
    }
  });
  std::erase_if(out, [](const ArraySharing& a) { return a.blocks == 0; });
  return out;
}

}  // namespace swizzleperf
