// From a formula and one launch to lane code (lanes.h), or to the answer that the interpreter must
// do it.
#pragma once

#include <optional>

#include "formula/lanes.h"
#include "formula/syntax.h"

namespace swizzleperf {

/// Lane code that computes every block's target as the interpreter does, without a fault; nothing
/// if that cannot be shown (a loop whose length depends on the block, a possible overflow, ...).
std::optional<LaneCode> specialise(const FormulaProgram& program, const LaunchShape& shape);

}  // namespace swizzleperf
