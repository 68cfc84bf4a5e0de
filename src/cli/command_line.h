// From argv to a verb with its options.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace swizzleperf {

struct Invocation {
  Action action;
  CommonOptions common;
};

/// What to run; or, for --help and --version, nothing, with the text to print in `help`. Throws
/// Error(kUsage), Error(kInput).
std::optional<Invocation> parse_command_line(const std::vector<std::string>& arguments,
                                             std::string& help);

}  // namespace swizzleperf
