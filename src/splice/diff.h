// A unified diff out of known edits: no comparison is needed, the edits say what changed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "splice/span.h"

namespace swizzleperf::splice {

/// Replaces the bytes of `span` (which may be empty: an insertion) by `text`.
struct Edit {
  Span span;
  std::string text;
};

/// Sorts edits by position, an insertion before a replacement. They must not overlap.
void sort_edits(std::vector<Edit>& edits);

/// The text after sorted edits.
std::string apply_edits(std::string_view original, const std::vector<Edit>& edits);

/// What a patch that is applied in `root` calls the source; empty: the source's own folder. Throws
/// Error(kUsage) for a source outside of it.
std::string path_in_patch(const std::filesystem::path& source, const std::filesystem::path& root);

/// The unified diff, three lines of context, from a/`path` to b/`path`; empty if nothing changes.
std::string unified_diff(std::string_view original, const std::vector<Edit>& edits,
                         const std::string& path);

}  // namespace swizzleperf::splice
