// The swizzle language in words, for whoever must write it: a person at a terminal or a model.
//
// One text, which `verify --help`, every context and every prompt print, so that nobody is told
// another language than the parser reads. Its worked examples are run by a test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf {

/// Formulas that the text shows, with the blocks they compute on a grid of 4 x 2 in order of
/// dispatch. Neither knows of dies, and neither is what any kernel of the suite needs.
struct LanguageExample {
  std::string_view words;
  std::string_view formula;
  std::vector<std::uint32_t> blocks;
};
const std::vector<LanguageExample>& language_examples();

/// Without hardware, the inputs that tell of it (num_xcds, cus_per_xcd) are not mentioned.
std::string language_text(bool hardware);

}  // namespace swizzleperf
