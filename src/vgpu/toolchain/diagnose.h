// From the text a compiler or linker prints to the one sentence a user should read.
#pragma once

#include <filesystem>
#include <string>

namespace swizzleperf::vgpu {

/// The first error of clang's diagnostics as "file:line:column: message"; the first non-empty line
/// where there is none of that form.
std::string first_compile_error(const std::string& diagnostics);

/// What the linker's diagnostics mean for the program: no main, a runtime function that is not
/// supported, another undefined symbol, or else its first error.
std::string link_error(const std::filesystem::path& source, const std::string& diagnostics);

}  // namespace swizzleperf::vgpu
