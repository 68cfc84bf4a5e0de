// See summary.h.
#include "study/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/statistics.h"

namespace swizzleperf::study {
namespace {

using Values = std::array<std::optional<double>, kFigures>;

double& value(Values& values, Figure f) {
  std::optional<double>& slot = values[static_cast<std::size_t>(f)];
  if (!slot) slot = 0;
  return *slot;
}

void set(Values& values, Figure f, const std::optional<double>& to) {
  values[static_cast<std::size_t>(f)] = to;
}

/// Adds up; nothing and nothing stays nothing.
void add(Values& values, Figure f, const std::optional<double>& more) {
  if (more) value(values, f) += *more;
}

void count(Values& values, Figure f, const std::optional<bool>& is) {
  if (is) value(values, f) += *is ? 1 : 0;
}

bool failed(const AttemptRow& row) { return row.outcome == "failed"; }

/// The numbers of one trial, from its attempts in order.
Values trial_of(const std::vector<const AttemptRow*>& rows) {
  Values v;
  std::optional<double> seconds;
  for (const AttemptRow* row : rows) {
    if (row->attempt == 0) continue;
    value(v, Figure::kAttempts) += 1;
    count(v, Figure::kParsed, row->parsed);
    count(v, Figure::kBijective, row->bijective);
    count(v, Figure::kIdentity, row->identity);
    count(v, Figure::kRepeated, row->repeated);
    count(v, Figure::kBuilt, row->built);
    count(v, Figure::kEqual, row->equal_outputs);
    add(v, Figure::kTokens, row->tokens);
    add(v, Figure::kSeconds, row->seconds);
    if (const auto more = row->seconds) seconds = seconds.value_or(0) + *more;
    if (!row->best) continue;
    set(v, Figure::kL2After, row->l2_after);
    set(v, Figure::kTimeRatio, row->time_ratio);
    set(v, Figure::kSecondsToBest, row->seconds ? seconds : std::nullopt);
  }
  set(v, Figure::kL2Before, rows.front()->l2_before);
  return v;
}

Over over_trials(const std::vector<Values>& trials, std::size_t figure) {
  std::vector<double> values;
  for (const Values& t : trials) {
    if (const std::optional<double>& v = t[figure]) values.push_back(*v);
  }
  Over over;
  over.trials = values.size();
  if (values.empty()) return over;
  over.mean = mean(values);
  over.deviation = deviation(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  over.least = *least;
  over.most = *most;
  return over;
}

auto group_key(const AttemptRow& r) {
  return std::tuple(r.kernel, r.size, r.machine, r.context, r.proposer, r.model);
}
auto overall_key(const AttemptRow& r) { return std::tuple(r.context, r.proposer, r.model); }
auto launch_key(const AttemptRow& r) { return std::tuple(r.kernel, r.size, r.machine); }

/// Rows with equal keys together, in the order in which keys come first.
template <typename KeyOf>
std::vector<std::vector<const AttemptRow*>> together(const std::vector<const AttemptRow*>& rows,
                                                     const KeyOf& key_of) {
  std::vector<std::vector<const AttemptRow*>> groups;
  std::map<decltype(key_of(*rows.front())), std::size_t> places;
  for (const AttemptRow* row : rows) {
    const auto [at, fresh] = places.try_emplace(key_of(*row), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(row);
  }
  return groups;
}

std::vector<const AttemptRow*> pointers(const std::vector<AttemptRow>& rows) {
  std::vector<const AttemptRow*> all(rows.size());
  std::transform(rows.begin(), rows.end(), all.begin(), [](const AttemptRow& row) { return &row; });
  return all;
}

AttemptRow names_of(const AttemptRow& row) {
  AttemptRow key;
  key.kernel = row.kernel;
  key.size = row.size;
  key.machine = row.machine;
  key.context = row.context;
  key.proposer = row.proposer;
  key.model = row.model;
  return key;
}

/// Both figures of two orders are told apart, and they point to different ones.
bool contradict(const Point& a, const Point& b) { return a.l2 > b.l2 && a.time_ms > b.time_ms; }

bool differ(const Point& a, const Point& b) {
  return std::abs(a.l2 - b.l2) > kSameL2 &&
         std::abs(a.time_ms - b.time_ms) > kSameTime * std::min(a.time_ms, b.time_ms);
}

void correlate(Launches& l) {
  std::vector<double> hits;
  std::vector<double> times;
  for (const Point& p : l.points) {
    hits.push_back(p.l2);
    times.push_back(p.time_ms);
  }
  constexpr std::size_t kFewest = 3;  // two points lie on a line
  if (hits.size() >= kFewest) {
    l.pearson = pearson(hits, times);
    l.spearman = spearman(hits, times);
  }
  for (std::size_t i = 0; i < l.points.size(); ++i) {
    for (std::size_t j = i + 1; j < l.points.size(); ++j) {
      if (!differ(l.points[i], l.points[j])) continue;
      ++l.pairs;
      if (contradict(l.points[i], l.points[j])) l.contradictions.emplace_back(i, j);
      if (contradict(l.points[j], l.points[i])) l.contradictions.emplace_back(j, i);
    }
  }
}

}  // namespace

std::string_view figure_name(Figure figure) {
  static constexpr std::array<std::string_view, kFigures> kNames = {
      "attempts", "parsed",        "bijective",      "identity", "repeated",
      "built",    "equal_outputs", "l2_before",      "l2_after", "time_ratio",
      "tokens",   "seconds",       "seconds_to_best"};
  return kNames[static_cast<std::size_t>(figure)];
}

std::vector<Group> groups_of(const std::vector<AttemptRow>& rows) {
  std::vector<Group> all;
  if (rows.empty()) return all;
  for (const auto& members : together(pointers(rows), group_key)) {
    Group group;
    group.key = names_of(*members.front());
    std::vector<Values> trials;
    for (const auto& trial : together(members, [](const AttemptRow& r) { return r.trial; })) {
      ++group.trials;
      if (failed(*trial.front())) {
        if (group.failed++ == 0) group.reason = trial.front()->reason;
        continue;
      }
      trials.push_back(trial_of(trial));
    }
    for (std::size_t f = 0; f < kFigures; ++f) group.over[f] = over_trials(trials, f);
    all.push_back(std::move(group));
  }
  return all;
}

std::vector<Overall> overall_of(const std::vector<AttemptRow>& rows) {
  std::vector<Overall> all;
  if (rows.empty()) return all;
  for (const auto& members : together(pointers(rows), overall_key)) {
    Overall o;
    o.key = names_of(*members.front());
    std::set<std::tuple<std::string, std::string, std::string, std::uint64_t>> runs;
    std::vector<double> gains;
    std::vector<double> ratios;
    for (const AttemptRow* row : members) {
      if (runs.emplace(row->kernel, row->size, row->machine, row->trial).second) {
        ++o.configurations;
        o.failed += failed(*row) ? 1 : 0;
      }
      if (row->attempt == 0) continue;
      ++o.attempts;
      o.parsed += row->parsed == true ? 1 : 0;
      o.bijective += row->bijective == true ? 1 : 0;
      o.identity += row->identity == true ? 1 : 0;
      o.repeated += row->repeated == true ? 1 : 0;
      if (!row->best || !row->time_ratio) continue;
      if (*row->time_ratio > 1 + kSameTime) ++o.faster;
      ratios.push_back(std::log(*row->time_ratio));
      if (row->l2_after && row->l2_before)
        gains.push_back(100 * (*row->l2_after - *row->l2_before));
    }
    o.l2_gain_points = mean(gains);
    if (const auto log = mean(ratios)) o.time_ratio = std::exp(*log);
    all.push_back(std::move(o));
  }
  return all;
}

std::vector<Launches> launches_of(const std::vector<AttemptRow>& rows) {
  std::vector<Launches> all;
  if (rows.empty()) return all;
  for (const auto& members : together(pointers(rows), launch_key)) {
    Launches l;
    l.key = names_of(*members.front());
    std::set<std::string> seen;
    for (const AttemptRow* row : members) {
      if (!row->time_ms || !row->l2_after || !row->l2_before || !row->time_ratio) continue;
      if (l.points.empty()) {
        l.points.push_back(
            {"identity", "", "", "", *row->l2_before, *row->time_ms * *row->time_ratio});
      }
      if (!seen.insert(row->hash).second) continue;
      l.points.push_back(
          {fmt::format("{}{}{}, attempt {}, trial {}", row->proposer,
                       row->context.empty() ? "" : ", ", row->context, row->attempt, row->trial),
           row->formula, row->context, row->proposer, *row->l2_after, *row->time_ms});
    }
    correlate(l);
    all.push_back(std::move(l));
  }
  return all;
}

Pooled pooled(const std::vector<Launches>& launches) {
  std::vector<double> gains;
  std::vector<double> logs;
  for (const Launches& l : launches) {
    for (std::size_t i = 1; i < l.points.size(); ++i) {
      if (l.points[i].time_ms <= 0 || l.points[0].time_ms <= 0) continue;
      gains.push_back(100 * (l.points[i].l2 - l.points[0].l2));
      logs.push_back(std::log(l.points[i].time_ms / l.points[0].time_ms));
    }
  }
  return {gains.size(), pearson(gains, logs), spearman(gains, logs)};
}

}  // namespace swizzleperf::study
