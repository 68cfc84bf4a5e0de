// What printed code needs to know of a formula: which values may need 64 bits.
//
// The printed function serves every grid of fewer than 2^31 blocks, so `infer` tells ranges that
// hold for all of them at once, with only the die count fixed. On one grid most values are
// constants and loops have a known length, so `narrow_on` finds much more to fit 32 bits: a GPU
// divides those in a few instructions, and needs a hundred for 64 bits. Both describe launches on
// which the formula does not fault; a launch on which it does was never proved, and nobody runs it.
#pragma once

#include <vector>

#include "formula/arithmetic.h"
#include "formula/syntax.h"
#include "swizzleperf/formula.h"

namespace swizzleperf {

struct Inference {
  std::vector<Range> expr;  ///< by ExprId: the values of that node
  std::vector<Range> slot;  ///< by SlotId: all values the name ever has
};

Inference infer(const FormulaProgram& program, std::uint32_t num_xcds, std::uint32_t cus_per_xcd);

/// Whether 32 bits are enough for everything that the formula computes on this launch.
bool narrow_on(const FormulaProgram& program, const LaunchShape& shape);

}  // namespace swizzleperf
