// See sandbox.h.
//
// The probe is a function, not a program, so it needs nothing installed and meets exactly the walls
// that a program will. Each wall is tried alone, then all that work together, and only what the
// probe saw of these counts.
//
// The user's home is not hidden: toolkits, environments and the project itself often live there,
// and what is read cannot get out, as there is no network and one folder to write to. HOME points
// into that folder, so caches are written and credentials looked for there.
#include "measure/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "base/fd.h"
#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;

// --- The probe: runs between fork and exec ------------------------------------------------------

/// What the probe could do, as bits of its exit status.
enum Deed : int {
  kWroteOutside = 1,
  kChangedMode = 2,
  kConnected = 4,
  kSignalled = 8,
  kWroteInside = 16,
  kUnixSocket = 32,
};

struct Attempts {
  std::string outside;  ///< a file that is not there
  std::string mode;     ///< one that is
  std::string inside;   ///< a file in its folder that is not there
  std::string lock;     ///< one that is, locked by a process that tries to survive
  sockaddr_in tcp{};    ///< somebody listens
  sockaddr_un local{};  ///< likewise, in its folder
  pid_t pid = 0;        ///< ours
};

bool creates(const std::string& path) {
  return Fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)).valid();
}

template <typename Address>
bool connects(const Address& address, int family) {
  const Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket.valid() &&
         ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Leaves the group and the parent, and says by a lock that it is still there.
void leave_a_daemon(const std::string& lock) {
  const Fd file(::open(lock.c_str(), O_RDWR));
  if (!file.valid() || ::flock(file.get(), LOCK_EX) != 0 || ::fork() != 0) return;
  ::setsid();
  if (::fork() == 0)
    while (true) ::pause();
  ::_exit(0);
}

int attempt(const void* data) {
  const auto& to = *static_cast<const Attempts*>(data);
  leave_a_daemon(to.lock);
  return (creates(to.outside) ? kWroteOutside : 0) |
         (::chmod(to.mode.c_str(), 0700) == 0 ? kChangedMode : 0) |
         (connects(to.tcp, AF_INET) ? kConnected : 0) | (::kill(to.pid, 0) == 0 ? kSignalled : 0) |
         (creates(to.inside) ? kWroteInside : 0) | (connects(to.local, AF_UNIX) ? kUnixSocket : 0);
}

// --- Our side -----------------------------------------------------------------------------------

/// A socket that listens; invalid if there cannot be one here either.
template <typename Address>
Fd listen_at(Address& address, int family) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (!socket.valid() || ::bind(socket.get(), plain, size) != 0 || ::listen(socket.get(), 1) != 0 ||
      ::getsockname(socket.get(), plain, &size) != 0)
    return {};
  return socket;
}

struct Seen {
  int deeds = 0;
  bool survived = false;
  std::string problem;  ///< why the walls are of no use; empty: they are
};

/// What the probe can do behind these walls.
Seen probe(Walls walls) {
  const ScratchDirectory outside;
  const ScratchDirectory scratch;
  const fs::path inside = scratch.path() / "x";
  fs::create_directory(inside);
  walls.writable = inside;

  Attempts attempts{outside.path() / "new",
                    outside.path() / "mode",
                    inside / "new",
                    inside / "lock",
                    {},
                    {},
                    ::getpid()};
  write_file(attempts.mode, "");
  write_file(attempts.lock, "");
  attempts.tcp.sin_family = AF_INET;
  attempts.tcp.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  const Fd tcp = listen_at(attempts.tcp, AF_INET);
  attempts.local.sun_family = AF_UNIX;
  std::snprintf(attempts.local.sun_path, sizeof attempts.local.sun_path, "%s/socket",
                inside.c_str());
  const Fd local = listen_at(attempts.local, AF_UNIX);

  ChildSpec spec;
  spec.argv = {"the sandbox's probe"};
  spec.walls = walls;
  spec.time_limit_s = 60;
  Seen seen;
  try {
    const ChildResult result = run_child(spec, attempt, &attempts);
    seen.deeds = result.exit_status;
    if (result.signal || result.timed_out)
      seen.problem = "the probe did not come back";
    else if (!(seen.deeds & kWroteInside))
      seen.problem = "its own folder is not writable either";
    else if (local.valid() && !(seen.deeds & kUnixSocket))
      seen.problem = "sockets in its own folder are out of reach";
  } catch (const Error& error) {
    seen.problem = error.what();
  }
  const Fd lock(::open(attempts.lock.c_str(), O_RDWR | O_CLOEXEC));
  seen.survived = ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0;
  return seen;
}

Protections find_out() {
  const std::string landlock = probe({.landlock = true}).problem;
  const std::string namespaces = probe({.namespaces = true, .no_network = true}).problem;
  const std::string sockets = probe({.no_network = true}).problem;

  Protections found;
  found.walls.landlock = landlock.empty();
  found.walls.namespaces = namespaces.empty();
  found.walls.no_network = namespaces.empty() || sockets.empty();
  Seen seen = probe(found.walls);
  if (!seen.problem.empty()) {  // each works, but not together
    found.walls = {};
    seen = probe(found.walls);
  }
  const auto say = [&found](bool holds, const char* what, const std::string& why) {
    if (holds)
      found.active.emplace_back(what);
    else
      found.missing.push_back(fmt::format("{}: {}", what, why));
  };
  say(!(seen.deeds & kWroteOutside), "writes only below its folder", landlock);
  say(!(seen.deeds & kChangedMode), "changes no modes of files elsewhere", namespaces);
  say(!(seen.deeds & kConnected), "no network", sockets);
  say(!(seen.deeds & kSignalled), "signals no other process", namespaces);
  say(!seen.survived, "leaves no process behind", "a process of the probe survived it");
  found.active.insert(found.active.end(),
                      {"limits of time, memory and file size", "an environment without keys"});
  return found;
}

}  // namespace

std::uint64_t most_of_free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024 / 4 * 3;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

const Protections& protections() {
  static const Protections found = find_out();
  return found;
}

ChildSpec confined(ChildSpec spec, const Confinement& confinement) {
  const fs::path folder = fs::absolute(confinement.writable);
  const fs::path temporary = folder / ".tmp";
  std::error_code problem;
  fs::create_directory(temporary, problem);
  if (problem)
    throw input_error(fmt::format("cannot make {}: {}", temporary.string(), problem.message()));
  spec.environment["HOME"] = folder;
  for (const char* name : {"TMPDIR", "TMP", "TEMP"}) spec.environment[name] = temporary;
  spec.time_limit_s = confinement.time_limit_s;
  spec.resident_limit_bytes =
      confinement.memory_bytes ? confinement.memory_bytes : most_of_free_memory();
  spec.file_limit_bytes = confinement.file_bytes;
  spec.walls = protections().walls;
  spec.walls.no_network = spec.walls.no_network && !confinement.network;
  spec.walls.writable = folder;
  return spec;
}

}  // namespace swizzleperf::measure
