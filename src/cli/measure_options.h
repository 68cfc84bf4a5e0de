// How to measure: the options that `measure` and `optimize` share.
#pragma once

#include <memory>
#include <string>

#include "measure/measure.h"

namespace CLI {
class App;
}

namespace swizzleperf {

struct MeasureOptions {
  measure::Settings settings;
  std::string tolerance;
  bool no_counters = false;
  std::uint64_t memory_mb = 0;
};

void declare_measure_options(CLI::App& app, const std::shared_ptr<MeasureOptions>& options);

/// Throws Error(kUsage) for a tolerance that cannot be read.
measure::Settings measure_settings(const MeasureOptions& options, std::uint64_t seed, bool quiet);

}  // namespace swizzleperf
