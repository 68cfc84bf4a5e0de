// See build.h. Three ways to learn what a block asks of memory, the cheapest that holds:
//
//   affine  Blocks of a region (first / inner / last index of each axis) have the same pattern
//           sequence and addresses affine in the block index. Fitted on one block and one step per
//           axis, checked on others. A million blocks of a transpose cost a dozen runs.
//   prefix  Kernels that decode their tile from a linear index (grouped orders, head-first
//           attention, any remap) are affine in coordinates we cannot see. But a block's first
//           accesses already show where it works: every block is run for a short prefix, blocks
//           with the same prefix shape form a class, and in each class the rest of the stream is
//           predicted from the prefix' addresses (an exact linear relation fitted on a few whole
//           blocks, checked on others). A class that does not hold is tried once more in slices
//           of equal index along an axis: under a causal mask blocks start alike, and how far
//           they go is decided by one index.
//   full    Everything else is run whole, and equal streams up to a shift per array are stored
//   once.
//
// Rejected: symbolic execution over the block index. It would have to understand every instruction
// twice; fitting and checking needs only the recorder.
#include "trace/build.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/parallel.h"
#include "base/random.h"

namespace swizzleperf {
namespace {

constexpr std::uint64_t kPrefixEvents = 64;
constexpr std::uint64_t kSmallRegion = 12;  // blocks; not worth fitting
constexpr std::uint64_t kMinChecks = 8;     // unseen blocks that must agree, per region or class
constexpr std::uint64_t kMaxLeastChecks = 64;
constexpr double kCheckEvents = 500'000;      // spent on the checks of a region or class
constexpr double kInstructionsPerEvent = 16;  // that cost what recording one event does
constexpr std::size_t kMaxClasses = 256;      // of prefixes; more means that the idea does not fit

/// What several threads share: the launch's patterns, and each thread's way to record.
struct Worker {
  PatternTable patterns;
  BlockRecorder recorder{patterns};
  std::vector<std::uint32_t> to_global;  // local pattern -> Trace::patterns
};

struct Build {
  Trace& trace;
  const RunBlock& run;
  const BuildOptions& options;
  std::vector<Worker> workers;
  PatternTable global;
  std::mutex mutex;  // guards `global`, the counters below and appends to the trace
  std::unordered_multimap<std::uint64_t, std::uint32_t> template_by_hash;

  Build(Trace& t, const RunBlock& r, const BuildOptions& o)
      : trace(t), run(r), options(o), workers(std::max(1U, o.threads)) {}
};

/// Runs one block; its patterns are global on return. `stop_after` as in BlockRecorder.
RawBlock run_one(Build& build, std::uint64_t block, unsigned thread, std::uint64_t stop_after) {
  Worker& worker = build.workers[thread];
  worker.recorder.stop_after(stop_after);
  build.run(unlinear(block, build.trace.grid), worker.recorder);
  RawBlock raw = worker.recorder.finish();
  const std::vector<Pattern>& local = worker.patterns.patterns();
  if (worker.to_global.size() < local.size()) {
    const std::lock_guard lock(build.mutex);
    for (std::size_t i = worker.to_global.size(); i < local.size(); ++i) {
      worker.to_global.push_back(build.global.intern(local[i]));
    }
  }
  for (RawEvent& e : raw.events) e.pattern = worker.to_global[e.pattern];
  return raw;
}

/// Runs more of the blocks whole, until there are `end` samples.
void run_until(Build& build, const std::vector<std::uint64_t>& blocks, std::size_t end,
               std::vector<RawBlock>& samples) {
  const std::size_t begin = samples.size();
  samples.resize(end);
  parallel_for(end - begin, build.options.threads, [&](std::uint64_t i, unsigned thread) {
    samples[begin + i] = run_one(build, blocks[begin + i], thread, 0);
  });
  build.trace.method.blocks_run += end - begin;
}

/// How many unseen blocks of so many must agree at least: their square root, within bounds.
std::uint64_t least_checks(std::uint64_t blocks) {
  const auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(blocks)));
  return std::clamp(root, kMinChecks, kMaxLeastChecks);
}

/// How many do: as many as a fraction of a second allows, which for short blocks is all of them.
std::uint64_t num_checks(std::uint64_t blocks, const RawBlock& typical, double events) {
  double instructions = 0;
  for (const Interval& i : typical.intervals) instructions += i.cost.instructions;
  const double effort = std::max(
      {1.0, static_cast<double>(typical.events.size()), instructions / kInstructionsPerEvent});
  const auto affordable = static_cast<std::uint64_t>(events / effort);
  return std::clamp(affordable, least_checks(blocks), std::max(blocks, least_checks(blocks)));
}

/// Samples are run in two stages: what does not hold nearly always shows in the first few checks.
std::array<std::size_t, 2> stages(std::size_t fitted, std::size_t samples) {
  return {std::min<std::size_t>(samples, fitted + kMinChecks), samples};
}

/// Adds to `chosen` one number of each of `stretches` equal stretches of [0, count), at random
/// among those not yet chosen; a stretch with none left is passed over. So whatever is wrong over
/// a whole stretch is always seen.
void choose_spread(std::uint64_t count, std::uint64_t stretches, Random& random,
                   std::vector<std::uint64_t>& chosen) {
  const auto known = static_cast<std::ptrdiff_t>(chosen.size());  // stretches do not overlap
  for (std::uint64_t i = 0; i < stretches; ++i) {
    const std::uint64_t begin = i * count / stretches;
    const std::uint64_t size = (i + 1) * count / stretches - begin;
    const std::uint64_t first = size == 0 ? 0 : random.below(size);
    for (std::uint64_t j = 0; j < size; ++j) {
      const std::uint64_t candidate = begin + (first + j) % size;
      const auto end = chosen.begin() + known;
      if (std::find(chosen.begin(), end, candidate) == end) {
        chosen.push_back(candidate);
        break;
      }
    }
  }
}

/// Buffer that holds an address; buffers are sorted by base.
std::uint16_t buffer_of(const Trace& trace, std::uint64_t address) {
  const auto after = std::upper_bound(trace.buffers.begin(), trace.buffers.end(), address,
                                      [](std::uint64_t a, const Buffer& b) { return a < b.base; });
  const auto index = after == trace.buffers.begin() ? 0 : after - trace.buffers.begin() - 1;
  return static_cast<std::uint16_t>(index);
}

/// All but the addresses; the work between accesses belongs to it.
bool same_shape(const RawBlock& a, const RawBlock& b) {
  if (a.events.size() != b.events.size() || a.intervals != b.intervals) return false;
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    const RawEvent& x = a.events[i];
    const RawEvent& y = b.events[i];
    if (x.pattern != y.pattern || x.kind != y.kind || x.wave != y.wave) return false;
  }
  return true;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(a - b);
}

/// Appends a template and returns its index; an equal one is reused.
std::uint32_t add_template(Build& build, Template&& t) {
  std::uint64_t hash = t.events.size();
  for (const Event& e : t.events) {
    hash = mix64(hash ^ static_cast<std::uint64_t>(e.offset) ^
                 (static_cast<std::uint64_t>(e.pattern) << 32 | e.slot));
  }
  const auto [first, last] = build.template_by_hash.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (build.trace.templates[it->second] == t) return it->second;
  }
  const auto index = static_cast<std::uint32_t>(build.trace.templates.size());
  build.trace.templates.push_back(std::move(t));
  build.template_by_hash.emplace(hash, index);
  return index;
}

void set_block(Build& build, std::uint64_t block, std::uint32_t template_index,
               const std::vector<std::int64_t>& anchors) {
  build.trace.blocks[block] = {template_index, build.trace.anchors.size()};
  build.trace.anchors.insert(build.trace.anchors.end(), anchors.begin(), anchors.end());
}

// ---- full ---------------------------------------------------------------------------------------

/// A block as a template with one slot an array, anchored at the array's first access.
void add_raw_block(Build& build, std::uint64_t block, const RawBlock& raw) {
  Template t;
  std::vector<std::int64_t> anchors;
  std::unordered_map<std::uint16_t, std::uint16_t> slot_of_buffer;
  t.events.reserve(raw.events.size());
  for (const RawEvent& e : raw.events) {
    const std::uint16_t buffer = buffer_of(build.trace, e.address);
    const auto [it, is_new] =
        slot_of_buffer.emplace(buffer, static_cast<std::uint16_t>(anchors.size()));
    if (is_new) {
      anchors.push_back(static_cast<std::int64_t>(e.address));
      t.slot_buffer.push_back(buffer);
    }
    t.events.push_back({static_cast<std::int64_t>(e.address) - anchors[it->second], e.pattern,
                        it->second, e.kind, e.wave});
  }
  t.intervals = raw.intervals;
  const std::lock_guard lock(build.mutex);
  set_block(build, block, add_template(build, std::move(t)), anchors);
}

void trace_full(Build& build, const std::vector<std::uint64_t>& blocks) {
  parallel_for(blocks.size(), build.options.threads, [&](std::uint64_t i, unsigned thread) {
    add_raw_block(build, blocks[i], run_one(build, blocks[i], thread, 0));
  });
  build.trace.method.blocks_run += blocks.size();
}

// ---- affine -------------------------------------------------------------------------------------

/// A box of block indices, [first, first + extent) on each axis.
struct Region {
  std::array<std::uint32_t, 3> first;
  std::array<std::uint32_t, 3> extent;
  [[nodiscard]] std::uint64_t count() const {
    return static_cast<std::uint64_t>(extent[0]) * extent[1] * extent[2];
  }
};

std::uint64_t block_at(const Trace& trace, const Region& r, std::array<std::uint32_t, 3> step) {
  return linear({r.first[0] + step[0], r.first[1] + step[1], r.first[2] + step[2]}, trace.grid);
}

std::array<std::uint32_t, 3> step_of(const Region& region, std::uint64_t i) {
  return {static_cast<std::uint32_t>(i % region.extent[0]),
          static_cast<std::uint32_t>(i / region.extent[0] % region.extent[1]),
          static_cast<std::uint32_t>(i / region.extent[0] / region.extent[1])};
}

std::vector<std::uint64_t> blocks_of(const Trace& trace, const Region& region) {
  std::vector<std::uint64_t> blocks(region.count());
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = block_at(trace, region, step_of(region, i));
  }
  return blocks;
}

/// First, inner and last index of each axis: ragged edges and halos differ from the inside.
std::vector<Region> regions_of(const Dim3& grid) {
  const std::array<std::uint32_t, 3> extent = {grid.x, grid.y, grid.z};
  std::array<std::vector<std::pair<std::uint32_t, std::uint32_t>>, 3> cuts;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t n = extent[axis];
    if (n <= 3) {
      for (std::uint32_t i = 0; i < n; ++i) cuts[axis].emplace_back(i, 1);
    } else {
      cuts[axis] = {{0, 1}, {1, n - 2}, {n - 1, 1}};
    }
  }
  std::vector<Region> regions;
  for (const auto& [z, nz] : cuts[2]) {
    for (const auto& [y, ny] : cuts[1]) {
      for (const auto& [x, nx] : cuts[0]) regions.push_back({{x, y, z}, {nx, ny, nz}});
    }
  }
  return regions;
}

using Slope = std::array<std::int64_t, 3>;  // bytes an event moves per step on each axis

/// Slopes of every event, or nothing when the samples do not share one shape or do not divide.
std::optional<std::vector<Slope>> fit_slopes(const Region& region,
                                             const std::vector<RawBlock>& samples) {
  const RawBlock& origin = samples[0];
  std::vector<Slope> slopes(origin.events.size(), Slope{});
  std::size_t sample = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t step = region.extent[axis] - 1;
    if (step == 0) continue;
    const RawBlock& far = samples[sample++];
    if (!same_shape(origin, far)) return std::nullopt;
    for (std::size_t e = 0; e < slopes.size(); ++e) {
      const std::int64_t moved = difference(far.events[e].address, origin.events[e].address);
      if (moved % step != 0) return std::nullopt;
      slopes[e][axis] = moved / step;
    }
  }
  return slopes;
}

bool predicts(const std::vector<Slope>& slopes, const RawBlock& origin, const RawBlock& seen,
              const std::array<std::uint32_t, 3>& step) {
  if (!same_shape(origin, seen)) return false;
  for (std::size_t e = 0; e < slopes.size(); ++e) {
    std::int64_t moved = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) moved += slopes[e][axis] * step[axis];
    if (difference(seen.events[e].address, origin.events[e].address) != moved) return false;
  }
  return true;
}

/// A template whose slots are (array, slope) pairs; fills the slots' slopes and anchors at origin.
Template affine_template(const Trace& trace, const RawBlock& origin,
                         const std::vector<Slope>& slopes, std::vector<Slope>& slot_slope,
                         std::vector<std::int64_t>& slot_anchor) {
  Template t;
  t.intervals = origin.intervals;
  for (std::size_t e = 0; e < origin.events.size(); ++e) {
    const RawEvent& raw = origin.events[e];
    const std::uint16_t buffer = buffer_of(trace, raw.address);
    std::size_t slot = 0;
    while (slot < slot_slope.size() &&
           (slot_slope[slot] != slopes[e] || t.slot_buffer[slot] != buffer)) {
      ++slot;
    }
    if (slot == slot_slope.size()) {
      slot_slope.push_back(slopes[e]);
      slot_anchor.push_back(static_cast<std::int64_t>(raw.address));
      t.slot_buffer.push_back(buffer);
    }
    t.events.push_back({static_cast<std::int64_t>(raw.address) - slot_anchor[slot], raw.pattern,
                        static_cast<std::uint16_t>(slot), raw.kind, raw.wave});
  }
  return t;
}

/// Returns false, having changed nothing but the counters, when the region is not affine.
bool trace_affine(Build& build, const Region& region) {
  Trace& trace = build.trace;
  // The origin, one block at the far end of each axis, then the checks.
  std::vector<std::uint64_t> chosen = {0};
  std::uint64_t stride = 1;
  for (const std::uint32_t extent : region.extent) {
    if (extent > 1) chosen.push_back((extent - 1) * stride);
    stride *= extent;
  }
  const std::size_t fitted = chosen.size();
  Random random(build.options.seed + region.count());
  std::vector<std::uint64_t> blocks = {block_at(trace, region, step_of(region, 0))};
  std::vector<RawBlock> samples;
  run_until(build, blocks, 1, samples);
  const std::uint64_t checks = num_checks(region.count(), samples[0], kCheckEvents);
  choose_spread(region.count(), checks, random, chosen);
  blocks.clear();
  for (const std::uint64_t i : chosen) {
    blocks.push_back(block_at(trace, region, step_of(region, i)));
  }
  std::optional<std::vector<Slope>> slopes;
  for (const std::size_t end : stages(fitted, chosen.size())) {
    const std::size_t begin = std::max(fitted, samples.size());
    run_until(build, blocks, end, samples);
    if (!slopes) slopes = fit_slopes(region, samples);
    if (!slopes) return false;
    for (std::size_t i = begin; i < end; ++i) {
      if (!predicts(*slopes, samples[0], samples[i], step_of(region, chosen[i]))) return false;
    }
  }
  if (!slopes) return false;
  std::vector<Slope> slot_slope;
  std::vector<std::int64_t> slot_anchor;
  Template t = affine_template(trace, samples[0], *slopes, slot_slope, slot_anchor);
  const std::uint32_t index = add_template(build, std::move(t));
  std::vector<std::int64_t> anchors(slot_anchor.size());
  for (std::uint64_t i = 0; i < region.count(); ++i) {
    const auto step = step_of(region, i);
    for (std::size_t s = 0; s < anchors.size(); ++s) {
      anchors[s] = slot_anchor[s];
      for (std::size_t axis = 0; axis < 3; ++axis) anchors[s] += slot_slope[s][axis] * step[axis];
    }
    set_block(build, block_at(trace, region, step), index, anchors);
  }
  trace.method.blocks_checked += samples.size() - fitted;
  trace.method.blocks_extrapolated += region.count() - samples.size();
  return true;
}

// ---- prefix -------------------------------------------------------------------------------------

/// Blocks whose prefixes have one shape; anchors[i] are block i's first addresses, one an array.
struct PrefixClass {
  std::vector<std::uint64_t> blocks;
  std::vector<std::vector<std::int64_t>> anchors;
};

/// The shape of a prefix: everything but where each array's first access lies.
std::uint64_t prefix_shape(const Trace& trace, const RawBlock& raw,
                           std::vector<std::int64_t>& anchors) {
  std::vector<std::pair<std::uint16_t, std::int64_t>> first;  // array -> anchor
  std::uint64_t hash = raw.events.size();
  for (const RawEvent& e : raw.events) {
    const std::uint16_t buffer = buffer_of(trace, e.address);
    auto it = std::find_if(first.begin(), first.end(),
                           [&](const auto& known) { return known.first == buffer; });
    if (it == first.end()) {
      first.emplace_back(buffer, static_cast<std::int64_t>(e.address));
      it = first.end() - 1;
    }
    const std::uint64_t offset = e.address - static_cast<std::uint64_t>(it->second);
    hash = mix64(hash ^ offset) ^
           (static_cast<std::uint64_t>(e.pattern) << 32 | static_cast<std::uint64_t>(buffer) << 12 |
            static_cast<std::uint64_t>(e.wave) << 4 | static_cast<std::uint64_t>(e.kind));
  }
  anchors.clear();
  for (const auto& [buffer, anchor] : first) anchors.push_back(anchor);
  return mix64(hash);
}

/// Runs every block's prefix and groups the blocks; nothing when there are too many shapes.
std::optional<std::vector<PrefixClass>> classify(Build& build,
                                                 const std::vector<std::uint64_t>& blocks) {
  std::unordered_map<std::uint64_t, std::size_t> class_of;
  std::vector<PrefixClass> classes;
  std::vector<std::uint64_t> shape(blocks.size());
  std::vector<std::vector<std::int64_t>> anchors(blocks.size());
  parallel_for(blocks.size(), build.options.threads, [&](std::uint64_t i, unsigned thread) {
    const RawBlock raw = run_one(build, blocks[i], thread, kPrefixEvents);
    shape[i] = prefix_shape(build.trace, raw, anchors[i]);
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [it, is_new] = class_of.emplace(shape[i], classes.size());
    if (is_new) classes.emplace_back();
    if (classes.size() > kMaxClasses) return std::nullopt;
    classes[it->second].blocks.push_back(blocks[i]);
    classes[it->second].anchors.push_back(std::move(anchors[i]));
  }
  return classes;
}

/// An event's address in a class: the sample's own plus weights . (anchors - sample's anchors).
using Weights = std::vector<double>;

/// Least squares of moved[i] = weights . delta[i] over the samples, by normal equations on columns
/// scaled to one; the rows are few and the result is checked exactly. A column that does not move,
/// or moves like an earlier one, gets weight 0.
Weights solve(const std::vector<std::vector<double>>& delta, const std::vector<double>& moved) {
  const std::size_t n = delta.empty() ? 0 : delta[0].size();
  std::vector<double> scale(n, 1.0);
  for (const auto& row : delta) {
    for (std::size_t i = 0; i < n; ++i) scale[i] = std::max(scale[i], std::fabs(row[i]));
  }
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n + 1, 0));
  for (std::size_t row = 0; row < delta.size(); ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      const long double left = delta[row][i] / static_cast<long double>(scale[i]);
      for (std::size_t j = 0; j < n; ++j) m[i][j] += left * delta[row][j] / scale[j];
      m[i][n] += left * moved[row];
    }
  }
  constexpr long double kDependent = 1e-9L;
  std::vector<std::size_t> pivot_of(n, n);  // column -> row, n = none
  std::size_t rank = 0;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t best = rank;
    for (std::size_t r = rank; r < n; ++r) {
      if (std::fabs(m[r][column]) > std::fabs(m[best][column])) best = r;
    }
    if (best == n || std::fabs(m[best][column]) < kDependent) continue;
    std::swap(m[best], m[rank]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == rank) continue;
      const long double factor = m[r][column] / m[rank][column];
      for (std::size_t c = column; c <= n; ++c) m[r][c] -= factor * m[rank][c];
    }
    pivot_of[column] = rank++;
  }
  Weights weights(n, 0.0);
  for (std::size_t column = 0; column < n; ++column) {
    const std::size_t row = pivot_of[column];
    if (row == n) continue;
    weights[column] = static_cast<double>(m[row][n] / m[row][column] / scale[column]);
  }
  return weights;
}

std::int64_t apply(const Weights& weights, const std::vector<std::int64_t>& anchors,
                   const std::vector<std::int64_t>& origin) {
  double moved = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    moved += weights[i] * static_cast<double>(anchors[i] - origin[i]);
  }
  return std::llround(moved);
}

/// A class's template: slots are (array, weights) pairs.
struct ClassFit {
  Template t;
  std::vector<Weights> slot_weights;
  std::vector<std::int64_t> slot_anchor;  // in the first sample
};

std::optional<ClassFit> fit_class(const Trace& trace, const std::vector<RawBlock>& samples,
                                  const std::vector<std::vector<std::int64_t>>& anchors,
                                  std::size_t fitted) {
  for (const RawBlock& sample : samples) {
    if (!same_shape(samples[0], sample)) return std::nullopt;
  }
  std::vector<std::vector<double>> delta;
  for (std::size_t i = 1; i < fitted; ++i) {
    delta.emplace_back();
    for (std::size_t s = 0; s < anchors[0].size(); ++s) {
      delta.back().push_back(static_cast<double>(anchors[i][s] - anchors[0][s]));
    }
  }
  ClassFit fit;
  fit.t.intervals = samples[0].intervals;
  std::vector<double> moved(fitted - 1);
  std::size_t last_slot = 0;
  for (std::size_t e = 0; e < samples[0].events.size(); ++e) {
    const RawEvent& raw = samples[0].events[e];
    const std::uint16_t buffer = buffer_of(trace, raw.address);
    const auto holds = [&](const Weights& weights) {
      for (std::size_t i = 1; i < samples.size(); ++i) {
        if (difference(samples[i].events[e].address, raw.address) !=
            apply(weights, anchors[i], anchors[0])) {
          return false;
        }
      }
      return true;
    };
    // Nearly every event moves like an earlier one of its array: try those before solving.
    const auto fits = [&](std::size_t slot) {
      return fit.t.slot_buffer[slot] == buffer && holds(fit.slot_weights[slot]);
    };
    std::size_t slot = last_slot;
    if (fit.slot_weights.empty() || !fits(slot)) {
      slot = 0;
      while (slot < fit.slot_weights.size() && !fits(slot)) ++slot;
    }
    if (slot == fit.slot_weights.size()) {
      for (std::size_t i = 1; i < fitted; ++i) {
        moved[i - 1] = static_cast<double>(difference(samples[i].events[e].address, raw.address));
      }
      Weights weights = solve(delta, moved);
      if (!holds(weights)) return std::nullopt;
      fit.slot_weights.push_back(std::move(weights));
      fit.slot_anchor.push_back(static_cast<std::int64_t>(raw.address));
      fit.t.slot_buffer.push_back(buffer);
    }
    last_slot = slot;
    fit.t.events.push_back({static_cast<std::int64_t>(raw.address) - fit.slot_anchor[slot],
                            raw.pattern, static_cast<std::uint16_t>(slot), raw.kind, raw.wave});
  }
  return fit;
}

/// Whole blocks that determine a class's weights, with some to spare.
std::size_t blocks_to_fit(const PrefixClass& group) { return 3 + 2 * group.anchors[0].size(); }

/// Whether running so few blocks as a fit needs saves much.
bool worth_fitting(const PrefixClass& group) {
  const std::size_t needed = blocks_to_fit(group) + least_checks(group.blocks.size());
  return 2 * group.blocks.size() > 3 * needed;
}

/// Returns false, having changed nothing but the counters, when the class does not hold. Checks may
/// cost so many events.
bool trace_class(Build& build, const PrefixClass& group, double check_events) {
  const std::uint64_t count = group.blocks.size();
  Random random(build.options.seed + count);
  std::vector<std::uint64_t> chosen = {0, count - 1};
  choose_spread(count, blocks_to_fit(group) - chosen.size(), random, chosen);
  const std::size_t fitted = chosen.size();
  std::vector<RawBlock> samples;
  run_until(build, group.blocks, 1, samples);
  choose_spread(count, num_checks(count, samples[0], check_events), random, chosen);
  std::vector<std::uint64_t> blocks;
  std::vector<std::vector<std::int64_t>> anchors;
  for (const std::uint64_t i : chosen) {
    blocks.push_back(group.blocks[i]);
    anchors.push_back(group.anchors[i]);
  }
  std::optional<ClassFit> fit;
  for (const std::size_t end : stages(fitted, chosen.size())) {
    run_until(build, blocks, end, samples);
    fit = fit_class(build.trace, samples, anchors, fitted);
    if (!fit) return false;
  }
  if (!fit) return false;
  build.trace.method.blocks_checked += chosen.size() - fitted;

  const std::uint32_t index = add_template(build, std::move(fit->t));
  std::vector<std::int64_t> slots(fit->slot_weights.size());
  for (std::size_t i = 0; i < group.blocks.size(); ++i) {
    for (std::size_t s = 0; s < slots.size(); ++s) {
      slots[s] = fit->slot_anchor[s] + apply(fit->slot_weights[s], group.anchors[i], anchors[0]);
    }
    set_block(build, group.blocks[i], index, slots);
  }
  build.trace.method.blocks_extrapolated += group.blocks.size() - blocks.size();
  return true;
}

std::vector<PrefixClass> slices_of(const Trace& trace, const PrefixClass& group, unsigned axis) {
  std::map<std::uint32_t, PrefixClass> slices;
  for (std::size_t i = 0; i < group.blocks.size(); ++i) {
    const Dim3 index = unlinear(group.blocks[i], trace.grid);
    PrefixClass& slice = slices[std::array{index.x, index.y, index.z}[axis]];
    slice.blocks.push_back(group.blocks[i]);
    slice.anchors.push_back(group.anchors[i]);
  }
  std::vector<PrefixClass> result;
  result.reserve(slices.size());
  for (auto& [index, slice] : slices) result.push_back(std::move(slice));
  return result;
}

/// Traces a class slice by slice, along the first axis whose largest slice holds; appends to `rest`
/// what must be run whole.
void trace_slices(Build& build, const PrefixClass& group, std::vector<std::uint64_t>& rest) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::vector<PrefixClass> slices = slices_of(build.trace, group, axis);
    const double check_events = kCheckEvents / static_cast<double>(slices.size());
    const auto largest = std::max_element(
        slices.begin(), slices.end(),
        [](const auto& a, const auto& b) { return a.blocks.size() < b.blocks.size(); });
    std::swap(*largest, slices.front());
    if (slices.size() < 2 || !worth_fitting(slices.front()) ||
        !trace_class(build, slices.front(), check_events)) {
      continue;
    }
    for (std::size_t i = 1; i < slices.size(); ++i) {
      if (!worth_fitting(slices[i]) || !trace_class(build, slices[i], check_events)) {
        rest.insert(rest.end(), slices[i].blocks.begin(), slices[i].blocks.end());
      }
    }
    return;
  }
  rest.insert(rest.end(), group.blocks.begin(), group.blocks.end());
}

/// Traces what is not affine; returns the blocks that must be run whole.
std::vector<std::uint64_t> trace_prefixes(Build& build, const std::vector<std::uint64_t>& blocks) {
  const auto classes = classify(build, blocks);
  if (!classes) return blocks;
  std::vector<std::uint64_t> rest;
  for (const PrefixClass& group : *classes) {
    if (!worth_fitting(group)) {
      rest.insert(rest.end(), group.blocks.begin(), group.blocks.end());
    } else if (!trace_class(build, group, kCheckEvents)) {
      trace_slices(build, group, rest);
    }
  }
  return rest;
}

}  // namespace

void build_trace(Trace& trace, const RunBlock& run, const BuildOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Build build(trace, run, options);
  trace.blocks.resize(trace.grid.count());
  std::vector<std::uint64_t> rest;  // blocks that no affine region covers
  std::vector<std::uint64_t> small;
  for (const Region& region : regions_of(trace.grid)) {
    const std::vector<std::uint64_t> blocks = blocks_of(trace, region);
    if (!options.extrapolate || region.count() <= kSmallRegion) {
      small.insert(small.end(), blocks.begin(), blocks.end());
    } else if (!trace_affine(build, region)) {
      rest.insert(rest.end(), blocks.begin(), blocks.end());
    }
  }
  if (!rest.empty()) {
    // Edges belong to the same classes as the inside once a kernel decodes its own tiles.
    rest.insert(rest.end(), small.begin(), small.end());
    small = trace_prefixes(build, rest);
  }
  trace_full(build, small);
  trace.patterns = build.global.patterns();
  trace.method.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void build_trace(Trace& trace, const PatternTable& patterns, const std::vector<RawBlock>& blocks) {
  const auto start = std::chrono::steady_clock::now();
  const RunBlock none;
  const BuildOptions options;
  Build build(trace, none, options);
  trace.blocks.resize(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) add_raw_block(build, i, blocks[i]);
  trace.patterns = patterns.patterns();
  trace.method.blocks_run += blocks.size();
  trace.method.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace swizzleperf
