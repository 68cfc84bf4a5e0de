// See judge.h.
#include "validate/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/statistics.h"

namespace swizzleperf::validate {

std::optional<double> l2_error(const JudgedPoint& p) {
  const Measured& m = p.point->measured;
  const double predicted = p.predicted.l2_hit_rate;
  if (m.l2_hit_rate) return 100 * (predicted - *m.l2_hit_rate);
  if (m.l2_from && m.l2_to) return 100 * (predicted - std::clamp(predicted, *m.l2_from, *m.l2_to));
  return std::nullopt;
}

std::optional<double> llc_error(const JudgedPoint& p) {
  const Measured& m = p.point->measured;
  if (!m.llc_hit_rate || !p.predicted.llc_hit_rate) return std::nullopt;
  return 100 * (*p.predicted.llc_hit_rate - *m.llc_hit_rate);
}

std::optional<double> dram_error(const JudgedPoint& p) {
  const Measured& m = p.point->measured;
  if (!m.dram_read_bytes) return std::nullopt;
  return p.predicted.dram_read_bytes / *m.dram_read_bytes - 1;
}

bool dram_counts(const Source& source, const JudgedPoint& p) {
  return p.point->measured.dram_read_bytes.value_or(0) >= source.least_dram_bytes;
}

std::optional<double> predicted_speedup(const JudgedPoint& p) {
  if (p.identity == nullptr) return std::nullopt;
  return p.identity->predicted.time_ms / p.predicted.time_ms;
}

namespace {

bool picks(const Source& source, const Selection& s, const JudgedPoint& p) {
  using Over = Selection::Over;
  if (!p.shown || (s.over != Over::kAll && p.point->fitted != (s.over == Over::kFitted)))
    return false;
  if (!s.kernels.empty() &&
      std::find(s.kernels.begin(), s.kernels.end(), p.launch->kernel) == s.kernels.end())
    return false;
  if (!s.launch.empty() && s.launch != p.launch->name) return false;
  return s.order.empty() || s.order == source.orders[p.point->order].name;
}

}  // namespace

Group select(const Source& source, std::span<const JudgedPoint> points,
             const Selection& selection) {
  Group group{&source, {}};
  for (const JudgedPoint& p : points) {
    if (picks(source, selection, p)) group.points.push_back(&p);
  }
  return group;
}

namespace {

using Value = std::optional<double>;

/// |error| of every point that has one.
std::vector<double> sizes(const Group& group, Value (*error)(const JudgedPoint&)) {
  std::vector<double> result;
  for (const JudgedPoint* p : group.points) {
    if (const Value e = error(*p)) result.push_back(std::abs(*e));
  }
  return result;
}

/// What a launch's points say of one quantity, measured and predicted.
struct Pairs {
  const MeasuredLaunch* launch;
  std::vector<double> measured;
  std::vector<double> predicted;
};

std::vector<Pairs> bandwidths_by_launch(const Group& group) {
  std::vector<Pairs> result;
  for (const JudgedPoint* p : group.points) {
    const Value m = p->point->measured.bandwidth;
    if (!m) continue;
    if (result.empty() || result.back().launch != p->launch) result.push_back({p->launch, {}, {}});
    result.back().measured.push_back(*m);
    result.back().predicted.push_back(p->predicted.bandwidth);
  }
  return result;
}

/// One entry a permutation.
std::vector<Pairs> times_by_launch(const Group& group) {
  std::vector<Pairs> result;
  std::map<std::pair<const MeasuredLaunch*, std::size_t>, std::vector<double>> measured;
  for (const JudgedPoint* p : group.points) {
    if (const Value m = p->point->measured.time_ms) {
      measured[{p->launch, p->predicted.permutation}].push_back(*m);
    }
  }
  for (const JudgedPoint* p : group.points) {
    const auto times = measured.extract({p->launch, p->predicted.permutation});
    if (times.empty()) continue;
    if (result.empty() || result.back().launch != p->launch) result.push_back({p->launch, {}, {}});
    result.back().measured.push_back(median(times.mapped()).value_or(0));
    result.back().predicted.push_back(p->predicted.time_ms);
  }
  return result;
}

Value l2_mean(const Group& g) { return mean(sizes(g, l2_error)); }
Value l2_worst(const Group& g) { return largest(sizes(g, l2_error)); }
Value llc_mean(const Group& g) { return mean(sizes(g, llc_error)); }
Value llc_worst(const Group& g) { return largest(sizes(g, llc_error)); }

std::vector<double> dram_sizes(Group group) {
  std::erase_if(group.points,
                [&](const JudgedPoint* p) { return !dram_counts(*group.source, *p); });
  return sizes(group, dram_error);
}
Value dram_median(const Group& g) { return median(dram_sizes(g)); }
Value dram_worst(const Group& g) { return largest(dram_sizes(g)); }

/// Orders that moved the measured L2 hits by more than the source's threshold, and the model's not
/// in that direction.
Value against_direction(const Group& g) {
  Value wrong;
  for (const JudgedPoint* p : g.points) {
    if (p->identity == nullptr || p->identity == p) continue;
    const Value after = p->point->measured.l2_hit_rate;
    const Value before = p->identity->point->measured.l2_hit_rate;
    if (!after || !before) continue;
    const double moved = *after - *before;
    if (100 * std::abs(moved) <= g.source->moved_points) continue;
    const double in_model = p->predicted.l2_hit_rate - p->identity->predicted.l2_hit_rate;
    wrong = wrong.value_or(0) + (moved * in_model > 0 ? 0 : 1);
  }
  return wrong;
}

Value least_time_rank(const Group& g) {
  Value least;
  for (const TimeRank& r : time_ranks(g)) {
    if (r.spread > g.source->time_spread) {
      least = std::min(least.value_or(r.correlation), r.correlation);
    }
  }
  return least;
}

Value bandwidth_misranked(const Group& g) {
  Value wrong;
  for (const Pairs& p : bandwidths_by_launch(g)) {
    if (p.measured.size() > 1) wrong = wrong.value_or(0) + misranked(p.measured, p.predicted);
  }
  return wrong;
}

/// Of one point; a bound that means it names launch and order.
Value l2_predicted(const Group& g) {
  if (g.points.size() != 1) return std::nullopt;
  return 100 * g.points.front()->predicted.l2_hit_rate;
}

constexpr std::array<Statistic, 10> kStatistics = {{
    {"l2_mean_error", "L2 hit rate, mean error", Unit::kPoints, l2_mean},
    {"l2_worst_error", "L2 hit rate, worst error", Unit::kPoints, l2_worst},
    {"llc_mean_error", "last-level hit rate, mean error", Unit::kPoints, llc_mean},
    {"llc_worst_error", "last-level hit rate, worst error", Unit::kPoints, llc_worst},
    {"dram_median_error", "DRAM read bytes, median error", Unit::kShare, dram_median},
    {"dram_worst_error", "DRAM read bytes, worst error", Unit::kShare, dram_worst},
    {"against_direction", "orders that move L2 hits the other way", Unit::kCount,
     against_direction},
    {"time_rank", "least rank correlation of times", Unit::kCorrelation, least_time_rank},
    {"bandwidth_misranked", "pairs of orders misranked by bandwidth", Unit::kCount,
     bandwidth_misranked},
    {"l2_predicted", "L2 hit rate, predicted", Unit::kPercent, l2_predicted},
}};

}  // namespace

std::vector<TimeRank> time_ranks(const Group& group) {
  std::vector<TimeRank> result;
  for (const Pairs& p : times_by_launch(group)) {
    if (const auto correlation = spearman(p.measured, p.predicted)) {
      result.push_back({p.launch, spread(p.measured).value_or(0), *correlation});
    }
  }
  return result;
}

std::span<const Statistic> statistics() { return kStatistics; }

const Statistic* find_statistic(std::string_view name) {
  const auto* const found = std::find_if(kStatistics.begin(), kStatistics.end(),
                                         [&](const Statistic& s) { return s.name == name; });
  return found != kStatistics.end() ? found : nullptr;
}

BoundVerdict judge(const Bound& bound, const Source& source, std::span<const JudgedPoint> points) {
  BoundVerdict verdict{&bound, bound.statistic->of(select(source, points, bound.selection)),
                       std::nullopt};
  if (verdict.value) {
    verdict.holds = (!bound.at_least || *verdict.value >= *bound.at_least) &&
                    (!bound.at_most || *verdict.value <= *bound.at_most);
  }
  return verdict;
}

}  // namespace swizzleperf::validate
