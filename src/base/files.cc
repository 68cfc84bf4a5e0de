// Writing beside and renaming is the only way to replace a file that survives a full disk, a kill
// and a reader at the wrong moment. Two cases need care: a symbolic link (its target is replaced,
// the link stays) and a target that is no regular file (`-o /dev/stdout`: renaming over a device
// would destroy it, so it is opened and written).
#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/fd.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

Error cannot(const char* verb, const fs::path& file, int error) {
  return input_error(fmt::format("cannot {} {}: {}", verb, file.string(), reason(error)));
}

/// Where the bytes really go: the end of a chain of symbolic links.
fs::path behind_links(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_symlink(file, ignored)) return file;
  const fs::path target = fs::weakly_canonical(file, ignored);
  return ignored ? file : target;
}

void write_in_place(const fs::path& file, std::string_view text) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid() || !write_all(fd, text)) throw cannot("write", file, errno);
}

/// Fills the temporary file and renames it; 0, or the errno of the step that failed.
int replace(const fs::path& temporary, const fs::path& target, std::string_view text, mode_t mode) {
  const Temporary until_renamed(temporary);
  const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.valid()) return errno;
  const bool written = write_all(fd, text) && ::fsync(fd.get()) == 0;
  if (written && ::rename(temporary.c_str(), target.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace

std::string read_file(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) throw cannot("read", file, errno);
  std::string text;
  std::array<char, 1 << 16> buffer;
  ssize_t n;
  while ((n = read_some(fd, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  if (n < 0) throw cannot("read", file, errno);
  return text;
}

void write_file(const fs::path& file, std::string_view text) {
  struct stat old{};
  const bool exists = ::stat(file.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) throw cannot("write", file, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_in_place(file, text);

  const fs::path target = behind_links(file);
  const fs::path temporary = fmt::format("{}.tmp-{}", target.string(), ::getpid());
  const mode_t mode = exists ? old.st_mode & 07777 : 0666;
  if (const int error = replace(temporary, target, text, mode)) throw cannot("write", file, error);
}

bool make_directories(const fs::path& directory) {
  std::error_code error;
  const bool made = fs::create_directories(directory, error);
  if (error)
    throw input_error(
        fmt::format("{}: cannot be created: {}", directory.string(), error.message()));
  return made;
}

Fd lock_directory(const fs::path& directory) {
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid())
    throw input_error(fmt::format("{}: cannot be opened: {}; give a run directory",
                                  directory.string(), reason(errno)));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw input_error(
        fmt::format("{}: another process works in this run directory; wait for it, or name another "
                    "directory",
                    directory.string()));
  return fd;
}

ScratchDirectory::ScratchDirectory() {
  const char* root = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/swizzleperf-XXXXXX", root && *root ? root : "/tmp");
  if (!::mkdtemp(name.data()))
    throw input_error(
        fmt::format("cannot make a scratch directory {}: {}; set TMPDIR to a writable directory",
                    name, reason(errno)));
  path_ = name;
  temporary_.emplace(path_);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace swizzleperf
