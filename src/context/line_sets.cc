// See line_sets.h.
#include "context/line_sets.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "base/random.h"

namespace swizzleperf {
namespace {

/// Collects lines, each once, and gives them back as runs. Whether sorting them or looking through
/// the bits of all lines between the first and the last is cheaper depends on how far they spread.
class RunCollector {
 public:
  explicit RunCollector(std::uint32_t num_lines) : bits_(num_lines / 64 + 1) {}

  void add(std::uint32_t line) {
    std::uint64_t& word = bits_[line / 64];
    const std::uint64_t bit = 1ULL << (line % 64);
    if ((word & bit) != 0) return;
    word |= bit;
    asked_.push_back(line);
  }

  /// Sorted absolute runs; the collector is empty again.
  std::vector<LineRun> take() {
    std::vector<LineRun> runs;
    const auto append = [&](std::uint32_t line) {
      if (!runs.empty() && runs.back().end == line) {
        ++runs.back().end;
      } else {
        runs.push_back({line, line + 1});
      }
    };
    const auto [low, high] = std::minmax_element(asked_.begin(), asked_.end());
    const std::uint64_t words = (*high - *low) / 64 + 1;
    if (words < 8 * asked_.size()) {
      for (std::uint32_t w = *low / 64; w <= *high / 64; ++w) {
        for (std::uint64_t word = bits_[w]; word != 0; word &= word - 1) {
          append(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)));
        }
        bits_[w] = 0;
      }
    } else {
      std::sort(asked_.begin(), asked_.end());
      for (const std::uint32_t line : asked_) {
        append(line);
        bits_[line / 64] = 0;
      }
    }
    asked_.clear();
    return runs;
  }

 private:
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> asked_;
};

/// The slots of a template from which it asks for the array.
std::vector<std::uint16_t> slots_of(const LineTemplate& t, std::uint32_t buffer) {
  std::vector<bool> used(t.slot_buffer.size());
  for (const LineRequest& r : t.requests) used[r.slot] = t.slot_buffer[r.slot] == buffer;
  std::vector<std::uint16_t> slots;
  for (std::size_t s = 0; s < used.size(); ++s) {
    if (used[s]) slots.push_back(static_cast<std::uint16_t>(s));
  }
  return slots;
}

class Builder {
 public:
  Builder(const LineTrace& lines, std::uint32_t buffer)
      : trace_(lines), buffer_(buffer), collector_(lines.num_lines) {
    for (const LineTemplate& t : lines.templates) slots_.push_back(slots_of(t, buffer));
  }

  ArrayLines build() {
    out_.set_of_block.reserve(trace_.blocks.size());
    for (const BlockLines& block : trace_.blocks) out_.set_of_block.push_back(set_of(block));
    std::uint32_t low = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t high = 0;
    for (const LineSet& set : out_.sets) {
      low = std::min(low, set.first);
      high = std::max(high, set.first + out_.shapes[set.shape].runs.back().end);
    }
    for (LineSet& set : out_.sets) set.first -= low;
    out_.span = out_.sets.empty() ? 0 : high - low;
    return std::move(out_);
  }

 private:
  std::uint32_t set_of(const BlockLines& block) {
    const std::vector<std::uint16_t>& slots = slots_[block.template_index];
    if (slots.empty()) return ArrayLines::kNothing;
    const std::uint32_t* anchors = trace_.anchors.data() + block.first_anchor;
    const std::uint32_t base = anchors[slots.front()];
    key_.assign(1, block.template_index);
    for (const std::uint16_t slot : slots) key_.push_back(anchors[slot] - base);
    if (key_ != last_key_) {
      last_key_ = key_;
      const auto [at, fresh] = known_shapes_.try_emplace(key_, Known{});
      if (fresh) at->second = make_shape(trace_.templates[block.template_index], anchors, base);
      last_ = at->second;
    }
    const LineSet set = {last_.shape, base + last_.first_from_base};
    const std::uint64_t set_key = std::uint64_t{set.shape} << 32 | set.first;
    const auto [at, fresh] =
        known_sets_.try_emplace(set_key, static_cast<std::uint32_t>(out_.sets.size()));
    if (fresh) out_.sets.push_back(set);
    return at->second;
  }

  struct Known {
    std::uint32_t shape = 0;
    std::uint32_t first_from_base = 0;  ///< modulo 2^32, like the lines of requests
  };

  Known make_shape(const LineTemplate& t, const std::uint32_t* anchors, std::uint32_t base) {
    for (const LineRequest& r : t.requests) {
      if (t.slot_buffer[r.slot] == buffer_) collector_.add(anchors[r.slot] + r.line);
    }
    LineShape shape;
    shape.runs = collector_.take();
    const std::uint32_t first = shape.runs.front().begin;
    for (LineRun& run : shape.runs) {
      run = {run.begin - first, run.end - first};
      shape.lines += run.end - run.begin;
    }
    out_.shapes.push_back(std::move(shape));
    return {static_cast<std::uint32_t>(out_.shapes.size() - 1), first - base};
  }

  const LineTrace& trace_;
  std::uint32_t buffer_;
  RunCollector collector_;
  std::vector<std::vector<std::uint16_t>> slots_;  // by template
  std::map<std::vector<std::uint32_t>, Known> known_shapes_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_sets_;
  std::vector<std::uint32_t> key_;
  std::vector<std::uint32_t> last_key_;
  Known last_;
  ArrayLines out_;
};

}  // namespace

ArrayLines array_lines(const LineTrace& lines, std::uint32_t buffer) {
  return Builder(lines, buffer).build();
}

std::size_t Overlaps::Hash::operator()(const Pair& pair) const {
  const std::uint64_t shapes = std::uint64_t{pair.shape} << 32 | pair.other;
  return mix64(mix64(shapes) ^ static_cast<std::uint64_t>(pair.distance));
}

std::uint64_t Overlaps::operator()(std::uint32_t set, std::uint32_t other) {
  ++spent_;
  const LineSet& a = lines_.sets[set];
  const LineSet& b = lines_.sets[other];
  const Pair pair = {a.shape, b.shape, std::int64_t{b.first} - std::int64_t{a.first}};
  if (pair.shape == pair.other && pair.distance == 0) return lines_.lines_of(set);
  if (pair.distance >= lines_.shapes[pair.shape].runs.back().end ||
      -pair.distance >= lines_.shapes[pair.other].runs.back().end) {
    return 0;
  }
  if (pair == last_) return last_common_;
  const auto [at, fresh] = known_.try_emplace(pair, 0);
  if (fresh) at->second = merged(pair);
  last_ = pair;
  last_common_ = at->second;
  return last_common_;
}

std::uint64_t Overlaps::merged(const Pair& pair) {
  const std::vector<LineRun>& a = lines_.shapes[pair.shape].runs;
  const std::vector<LineRun>& b = lines_.shapes[pair.other].runs;
  spent_ += 2 * (a.size() + b.size());
  std::int64_t common = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t begin = std::max<std::int64_t>(a[i].begin, b[j].begin + pair.distance);
    const std::int64_t end = std::min<std::int64_t>(a[i].end, b[j].end + pair.distance);
    common += std::max<std::int64_t>(0, end - begin);
    if (a[i].end < b[j].end + pair.distance) {
      ++i;
    } else {
      ++j;
    }
  }
  return static_cast<std::uint64_t>(common);
}

}  // namespace swizzleperf
