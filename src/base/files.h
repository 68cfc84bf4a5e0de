// Files done once: read whole, write beside and rename, scratch directories that go away.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/interrupt.h"

namespace swizzleperf {

/// Throws Error(kInput) naming the file and the reason.
std::string read_file(const std::filesystem::path& file);

/// Writes FILE.tmp-PID beside and renames it over; the old file is intact until then and after any
/// failure. Throws Error(kInput) naming the file and the reason (no permission, disk full, ...).
void write_file(const std::filesystem::path& file, std::string_view text);

/// With all above it; whether it was not there before. Throws Error(kInput) naming it and the
/// reason.
bool make_directories(const std::filesystem::path& directory);

/// Keeps other processes out of a directory for as long as the descriptor is open. The kernel drops
/// the lock when we end, however we do, and it leaves no file behind. Throws Error(kInput): cannot
/// be opened, or another process works there.
Fd lock_directory(const std::filesystem::path& directory);

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
