// The figures of a context, as JSON; docs/json.md says what the keys mean.
#pragma once

#include <nlohmann/json.hpp>

#include "context/context.h"

namespace swizzleperf {

/// Kernel, grid and objective: what every context says.
nlohmann::json kernel_facts(const Launch& launch, const ContextRequest& request);

/// What `aware` says beyond that: {locality, work, in_flight, profile, machine}.
nlohmann::json aware_facts(const Launch& launch, const ContextRequest& request);

/// What `overload` says instead: {machine, device, profile}, nothing left out.
nlohmann::json overload_facts(const Launch& launch, const ContextRequest& request);

}  // namespace swizzleperf
