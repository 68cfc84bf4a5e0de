// See predict.h.
//
// A launch of several kernels (one time step in two parts) was measured as a whole, so each kernel
// is traced and replayed alone and their counts and times are added. A launch too long to replay is
// cut: its first blocks in dispatch order become a launch of their own, with the machine as full as
// it would be.
#include "validate/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/parallel.h"
#include "launch/launch.h"
#include "report/launch_text.h"
#include "swizzleperf/simulate.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf::validate {
namespace {

/// What replays of a launch's kernels come to.
struct Totals {
  LevelCounts l2;
  std::optional<LevelCounts> llc;
  double dram_read_bytes = 0;
  double time_ms = 0;
  double l2_bytes = 0;
  std::string bound;

  void add(const SimResult& r, const Machine& machine) {
    l2.requests += r.l2.requests;
    l2.hits += r.l2.hits;
    if (r.llc) {
      if (!llc) llc.emplace();
      llc->requests += r.llc->requests;
      llc->hits += r.llc->hits;
    }
    dram_read_bytes += r.hbm_read_bytes;
    time_ms += r.time_ms;
    l2_bytes += r.l2.requests * machine.l2.read_request_bytes;
    bound = bound_name(r.bound);
  }

  [[nodiscard]] Predicted predicted() const {
    Predicted p;
    p.l2_hit_rate = l2.hit_rate();
    if (llc) p.llc_hit_rate = llc->hit_rate();
    p.dram_read_bytes = dram_read_bytes;
    p.time_ms = time_ms;
    p.bandwidth = time_ms > 0 ? l2_bytes / (time_ms * 1e-3) : 0;
    p.bound = bound;
    return p;
  }
};

vgpu::ProgramSpec program_of(const Source& source, const MeasuredLaunch& launch,
                             const std::string& kernel, const Machine& machine, unsigned threads) {
  vgpu::ProgramSpec spec;
  spec.program = launch.program;
  spec.arguments = launch.arguments;
  spec.compile_options = launch.compile_options;
  spec.kernel_regex = kernel;
  spec.language = source.language;
  spec.threads = threads;
  set_target(spec, machine);
  return spec;
}

/// The permutations of a launch's points, each once: on a grid of one dimension many orders are the
/// same.
struct Permutations {
  std::vector<std::vector<std::uint32_t>> distinct;
  std::vector<std::size_t> of_point;  ///< index into `distinct`
};

Permutations permutations_of(const Source& source, const MeasuredLaunch& launch,
                             const LaunchShape& machine_shape) {
  Permutations result;
  std::map<std::uint64_t, std::size_t> known;  // by the permutation's hash
  for (const MeasuredPoint& point : launch.points) {
    const Order& order = source.orders[point.order];
    LaunchShape shape = machine_shape;
    if (order.dies != 0) shape.num_xcds = order.dies;
    GridVerdict verdict = verify_grid(make_swizzle(order.swizzle).formula, shape);
    if (!verdict.bijective) {
      throw input_error(fmt::format("{}: the order '{}' is no bijection on the launch '{}': {}",
                                    source.file.string(), order.name, launch.name,
                                    describe(verdict.counterexample.value_or(Counterexample{}))));
    }
    const auto [it, is_new] = known.emplace(verdict.hash, result.distinct.size());
    if (is_new) result.distinct.push_back(std::move(verdict.permutation));
    result.of_point.push_back(it->second);
  }
  return result;
}

/// The blocks computed at dispatch indices 0 to `count`, as a launch of its own.
Trace first_blocks(const Trace& trace, std::span<const std::uint32_t> permutation,
                   std::uint64_t count) {
  Trace part = trace;
  part.grid = {static_cast<std::uint32_t>(count), 1, 1};
  part.blocks.clear();
  for (std::uint64_t p = 0; p < count; ++p) part.blocks.push_back(trace.blocks[permutation[p]]);
  return part;
}

/// Replays of one launch in many orders.
class Orders {
 public:
  Orders(const Launch& launch, const ReplaySettings& settings)
      : replayer_(launch.trace, launch.machine, launch.occupancy.blocks_per_cu) {
    exact_ = settings.exact || replayer_.fine_share() >= 1;
    if (!exact_) {
      sample_ = replayer_.add_sample(replayer_.fine_share(), settings.seed, settings.threads);
    }
  }

  [[nodiscard]] SimResult replay(std::span<const std::uint32_t> permutation) const {
    return exact_ ? replayer_.exact(permutation) : replayer_.sampled(sample_, permutation);
  }

 private:
  Replayer replayer_;
  bool exact_ = false;
  std::size_t sample_ = 0;
};

std::vector<SimResult> replay_all(const Launch& launch,
                                  const std::vector<std::vector<std::uint32_t>>& permutations,
                                  const ReplaySettings& settings) {
  const Orders orders(launch, settings);
  std::vector<SimResult> results(permutations.size());
  parallel_for(permutations.size(), settings.threads,
               [&](std::uint64_t i, unsigned) { results[i] = orders.replay(permutations[i]); });
  return results;
}

std::vector<SimResult> replay_cut(const Launch& launch,
                                  const std::vector<std::vector<std::uint32_t>>& permutations,
                                  std::uint64_t count, const ReplaySettings& settings) {
  std::vector<SimResult> results;
  std::vector<std::uint32_t> as_it_is(count);
  std::iota(as_it_is.begin(), as_it_is.end(), 0U);
  for (const std::vector<std::uint32_t>& permutation : permutations) {
    Launch part = place(first_blocks(launch.trace, permutation, count), launch.machine);
    part.occupancy = launch.occupancy;
    results.push_back(Orders(part, settings).replay(as_it_is));
  }
  return results;
}

}  // namespace

PredictedLaunch predict(const Source& source, const MeasuredLaunch& measured,
                        const Machine& machine, const TraceCache& traces,
                        const ReplaySettings& settings,
                        const std::function<void(const std::string&)>& said) {
  PredictedLaunch result;
  std::vector<Totals> totals(measured.points.size());
  std::vector<std::size_t> same_order;  // of the kernels' grids, which are alike
  for (const std::string& kernel : measured.kernels) {
    const vgpu::ProgramSpec spec = program_of(source, measured, kernel, machine, settings.threads);
    const std::string name = fmt::format("{} {} {}", source.name, measured.name, kernel);
    said(fmt::format("{}: {}", measured.name, traces.has(name, spec) ? "replaying" : "tracing"));
    Launch launch = place(traces.get(name, spec), machine);
    launch.occupancy.limit = "limited by " + launch.occupancy.limit;
    if (settings.measured_occupancy && measured.blocks_per_cu != 0) {
      launch.occupancy = {measured.blocks_per_cu, "as measured"};
    }
    if (result.blocks_per_cu == 0) result.blocks_per_cu = launch.occupancy.blocks_per_cu;
    said(measured.name + ": replaying");
    const Permutations orders = permutations_of(source, measured, launch.shape);
    const std::uint64_t count = std::min(measured.first_blocks, launch.shape.grid.count());
    const std::vector<SimResult> replays =
        count > 0 ? replay_cut(launch, orders.distinct, count, settings)
                  : replay_all(launch, orders.distinct, settings);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      totals[i].add(replays[orders.of_point[i]], machine);
    }
    same_order = orders.of_point;
    result.sampled_share = std::min(result.sampled_share, replays.front().sampled_share);
    if (!result.words.empty()) result.words += "; ";
    result.words +=
        fmt::format("{}, {} a CU ({})", launch_words(launch.trace.grid, launch.trace.block),
                    launch.occupancy.blocks_per_cu, launch.occupancy.limit);
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    result.points.push_back(totals[i].predicted());
    result.points.back().permutation = same_order[i];
  }
  return result;
}

}  // namespace swizzleperf::validate
