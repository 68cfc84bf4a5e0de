// Nothing of a child survives it.
//
// A process group is left by whoever calls setsid, and a parent is lost by forking twice. But
// orphans are given to their nearest ancestor that asked for them (PR_SET_CHILD_SUBREAPER), so a
// small process of ours stands between us and the child, asks, and in the end kills what it was
// given until there is nothing left. It learns from the end of a socket that we are gone, however
// we went. In a namespace of processes it is the first of them, and the kernel does the rest.
//
// It is our forked copy that never execs: an executable of its own would have to be found first,
// and costs an exec. The program is started by vfork, which copies nothing. We are a copy of a
// process with threads, so nothing here allocates or locks.
#include "base/supervisor.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

#include "base/processes.h"

namespace swizzleperf {
namespace {

constexpr int kControl = STDERR_FILENO + 1;  // where the supervisor has its socket
constexpr int kRuleset = kControl + 1;

void send_report(const Report& report) {
  (void)!::send(kControl, &report, sizeof report, MSG_NOSIGNAL);
}

[[noreturn]] void fail(Report::Step step, const char* wall = nullptr) {
  send_report({step, errno, wall});
  ::_exit(127);
}

/// Keeps the streams, the socket and the ruleset, and closes all else: also our ends of other
/// children's sockets, which would hide from their supervisors that we are gone.
void keep_descriptors(const ChildLaunch& launch) {
  constexpr int kFree = kRuleset + 1;
  const std::array from = {launch.in, launch.out, launch.err, launch.control,
                           launch.walls->ruleset.get()};
  std::array<int, from.size()> copies{};
  for (std::size_t i = 0; i < from.size(); ++i)
    copies[i] = from[i] < 0 ? -1 : ::fcntl(from[i], F_DUPFD, kFree);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (copies[i] >= 0) ::dup3(copies[i], static_cast<int>(i), i < kControl ? 0 : O_CLOEXEC);
  ::close_range(launch.walls->ruleset.valid() ? kRuleset + 1 : kRuleset, UINT_MAX, 0);
}

bool limit(int resource, std::uint64_t bytes) {
  const rlimit both{bytes, bytes};
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}

[[noreturn]] void become(const ChildLaunch& launch, pid_t supervisor) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);  // it died before the line above

  if (launch.directory && ::chdir(launch.directory) != 0) fail(Report::kDirectory);
  if (launch.memory_limit_bytes && !limit(RLIMIT_AS, launch.memory_limit_bytes))
    fail(Report::kMemoryLimit);
  if (launch.file_limit_bytes && !limit(RLIMIT_FSIZE, launch.file_limit_bytes))
    fail(Report::kFileLimit);
  limit(RLIMIT_CORE, 0);
  if (const char* wall = raise_walls(*launch.walls, kRuleset)) fail(Report::kWall, wall);

  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (!launch.program) {
    ::close_range(kControl, kRuleset, 0);
    ::_exit(launch.body(launch.data));
  }
  ::execve(launch.program, launch.argv, launch.envp);
  fail(Report::kExec);
}

/// A function of ours needs memory of its own; a program gets it by exec.
pid_t start_leader(const ChildLaunch& launch) {
  const pid_t self = ::getpid();
  // What is feared of vfork is what its child does to our memory: become() leaves by exec or _exit.
  // NOLINTNEXTLINE(clang-analyzer-*,bugprone-unsafe-functions)
  const pid_t leader = launch.program ? ::vfork() : ::fork();
  if (leader == 0) become(launch, self);
  if (leader < 0) fail(Report::kFork);
  ::setpgid(leader, leader);  // in both, so that neither can run ahead of it
  // Who reads what it writes is to see the end when it and its own have closed it.
  for (int fd = STDIN_FILENO; fd < kControl; ++fd) ::close(fd);
  return leader;
}

/// Buries whoever has ended except the leader, whose id must keep naming its group; true: it ended.
bool ended(pid_t leader) {
  while (true) {
    siginfo_t who{};
    if (::waitid(P_ALL, 0, &who, WEXITED | WNOHANG | WNOWAIT) != 0 || who.si_pid == 0) return false;
    if (who.si_pid == leader) return true;
    ::waitpid(who.si_pid, nullptr, 0);
  }
}

/// Carries out orders until the leader has ended or must.
void attend(pid_t leader, int children) {
  while (true) {
    std::array<pollfd, 2> watched{{{kControl, POLLIN, 0}, {children, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents) {
      signalfd_siginfo ignored;
      (void)!::read(children, &ignored, sizeof ignored);
      if (ended(leader)) return;
    }
    if (watched[0].revents) {
      Order order = Order::kKill;
      if (::read(kControl, &order, sizeof order) <= 0 || order == Order::kKill) return;
      ::kill(-leader, SIGTERM);
    }
  }
}

time_t now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/// Kills our children, and their children once these are ours, until there are none. A group is
/// killed at once, so that it cannot fork faster than it is killed. What forks and ends without a
/// pause, each time in a group of its own, can still run ahead of us; it is left after a while.
void kill_orphans() {
  constexpr time_t kPatience_s = 10;
  const pid_t self = ::getpid();
  if (self == 1) return;  // when we end, the kernel does it
  const time_t end = now_s() + kPatience_s;
  while (::waitpid(-1, nullptr, WNOHANG) >= 0 && now_s() < end) {
    for_each_process([self](const Process& process) {
      if (process.parent == self)
        ::kill(process.group == process.pid ? -process.pid : process.pid, SIGKILL);
    });
    const timespec moment{0, 500'000};
    ::nanosleep(&moment, nullptr);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}

}  // namespace

void supervise(const ChildLaunch& launch) {
  keep_descriptors(launch);
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  if (const char* wall = enter_namespaces(*launch.walls)) fail(Report::kWall, wall);

  const pid_t leader = start_leader(launch);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  attend(leader, ::signalfd(-1, &child, SFD_CLOEXEC));
  ::kill(-leader, SIGKILL);
  int status = 0;
  ::waitpid(leader, &status, 0);
  kill_orphans();
  send_report({Report::kEnded, status, nullptr});
  ::_exit(0);
}

}  // namespace swizzleperf
