// Files done once: read whole, write beside and rename, scratch directories that go away.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/interrupt.h"

namespace swizzleperf {

/// Throws Error(kInput) naming the file and the reason.
std::string read_file(const std::filesystem::path& file);

/// Writes FILE.tmp-PID beside and renames it over; the old file is intact until then and after any
/// failure. Throws Error(kInput) naming the file and the reason (no permission, disk full, ...).
void write_file(const std::filesystem::path& file, std::string_view text);

/// A directory under $TMPDIR (or /tmp), removed with the object and when a signal ends us.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<Temporary> temporary_;
};

}  // namespace swizzleperf
