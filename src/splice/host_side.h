// Whether a rewritten source file still has the host side of the original.
//
// A proposer that hands back a whole file may have changed what checks the kernel instead of the
// kernel. So the file is cut: the bodies of __global__ functions and whole __device__ functions may
// differ, may be added or go away; all text that is left must be the original's, but for white
// space and comments. What would act from inside a body on the text behind it (a preprocessor
// directive, a line that is continued) must be the original's as well, and is looked at before
// anything is parsed, as is what would reach beyond the kernel (inline assembly, pragmas).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf::splice {

struct RewriteRequest {
  std::filesystem::path source;  ///< the original
  std::filesystem::path root;    ///< what the patch names the file relative to
  std::vector<std::string> compile_arguments;
  std::string rewritten;  ///< the whole new text
};

struct Rewrite {
  std::string host_change;  ///< one sentence on the first change of the host side; empty: none
  std::string error;        ///< the first error of parsing it for the device; empty: none
  std::string patch;        ///< unified diff; empty if nothing changed
};

/// What the text could do before, or without, being looked at as C++: the first line or word that
/// must not be there; empty: nothing. For texts that nothing may parse yet.
std::string forbidden_change(std::string_view original, std::string_view rewritten);

/// Looks for forbidden changes first. Parsing happens in this process and has no time limit, so a
/// strange text should have been compiled before. Reads the source, writes nothing. Throws
/// Error(kInput) when the original cannot be parsed.
Rewrite compare_rewrite(const RewriteRequest& request);

}  // namespace swizzleperf::splice
