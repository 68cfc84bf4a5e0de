// The inner step of verification, shared by verify.cc and guard.cc.
#pragma once

#include <vector>

#include "swizzleperf/formula.h"

namespace swizzleperf {

/// For each launch whether the formula is a bijection on it.
std::vector<bool> prove_each(const Formula& formula, const std::vector<LaunchShape>& shapes,
                             unsigned threads);

}  // namespace swizzleperf
