// Options that were not given on the command line: from the environment, else from a file.
#pragma once

namespace CLI {
class App;
}

namespace swizzleperf {

/// The group of the options that every verb shares; those can be set at the top of a file and in
/// the environment.
inline constexpr const char* kCommonGroup = "Common options";

/// Fills in what `verb`, which has been parsed, was not given. Throws Error(kUsage) for a value
/// that an option does not take, Error(kInput) for a file that is not right.
void apply_settings(const CLI::App& application, CLI::App& verb);

}  // namespace swizzleperf
