// A command that a user wrote as one text, as the words a shell would make of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf {

/// Splits at spaces; '...' and "..." hold words together, a backslash takes the next character as
/// it is (within "..." only before " and \). Nothing is expanded, nothing is run. Throws
/// Error(kUsage) for a quote that is not closed.
std::vector<std::string> split_words(std::string_view text);

}  // namespace swizzleperf
