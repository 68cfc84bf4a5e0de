// What a run offers once a GPU has spoken.
//
// The model proposes and its best order is in best.patch; measured, another candidate may be the
// fastest, or none. Then what the run directory offers is what was measured: best.patch and
// best.swz become that candidate's, or go where the order is to be kept, since a patch that is
// known to gain nothing would be applied by somebody.
#pragma once

#include <filesystem>
#include <string>

#include "measure/results.h"
#include "optimize/optimize.h"

namespace swizzleperf {

/// Of a run whose bundle was measured. Changes best.patch and best.swz, and adds `measured` and
/// `taken` to result.json. Returns the whole text of the changed source; "" where the order is
/// kept.
std::string take_measured(OptimizeOutcome& run, const measure::Bundle& bundle,
                          const measure::Results& results,
                          const std::filesystem::path& run_directory);

}  // namespace swizzleperf
