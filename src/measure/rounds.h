// Original and candidate timed in turn.
//
// Clocks, temperature and neighbours drift over seconds; a pair of short bursts one right after the
// other sees the same drift, so each round gives a ratio and the ratios, not the times, are what is
// averaged. Who goes first alternates. Rounds go on until the interval of the median ratio is
// narrow or the time is up; that looks at its width only, never at its value.
#pragma once

#include <optional>
#include <vector>

#include "measure/results.h"
#include "measure/session.h"

namespace swizzleperf::measure {

struct TimingPlan {
  int least_rounds = 9;
  int most_rounds = 31;
  double narrow = 0.002;   ///< half of the interval, relative: enough
  double seconds = 6;      ///< of a candidate, rounds beyond the least
  double burst_ms = 20;    ///< of one of the two in a round, about
  int most_launches = 50;  ///< in a burst
  bool cold = false;       ///< the last-level cache is flushed before each launch
  bool restore = false;    ///< memory that the launch writes is restored before each
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

std::vector<Round> time_in_turn(Session& original, Session& own, const Written& written,
                                const TimingPlan& plan);

/// The original's time over the candidate's.
std::optional<Estimate> speedup(const std::vector<Round>& rounds, double confidence,
                                std::uint64_t seed);
/// The candidate's own time; the original's.
std::optional<Estimate> own_time(const std::vector<Round>& rounds, double confidence,
                                 std::uint64_t seed);
std::optional<Estimate> original_time(const std::vector<Round>& rounds, double confidence,
                                      std::uint64_t seed);

}  // namespace swizzleperf::measure
