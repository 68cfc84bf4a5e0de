// See rounds.h.
#include "measure/rounds.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace swizzleperf::measure {
namespace {

using Clock = std::chrono::steady_clock;

double burst(Session& session, int launches, const Written& written, const TimingPlan& plan) {
  // The first launch of a burst finds the other program's lines in the caches.
  constexpr int kWarmUp = 1;
  // As many times as were asked for, so never none.
  return median(session.time(kWarmUp, launches, plan.restore, plan.cold, written)).value_or(0);
}

int launches_of(double milliseconds, const TimingPlan& plan) {
  const double fit = plan.burst_ms / std::max(milliseconds, 1e-3);
  return std::clamp(static_cast<int>(std::lround(fit)), 1, plan.most_launches);
}

template <typename Of>
std::optional<Estimate> estimate(const std::vector<Round>& rounds, double confidence,
                                 std::uint64_t seed, const Of& of) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Round& r : rounds) values.push_back(of(r));
  return median_interval(values, confidence, seed);
}

bool narrow(const std::vector<Round>& rounds, const TimingPlan& plan) {
  const auto ratio = speedup(rounds, plan.confidence, plan.seed);
  return ratio && ratio->high - ratio->low <= 2 * plan.narrow * ratio->value;
}

}  // namespace

std::vector<Round> time_in_turn(Session& original, Session& own, const Written& written,
                                const TimingPlan& plan) {
  const int of_original = launches_of(burst(original, 1, written, plan), plan);
  const int of_own = launches_of(burst(own, 1, written, plan), plan);
  const auto begin = Clock::now();
  std::vector<Round> rounds;
  for (int i = 0; i < plan.most_rounds; ++i) {
    if (i >= plan.least_rounds) {
      const std::chrono::duration<double> spent = Clock::now() - begin;
      if (spent.count() > plan.seconds || narrow(rounds, plan)) break;
    }
    Round r;
    if (i % 2 == 0) r.original_ms = burst(original, of_original, written, plan);
    r.own_ms = burst(own, of_own, written, plan);
    if (i % 2 == 1) r.original_ms = burst(original, of_original, written, plan);
    rounds.push_back(r);
  }
  return rounds;
}

std::optional<Estimate> speedup(const std::vector<Round>& rounds, double confidence,
                                std::uint64_t seed) {
  return estimate(rounds, confidence, seed,
                  [](const Round& r) { return r.original_ms / r.own_ms; });
}

std::optional<Estimate> own_time(const std::vector<Round>& rounds, double confidence,
                                 std::uint64_t seed) {
  return estimate(rounds, confidence, seed, [](const Round& r) { return r.own_ms; });
}

std::optional<Estimate> original_time(const std::vector<Round>& rounds, double confidence,
                                      std::uint64_t seed) {
  return estimate(rounds, confidence, seed, [](const Round& r) { return r.original_ms; });
}

}  // namespace swizzleperf::measure
