// One line of a table as tools print them: commas, and quotes where a field has one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf {

/// The fields of a line; a quoted field may hold commas, and "" for a quote. Nothing when a quote
/// is not closed: the line was cut off.
std::optional<std::vector<std::string>> split_csv(std::string_view line);

}  // namespace swizzleperf
