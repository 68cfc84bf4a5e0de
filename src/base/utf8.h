// Which bytes are text. JSON holds nothing else, so what comes from elsewhere (a reply, an
// argument, a file's name) is looked at before it gets into a result.
#pragma once

#include <cstddef>
#include <string_view>

namespace swizzleperf {

/// Length of the valid UTF-8 sequence that a text (not empty) begins with; 0 if it begins with
/// none.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace swizzleperf
