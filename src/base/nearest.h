// "Did you mean ...?" for keys, verbs, machines and swizzles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf {

/// The candidate fewest edits away from the word, or "" when none is near enough to be a slip.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'WORD'?", or "" when nothing is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace swizzleperf
