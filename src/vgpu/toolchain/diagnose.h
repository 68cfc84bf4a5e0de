// From the text a compiler or linker prints to the one sentence a user should read.
#pragma once

#include <filesystem>
#include <string>

namespace swizzleperf::vgpu {

/// The first error of clang's diagnostics as "file:line:column: message"; the first non-empty line
/// where there is none of that form.
std::string first_compile_error(const std::string& diagnostics);

/// One sentence with the place when the diagnostics are clang's complaints about the operands of an
/// inline assembly that is not for its target (PTX); else "".
std::string inline_ptx(const std::string& diagnostics);

/// One sentence when the first error comes of including a vendor's library (CUB, Thrust, cuBLAS);
/// else "".
std::string missing_library(const std::string& diagnostics);

/// One sentence when the linker misses a function of the HIP runtime; else "".
std::string missing_runtime(const std::string& diagnostics);

/// What the linker's diagnostics mean for the program: no main, a runtime function that is not
/// supported, another undefined symbol, or else its first error.
std::string link_error(const std::filesystem::path& source, const std::string& diagnostics);

}  // namespace swizzleperf::vgpu
