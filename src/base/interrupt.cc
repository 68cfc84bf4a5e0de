// A handler may neither lock nor remove a directory, so there is none: the signals are blocked
// everywhere and a thread of its own waits for them. It keeps the lock until the process is gone,
// so nothing is registered behind its back. Children are killed first, since a compiler that still
// writes would keep its directory alive.
//
// Signals that were ignored when we were started (nohup, a shell's background job) stay ignored.
#include "base/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/supervisor.h"

namespace swizzleperf {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

struct Registry {
  std::mutex mutex;
  std::vector<std::filesystem::path> paths;
  std::vector<int> supervisors;
};

/// Never destroyed: the waiting thread may use it until the very end.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

template <typename T>
void add(std::vector<T>& list, const T& item) {
  const std::lock_guard lock(registry().mutex);
  list.push_back(item);
}

template <typename T>
void drop(std::vector<T>& list, const T& item) {
  const std::lock_guard lock(registry().mutex);
  if (const auto at = std::find(list.begin(), list.end(), item); at != list.end()) list.erase(at);
}

/// Their supervisors close the sockets when all is dead.
void kill_children() {
  constexpr int kLongestMs = 5000;
  const Order kill = Order::kKill;
  for (const int control : registry().supervisors)
    (void)!::send(control, &kill, sizeof kill, MSG_NOSIGNAL);
  for (const int control : registry().supervisors) {
    pollfd closed{control, 0, 0};
    (void)::poll(&closed, 1, kLongestMs);
  }
}

[[noreturn]] void wait_and_end(const sigset_t& signals) {
  int signal = SIGTERM;
  while (::sigwait(&signals, &signal) != 0) {
  }
  registry().mutex.lock();
  kill_children();
  for (const std::filesystem::path& path : registry().paths) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    // A child may have created a file while it died.
    if (ignored) std::filesystem::remove_all(path, ignored);
  }
  ::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::kill(::getpid(), signal);
  ::_exit(128 + signal);
}

}  // namespace

void clean_up_on_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kSignals) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] { wait_and_end(signals); }).detach();
}

Temporary::Temporary(std::filesystem::path path) : path_(std::move(path)) {
  add(registry().paths, path_);
}
Temporary::~Temporary() { drop(registry().paths, path_); }

ChildGroup::ChildGroup(int control) : control_(control) { add(registry().supervisors, control_); }
ChildGroup::~ChildGroup() { drop(registry().supervisors, control_); }

}  // namespace swizzleperf
