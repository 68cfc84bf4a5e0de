// How a family of swizzles is written down: as formula text with places for its parameters.
//
// Text, not code, because text is what everybody shares: the same bytes are proved, printed into a
// kernel, shown to a language model as an example and read by a person. Two kinds of places:
//     {chunk}             the value of parameter `chunk`
//     {cols|num_pid_x}    the same, but 0 stands for the expression after the bar
#pragma once

#include <string_view>
#include <vector>

#include "swizzleperf/swizzles.h"

namespace swizzleperf {

/// The parameter that every template on a picture of rows and columns has.
constexpr std::string_view kCols = "cols";

struct SwizzleTemplate {
  SwizzleFamily family;
  /// The blocks are seen as a picture of `rows` x `cols`, which the text may use.
  bool on_view = false;
  std::vector<std::string_view> texts;  ///< one, or one for each of family.axes
};

/// All templates, in the order of swizzle_families().
const std::vector<SwizzleTemplate>& swizzle_templates();

}  // namespace swizzleperf
