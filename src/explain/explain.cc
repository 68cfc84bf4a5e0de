// See explain.h.
#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "explain/row_stride.h"
#include "propose/search.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

/// Samples do not tell misses apart that are closer than this.
constexpr double kMissTie = 0.002;

/// The best order that a search finds, without the exact comparison of its finalists.
std::string best_order(const Launch& launch, Replayer& replayer, const ExplainRequest& request,
                       std::size_t& candidates) {
  const RungReplays replays(replayer, plan_rungs(replayer), request.seed, request.threads);
  const SearchSetup setup = {launch.shape,
                             {Objective::kTime, launch.machine.error_time / 2, kMissTie},
                             {},
                             request.threads};
  SearchHooks hooks;
  hooks.evaluate = [&](const Candidate& c, std::size_t rung) {
    return score_of(replays.replay(permutation_of(c.spec, launch.shape), rung));
  };
  const SearchResult found = search(setup, replays.rungs(), hooks);
  candidates = found.candidates;
  return found.finalists.empty() ? "identity" : found.finalists.front().candidate.spec;
}

/// Both limits share what no order changes: dispatch, arithmetic, L2's bandwidth, memory's bytes.
/// Of what is fetched, `again_bytes` are copies of what another die has had.
TimeLimit limit_of(const Machine& m, const std::vector<ExplainedOrder>& orders, double dispatch_ms,
                   double fetched_bytes, double again_bytes) {
  TimeLimit limit;
  // Where lines have a home die, it is the others' copies that cross the fabric.
  const double crossing_bytes = m.lines_have_home != 0 ? again_bytes : fetched_bytes;
  const auto least = [&](const auto& of) {
    double value = of(orders.front().misses);
    for (const ExplainedOrder& o : orders) value = std::min(value, of(o.misses));
    return value;
  };
  const auto busy_ms = [&](std::size_t level) {
    return least(
        [&](const Classified& c) { return c.result.utilisation[level] * c.result.time_ms; });
  };
  limit.fetched_bytes = fetched_bytes;
  limit.read_bytes =
      least([](const Classified& c) { return c.total().of(MissClass::kCompulsory).bytes; });
  limit.written_bytes = least([](const Classified& c) { return c.written_bytes; });
  const double ms_a_clk = 1e-6 / m.clock_ghz;
  limit.level_ms = {busy_ms(0), busy_ms(1),
                    crossing_bytes / m.dies / m.fabric_bytes_per_clk * ms_a_clk,
                    m.llc ? fetched_bytes / m.llc->bytes_per_clk * ms_a_clk : 0,
                    (limit.read_bytes + limit.written_bytes) / m.hbm_bytes_per_ns * 1e-6};
  const auto longest = std::max_element(limit.level_ms.begin(), limit.level_ms.end());
  limit.time_ms = *longest;
  limit.bound = static_cast<Bound>(longest - limit.level_ms.begin());
  limit.dispatch_ms = dispatch_ms;
  if (dispatch_ms > limit.time_ms) {
    limit.time_ms = dispatch_ms;
    limit.bound = Bound::kDispatch;
  }
  return limit;
}

/// Arrays that many conflict misses belong to and whose rows lie a multiple of many lines apart
/// that is a power of two, so that few sets serve them: their rows made one line longer.
std::vector<Padding> paddings_for(const LineTrace& lines,
                                  const std::vector<ExplainedOrder>& orders) {
  constexpr std::uint64_t kFewSets = 8;  // lines; a smaller factor leaves most sets in use
  const std::vector<RowStride> strides = row_strides(lines);
  std::vector<Padding> paddings;
  for (std::uint32_t a = 0; a < strides.size(); ++a) {
    const std::uint64_t factor = strides[a].bytes & (~strides[a].bytes + 1);
    const bool conflicts = std::any_of(orders.begin(), orders.end(), [&](const ExplainedOrder& o) {
      return o.misses.arrays[a].of(MissClass::kConflict).requests >
             kWorthASentence * o.misses.total().of(MissClass::kConflict).requests;
    });
    if (conflicts && factor >= kFewSets * lines.line_bytes) {
      paddings.push_back({a, strides[a].bytes, lines.line_bytes});
    }
  }
  return paddings;
}

/// Orders to compare working sets of: each die its own stretch where dies have queues of their own.
std::vector<std::string> grouped_specs(const Launch& launch) {
  const bool per_die = launch.machine.dispatch == Dispatch::kRoundRobinPerDie;
  std::vector<std::string> specs;
  const std::uint32_t rows = launch.shape.grid.y * launch.shape.grid.z;
  if (rows < 2 || launch.shape.grid.x < 2) return specs;
  for (const std::uint32_t height : {1U, 2U, 4U, 8U, 16U, 32U}) {
    if (height > rows) break;
    specs.push_back(fmt::format("{}grouped:height={}", per_die ? "die-contiguous+" : "", height));
  }
  return specs;
}

class Explainer {
 public:
  Explainer(const Launch& launch, const ExplainRequest& request)
      : launch_(launch),
        request_(request),
        per_cu_(launch.occupancy.blocks_per_cu),
        lines_(make_lines(launch.trace, launch.machine, per_cu_)),
        replayer_(launch.trace, launch.machine, per_cu_) {}

  Explanation run() {
    find_orders();
    parallel_for(x_.orders.size(), request_.threads, [&](std::uint64_t i, unsigned) {
      x_.orders[i].misses = classify(replayer_, permutations_[i]);
      x_.orders[i].working_set = working_set(lines_, launch_.machine, per_cu_, permutations_[i]);
    });
    const ArrayMisses total = x_.order().misses.total();
    const double once = total.of(MissClass::kCompulsory).bytes;
    const double again = total.of(MissClass::kSharing).bytes;
    const double dispatch_ms =
        least_dispatch_ns(launch_.machine, launch_.shape.grid.count()) * 1e-6;
    x_.any_order = limit_of(launch_.machine, x_.orders, dispatch_ms, once, 0);
    x_.this_order = limit_of(launch_.machine, x_.orders, dispatch_ms, once + again, again);
    if (request_.what_else && weighs(MissClass::kConflict)) try_escapes();
    if (request_.what_else && weighs(MissClass::kCapacity)) compare_groups();
    return std::move(x_);
  }

 private:
  void find_orders() {
    const std::string spec = request_.swizzle.empty()
                                 ? best_order(launch_, replayer_, request_, x_.candidates)
                                 : request_.swizzle;
    x_.orders.push_back({"identity", {}, {}});
    permutations_.push_back(permutation_of("identity", launch_.shape));
    std::vector<std::uint32_t> permutation = permutation_of(spec, launch_.shape);
    if (permutation == permutations_.front()) return;
    x_.orders.push_back({spec, {}, {}});
    permutations_.push_back(std::move(permutation));
  }

  /// Under either order: what a swizzle cured is worth knowing another cure for.
  [[nodiscard]] bool weighs(MissClass c) const {
    return std::any_of(x_.orders.begin(), x_.orders.end(), [&](const ExplainedOrder& o) {
      return share_of(o.misses, c) >= kWorthASentence;
    });
  }

  void try_escapes() {
    const auto replay_all = [&](const Replayer& replayer, std::vector<Padding> paddings) {
      WhatIf what_if = {std::move(paddings), std::vector<Classified>(x_.orders.size())};
      parallel_for(x_.orders.size(), request_.threads, [&](std::uint64_t i, unsigned) {
        what_if.orders[i] = classify(replayer, permutations_[i], what_if.paddings);
      });
      return what_if;
    };
    std::vector<Padding> paddings = paddings_for(lines_, x_.orders);
    if (!paddings.empty()) x_.padded = replay_all(replayer_, std::move(paddings));
    if (launch_.machine.l2.index == SetIndex::kHashed) return;
    Machine machine = launch_.machine;
    machine.l2.index = SetIndex::kHashed;
    x_.hashed = replay_all(Replayer(launch_.trace, machine, per_cu_), {});
  }

  void compare_groups() {
    const std::vector<std::string> specs = grouped_specs(launch_);
    x_.grouped.resize(specs.size());
    parallel_for(specs.size(), request_.threads, [&](std::uint64_t i, unsigned) {
      x_.grouped[i] = {specs[i], working_set(lines_, launch_.machine, per_cu_,
                                             permutation_of(specs[i], launch_.shape))};
    });
  }

  const Launch& launch_;
  const ExplainRequest& request_;
  std::uint32_t per_cu_;
  LineTrace lines_;
  Replayer replayer_;
  std::vector<std::vector<std::uint32_t>> permutations_;  // by Explanation::orders
  Explanation x_;
};

}  // namespace

double share_of(const Classified& misses, MissClass c) {
  const ArrayMisses total = misses.total();
  const double all = total.misses().requests;
  return all > 0 ? total.of(c).requests / all : 0;
}

Explanation explain(const Launch& launch, const ExplainRequest& request) {
  return Explainer(launch, request).run();
}

}  // namespace swizzleperf
