// The processes of this machine as /proc lists them, and which of them descend from one.
//
// Neither allocates nor locks, so that it may run between fork and exec too: getdents64 instead of
// opendir, whose buffer comes from malloc. /proc/PID/task/TID/children would spare the walk over
// everybody else's processes, but is an option of the kernel that many do without.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace swizzleperf {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t resident_pages = 0;
};

/// From /proc/PID/stat: "PID (NAME) STATE PPID PGRP ...", where NAME may hold anything and the
/// resident pages are field 24. A process that has just ended has no parent.
inline Process read_process(pid_t pid) {
  constexpr std::string_view kFolder = "/proc/";
  constexpr std::string_view kFile = "/stat";
  std::array<char, 32> path{};  // zeros end it
  kFolder.copy(path.data(), kFolder.size());
  char* const number = path.data() + kFolder.size();
  kFile.copy(std::to_chars(number, number + 16, pid).ptr, kFile.size());
  std::array<char, 1024> text{};
  const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? -1 : ::read(fd, text.data(), text.size());
  if (fd >= 0) ::close(fd);
  if (size <= 0) return {};
  std::string_view rest(text.data(), static_cast<std::size_t>(size));
  rest.remove_prefix(std::min(rest.size(), rest.rfind(')') + 1));
  Process process{pid, 0, 0, 0};
  for (int field = 3; !rest.empty() && field <= 24; ++field) {
    rest.remove_prefix(1);  // the space before it
    const std::string_view word = rest.substr(0, rest.find(' '));
    const char* const first = std::to_address(word.begin());
    const char* const last = std::to_address(word.end());
    if (field == 4) std::from_chars(first, last, process.parent);
    if (field == 5) std::from_chars(first, last, process.group);
    if (field == 24) std::from_chars(first, last, process.resident_pages);
    rest.remove_prefix(word.size());
  }
  return process;
}

/// Calls `visit` with each process of this machine; they come and go meanwhile.
template <typename Visit>
void for_each_process(Visit visit) {
  struct Entry {  // as the kernel lays it out; the name follows
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t size;
    std::uint8_t type;
  };
  constexpr std::size_t kNameAt = offsetof(Entry, type) + 1;
  const int fd = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  alignas(Entry) std::array<char, 16384> buffer;
  while (true) {
    const long size = ::syscall(SYS_getdents64, fd, buffer.data(), buffer.size());
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      Entry entry;
      std::memcpy(&entry, buffer.data() + at, kNameAt);
      const char* name = buffer.data() + at + kNameAt;
      pid_t pid = 0;
      const char* end = name + std::strlen(name);
      if (std::from_chars(name, end, pid).ptr == end && pid > 0) visit(read_process(pid));
      at += entry.size;
    }
  }
  ::close(fd);
}

}  // namespace swizzleperf
