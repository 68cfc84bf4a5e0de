// What the model says of a measured launch: its trace, replayed in the orders that were measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "swizzleperf/machine.h"
#include "validate/data.h"
#include "validate/judge.h"
#include "validate/trace_cache.h"

namespace swizzleperf::validate {

struct ReplaySettings {
  bool exact = false;
  bool measured_occupancy = false;  ///< where it is known, instead of the code generator's
  unsigned threads = 1;
  std::uint64_t seed = 1;
};

/// A launch as the model has it.
struct PredictedLaunch {
  std::uint32_t blocks_per_cu = 0;  ///< that were replayed; of its first kernel
  std::string words;                ///< "64 x 64 blocks of 256 threads, 2 a CU (limited by LDS)"
  double sampled_share = 1;         ///< of the requests
  std::vector<Predicted> points;    ///< by MeasuredLaunch::points
};

/// `said` is told what is being done, for a progress line.
PredictedLaunch predict(const Source& source, const MeasuredLaunch& launch, const Machine& machine,
                        const TraceCache& traces, const ReplaySettings& settings,
                        const std::function<void(const std::string&)>& said);

}  // namespace swizzleperf::validate
