// Measuring a bundle: build all variants, hold original and candidates at the launch, compare, time
// in turn, profile, choose. See docs/measure.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/build.h"
#include "measure/compare.h"
#include "measure/results.h"

namespace swizzleperf::measure {

struct Settings {
  std::vector<int> devices;  ///< the driver's numbers; empty: all that are visible
  BuildSettings build;
  bool cold = false;                   ///< flush the last-level cache before each launch
  double timing_s = 6;                 ///< of a candidate, beyond the least number of rounds
  std::optional<Tolerance> tolerance;  ///< nothing: outputs must be equal bit by bit
  bool counters = true;
  double energy_s = 1;             ///< of repeated launches for a reading; 0: none
  double reach_s = 600;            ///< until a program is at its launch
  double command_s = 120;          ///< until one of our commands is answered
  std::uint64_t memory_bytes = 0;  ///< a program may hold, on the host; 0: most of what is free
  unsigned jobs = 0;               ///< builds at a time; 0: all cores
  std::uint64_t seed = 1;
  bool quiet = false;
};

/// Why programs of a language cannot be measured here: no GPU, no library of ours, no compiler; one
/// sentence without a full stop, or "". `own_build`: the project brings its compiler.
std::string obstacle(Language language, bool own_build, const Settings& settings);

/// Writes `results/` into the bundle. Throws Error(kInput): no GPU, no compiler, the original does
/// not build, run or reach the launch.
Results measure(const Bundle& bundle, const Settings& settings);

}  // namespace swizzleperf::measure
