// The named swizzles of the field, as parameterised formulas.
//
// A swizzle is written on the command line and in journals as a specification:
//     identity
//     die-contiguous
//     chunked:chunk=64
//     die-contiguous+grouped:height=8,axis=y      (first the die step, then the in-die step)
//     @file.swz    or a formula text itself (anything that contains '=')
// logical = B(A(p)) for A+B. In-die steps see a picture num_pid_x blocks wide, or `cols=` wide.
// Every name yields ordinary formula text, so that what the search finds, what a person writes and
// what a language model writes are the same kind of thing, proved and printed by the same code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "swizzleperf/formula.h"

namespace swizzleperf {

struct Swizzle {
  std::string spec;   ///< as in the essay above; the name in reports and journals
  std::string words;  ///< one or two plain sentences: what it does to the order of blocks
  Formula formula;
};

struct SwizzleParameter {
  std::string name;
  std::string meaning;
  std::int64_t default_value;
  std::int64_t minimum;
  std::int64_t maximum;
};

enum class SwizzleRole { kDieStep, kInDieStep };

struct SwizzleFamily {
  std::string name;
  std::string words;
  std::string source;  ///< where it is used or published
  SwizzleRole role;
  bool always_bijective;
  std::string exact_form;  ///< for one that is not: the family to use instead
  std::vector<SwizzleParameter> parameters;
  std::vector<std::string> axes;  ///< values of `axis=`; empty if it has none
};

/// All families, in a fixed order.
const std::vector<SwizzleFamily>& swizzle_families();

/// Builds a swizzle from a specification. Throws Error(kUsage) naming what is wrong: an unknown
/// name (with the nearest known one), an unknown or out-of-range parameter, a missing file.
Swizzle make_swizzle(std::string_view spec, const Params& params = {});

}  // namespace swizzleperf
