// A project is copied in two steps: first everything is looked at, so that a project that cannot be
// copied is refused before anything is written; then it is written.
//
// Symbolic links that stay inside stay links: a build may care. What a link to the outside leads to
// is copied in its place, since on another machine it is not there; a folder that is being copied
// already is not entered again by such a link, so there is no loop. Permissions and times are kept
// (make compares times).
//
// Rejected: hard links instead of copies. A build that appends to a file in place would then write
// into the bundle, and no build says beforehand that it does not.
#include "measure/project.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlock = 4096;  // what the smallest file takes, so that many count, too

Error cannot(const char* verb, const fs::path& path, const std::error_code& why) {
  return input_error(fmt::format("cannot {} {}: {}", verb, path.string(), why.message()));
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  (void)rest;
  return end == folder.end();
}

// --- What is left out ---------------------------------------------------------------------------

bool holds(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

/// Outputs of ours, of git, and folders that only make sense where they are.
bool is_left_out_folder(const fs::path& folder) {
  const fs::path name = folder.filename();
  if (name == ".git" || name == "swizzleperf-runs" || name == "CMakeFiles") return true;
  const bool bundle = holds(folder, "bundle.json") && holds(folder, "project");
  return bundle || holds(folder, "CMakeCache.txt");
}

/// An object of any compiler, or what was linked for the virtual GPU.
bool is_left_out_file(const fs::path& file) {
  const fs::path name = file.filename();
  if (name == ".git" || name == "CMakeCache.txt") return true;
  std::string head(18, '\0');
  std::ifstream(file, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  const bool archive = head.starts_with("!<arch>\n");
  if (!archive && !head.starts_with("\x7f"
                                    "ELF"))
    return false;
  constexpr std::size_t kType = 16;
  constexpr char kRelocatable = 1;
  if (!archive && head[kType] == kRelocatable) return true;
  const std::string text = read_file(file);
  return text.find("libswizzleperf_hip.so") != text.npos || text.find("swzlprf") != text.npos;
}

// --- Looking ------------------------------------------------------------------------------------

struct Entry {
  fs::path from;
  fs::path to;  ///< relative
  enum class Kind { kFolder, kFile, kLink } kind;
  fs::path target;  ///< of a link
};

class Walk {
 public:
  Walk(const fs::path& root, const CopyRules& rules) : most_bytes_(rules.most_bytes), all_(root) {
    for (const fs::path& path : rules.left_out) left_out_.push_back(fs::weakly_canonical(path));
    enter(root, {}, root);
    if (bytes_ > most_bytes_) throw too_large();
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string>& notes() { return notes_; }

 private:
  /// `inside` is the folder that links may stay in: the project, or what a link led to.
  void enter(const fs::path& folder, const fs::path& to, const fs::path& inside) {
    entered_.push_back(folder);
    std::error_code fault;
    std::vector<fs::path> names;
    for (auto it = fs::directory_iterator(folder, fault); !fault && it != fs::directory_iterator();
         it.increment(fault)) {
      names.push_back(it->path().filename());
    }
    if (fault) throw cannot("read", folder, fault);
    std::sort(names.begin(), names.end());
    for (const fs::path& name : names) look_at(folder / name, to / name, inside);
    entered_.pop_back();
  }

  void look_at(const fs::path& path, const fs::path& to, const fs::path& inside) {
    std::error_code fault;
    const fs::file_status status = fs::symlink_status(path, fault);
    if (fault) throw cannot("read", path, fault);
    if (std::find(left_out_.begin(), left_out_.end(), path) != left_out_.end()) return;
    if (fs::is_symlink(status)) return look_at_link(path, to, inside);
    look_at_plain(path, to, inside, status);
  }

  void look_at_plain(const fs::path& path, const fs::path& to, const fs::path& inside,
                     const fs::file_status& status) {
    if (fs::is_directory(status)) {
      if (is_left_out_folder(path)) return;
      count(to, kBlock);
      entries_.push_back({path, to, Entry::Kind::kFolder, {}});
      enter(path, to, inside);
    } else if (fs::is_regular_file(status)) {
      if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
        throw cannot("read", path, {errno, std::generic_category()});
      }
      count(to, fs::file_size(path));
      // Not read through once the project is known to be too large.
      if (bytes_ <= most_bytes_ && is_left_out_file(path)) return;
      entries_.push_back({path, to, Entry::Kind::kFile, {}});
    }  // a socket, a FIFO, a device: nothing to build from
  }

  void look_at_link(const fs::path& path, const fs::path& to, const fs::path& inside) {
    const fs::path target = fs::read_symlink(path);
    const fs::path plain = (path.parent_path() / target).lexically_normal();
    std::error_code fault;
    const fs::path end = fs::canonical(path, fault);
    if (is_below(fault ? plain : end, inside)) {
      const bool as_it_is = target.is_relative() && is_below(plain, inside);
      count(to, kBlock);
      entries_.push_back(
          {path, to, Entry::Kind::kLink,
           as_it_is ? target : (fault ? plain : end).lexically_relative(path.parent_path())});
      return;
    }
    if (fault) {
      notes_.push_back(fmt::format("{} leads nowhere and was left out", path.string()));
      return;
    }
    if (std::any_of(entered_.begin(), entered_.end(),
                    [&](const fs::path& folder) { return is_below(folder, end); })) {
      notes_.push_back(
          fmt::format("{} leads to a folder that holds it and was left out", path.string()));
      return;
    }
    look_at_plain(end, to, end, fs::status(end));
  }

  void count(const fs::path& to, std::uint64_t bytes) {
    bytes = std::max(bytes, kBlock);
    bytes_ += bytes;
    by_part_[to.begin()->string()] += bytes;
    constexpr std::uint64_t kPatience = 64;  // to tell what is largest, but not of a whole disk
    if (bytes_ / kPatience > most_bytes_) throw too_large();
  }

  [[nodiscard]] Error too_large() const {
    const auto largest =
        std::max_element(by_part_.begin(), by_part_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto megabytes = [](std::uint64_t bytes) { return bytes >> 20; };
    return input_error(fmt::format(
        "{} takes more than the {} MiB that a bundle may copy; the largest part is {} with {} MiB: "
        "move it out, or name a smaller --project",
        all_.string(), megabytes(most_bytes_), (all_ / largest->first).string(),
        megabytes(largest->second)));
  }

  std::uint64_t most_bytes_;
  fs::path all_;
  std::vector<fs::path> left_out_;
  std::vector<fs::path> entered_;  ///< by which we came, outermost first
  std::vector<Entry> entries_;     ///< a folder before what is in it
  std::map<std::string, std::uint64_t> by_part_;
  std::uint64_t bytes_ = 0;
  std::vector<std::string> notes_;
};

// --- Writing ------------------------------------------------------------------------------------

void copy_one(const fs::path& from, const fs::path& to) {
  std::error_code fault;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, fault);
  if (fault) throw cannot("copy", from, fault);
  fs::permissions(to, (fs::status(from).permissions() & fs::perms::all) | fs::perms::owner_write);
  fs::last_write_time(to, fs::last_write_time(from));
}

void write(const Entry& entry, const fs::path& to) {
  std::error_code fault;
  switch (entry.kind) {
    case Entry::Kind::kFolder:
      fs::create_directory(to, fault);
      if (!fault) {
        fs::permissions(
            to, (fs::status(entry.from).permissions() & fs::perms::all) | fs::perms::owner_all,
            fault);
      }
      break;
    case Entry::Kind::kFile:
      return copy_one(entry.from, to);
    case Entry::Kind::kLink:
      fs::create_symlink(entry.target, to, fault);
      break;
  }
  if (fault) throw cannot("write", to, fault);
}

}  // namespace

std::vector<std::string> copy_project(const fs::path& from, const fs::path& to,
                                      const CopyRules& rules) try {
  std::error_code fault;
  const fs::path root = fs::canonical(from, fault);
  if (fault || !fs::is_directory(root)) {
    throw input_error(fmt::format("{}: no such folder", from.string()));
  }
  CopyRules with_copy = rules;
  with_copy.left_out.push_back(to);
  Walk walk(root, with_copy);
  make_directories(to);
  for (const Entry& entry : walk.entries()) write(entry, to / entry.to);
  return std::move(walk.notes());
} catch (const fs::filesystem_error& fault) {  // somebody changes it while it is copied
  throw cannot("copy", fault.path1(), fault.code());
}

void copy_files(const fs::path& root, const std::vector<fs::path>& files, const fs::path& to) try {
  for (const fs::path& file : files) {
    const fs::path copy = to / file.lexically_relative(root);
    make_directories(copy.parent_path());
    copy_one(file, copy);
  }
} catch (const fs::filesystem_error& fault) {
  throw cannot("copy", fault.path1(), fault.code());
}

fs::path common_folder(const std::vector<fs::path>& files) {
  fs::path common = files.front().parent_path();
  for (const fs::path& file : files) {
    while (!is_below(file, common)) common = common.parent_path();
  }
  return common;
}

}  // namespace swizzleperf::measure
