// result.json: what a finished run says (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>

#include "optimize/optimize.h"

namespace swizzleperf {

nlohmann::json result_json(const OptimizeRequest& request, const OptimizeOutcome& outcome,
                           double seconds);

}  // namespace swizzleperf
