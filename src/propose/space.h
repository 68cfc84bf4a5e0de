// The swizzles worth trying on a launch: families x parameters x compositions.
//
// What wins in practice is a composition: first a die step (which blocks share a die), then a step
// inside the die (which of them run at the same time). So the space is
//     {none, die step} x {none, in-die step}
// over every always-bijective family of swizzles/, with parameter values that make sense for the
// grid: tile heights up to the number of rows, chunks from a few blocks to a die's whole share.
// Enumeration is deterministic and knows nothing of the kernel; the replay is the judge.
#pragma once

#include <string>
#include <vector>

#include "swizzleperf/formula.h"

namespace swizzleperf {

/// Specifications for make_swizzle, without the identity; many describe equal permutations.
std::vector<std::string> enumerate_swizzles(const LaunchShape& shape);

/// Specifications that differ from `spec` in one parameter by a small step.
std::vector<std::string> neighbours(const std::string& spec, const LaunchShape& shape);

}  // namespace swizzleperf
