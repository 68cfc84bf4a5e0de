// Running a compiler, a user's program or a proposer's command without surprises.
//
// The child leads a process group of its own, so that whatever it starts dies with it: on timeout
// (TERM, a grace period, KILL) and also when the leader has ended and left others behind. It sees
// our scrubbed environment, its standard streams, and no other descriptor of ours.
//
// fork and exec rather than posix_spawn, which cannot set a memory limit or a death signal. Between
// fork and exec only async-signal-safe calls are made, since other threads may hold locks. What
// goes wrong there (no such directory, not executable) comes back through a pipe that a successful
// exec closes. The input is handed over as an anonymous file, not a pipe: there is nothing to feed,
// and no SIGPIPE when the child does not care to read it.
//
// Ctrl-C reaches us and not the child's group: interrupt.cc ends the group. Should we be killed
// outright, PR_SET_PDEATHSIG ends the leader with us.
#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <climits>
#include <cmath>
#include <system_error>

#include "base/fd.h"
#include "base/interrupt.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);  // between TERM and KILL

std::string reason(int error) { return std::generic_category().message(error); }

struct Pipe {
  Fd read;
  Fd write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw input_error(fmt::format("cannot make a pipe: {}", reason(errno)));
  return {Fd(ends[0]), Fd(ends[1])};
}

/// An anonymous file that holds the input, positioned at its start.
Fd make_input(const std::string& text) {
  Fd file(::memfd_create("stdin", MFD_CLOEXEC));
  if (!file.valid() || !write_all(file, text) || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw input_error(fmt::format("cannot hand input to a child process: {}", reason(errno)));
  return file;
}

// --- The child's side of fork -------------------------------------------------------------------

/// What the child could not do, sent through the failure pipe.
struct Failure {
  enum Step : int { kDirectory, kMemoryLimit, kExec } step;
  int error;
};

/// Everything the child needs, laid out before fork so that it allocates nothing.
struct Launch {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* directory;  ///< null: stay
  std::uint64_t memory_limit_bytes;
  int in;
  int out;  ///< -1: keep ours
  int err;
  int failure;
  pid_t parent;
};

[[noreturn]] void fail_child(const Launch& launch, Failure::Step step) {
  const Failure failure{step, errno};
  (void)!::write(launch.failure, &failure, sizeof failure);
  ::_exit(127);
}

[[noreturn]] void become(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);  // it died before the line above

  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::dup2(launch.in, STDIN_FILENO);
  if (launch.out >= 0) ::dup2(launch.out, STDOUT_FILENO);
  ::dup2(launch.err, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);

  if (launch.directory && ::chdir(launch.directory) != 0) fail_child(launch, Failure::kDirectory);
  if (launch.memory_limit_bytes) {
    const rlimit limit{launch.memory_limit_bytes, launch.memory_limit_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) fail_child(launch, Failure::kMemoryLimit);
  }
  ::execve(launch.program, launch.argv, launch.envp);
  fail_child(launch, Failure::kExec);
}

// --- Our side -----------------------------------------------------------------------------------

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_block(const ChildSpec& spec) {
  std::map<std::string, std::string> environment = scrubbed_environment();
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  std::vector<std::string> block;
  block.reserve(environment.size());
  for (const auto& [name, value] : environment) block.push_back(fmt::format("{}={}", name, value));
  return block;
}

fs::path resolve(const ChildSpec& spec) {
  if (spec.argv.empty()) throw input_error("cannot start a program: no name given");
  const std::string& name = spec.argv[0];
  if (const auto found = find_program(name)) return *found;
  if (name.find('/') != std::string::npos)
    throw input_error(fmt::format("cannot start {}: no such executable file", name));
  throw input_error(fmt::format("cannot start {}: not found on PATH", name));
}

void throw_failure(const ChildSpec& spec, const Failure& failure) {
  const std::string& name = spec.argv[0];
  switch (failure.step) {
    case Failure::kDirectory:
      throw input_error(fmt::format("cannot start {} in directory {}: {}", name,
                                    spec.directory.string(), reason(failure.error)));
    case Failure::kMemoryLimit:
      throw input_error(fmt::format("cannot start {} with a memory limit of {} bytes: {}", name,
                                    spec.memory_limit_bytes, reason(failure.error)));
    case Failure::kExec:
      throw input_error(fmt::format("cannot start {}: {}", name, reason(failure.error)));
  }
}

/// A started child: its process group lives until reap(), which must be called.
struct Child {
  pid_t pid;
  Fd pidfd;
  Fd out;
  Fd err;
};

Child start(const ChildSpec& spec) {
  const fs::path program = fs::absolute(resolve(spec));
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> environment = environment_block(spec);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);

  const Fd input = make_input(spec.input);
  Pipe out = spec.pass_stdout ? Pipe{} : make_pipe();
  Pipe err = make_pipe();
  Pipe failure = make_pipe();
  const Launch launch{program.c_str(),
                      argv.data(),
                      envp.data(),
                      spec.directory.empty() ? nullptr : spec.directory.c_str(),
                      spec.memory_limit_bytes,
                      input.get(),
                      out.write.get(),
                      err.write.get(),
                      failure.write.get(),
                      ::getpid()};
  const pid_t pid = ::fork();
  if (pid < 0) throw input_error(fmt::format("cannot start {}: {}", spec.argv[0], reason(errno)));
  if (pid == 0) become(launch);

  ::setpgid(pid, pid);  // in both, so that neither can run ahead of it
  out.write.reset();
  err.write.reset();
  failure.write.reset();
  Failure told{};
  if (read_some(failure.read, reinterpret_cast<char*>(&told), sizeof told) == sizeof told) {
    ::waitpid(pid, nullptr, 0);
    throw_failure(spec, told);
  }
  return {pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))), std::move(out.read),
          std::move(err.read)};
}

/// Takes what is there; closes the descriptor at its end. Keeps at most `bound` bytes.
void drain(Fd& fd, std::string& text, std::size_t bound) {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = read_some(fd, buffer.data(), buffer.size());
  if (n <= 0) return fd.reset();
  const std::size_t room = bound - std::min(bound, text.size());
  text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
}

/// After the group is dead: what the pipes still hold. A process that left the group (setsid) may
/// keep them open for ever, so an empty pipe ends it.
void drain_rest(Fd& fd, std::string& text, std::size_t bound) {
  while (fd.valid()) {
    pollfd ready{fd.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0) return;
    drain(fd, text, bound);
  }
}

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

/// Reads both streams until the leader has ended, sending TERM and then KILL when time is up.
void attend(Child& child, const ChildSpec& spec, Clock::time_point deadline, ChildResult& result) {
  bool killed = false;
  while (true) {
    std::array<pollfd, 3> watched{{{child.pidfd.get(), POLLIN, 0},
                                   {child.out.get(), POLLIN, 0},  // a closed one (-1) is ignored
                                   {child.err.get(), POLLIN, 0}}};
    const int ready =
        ::poll(watched.data(), watched.size(), killed ? -1 : milliseconds_until(deadline));
    if (ready > 0 && watched[1].revents) drain(child.out, result.out, spec.capture_bytes);
    if (ready > 0 && watched[2].revents) drain(child.err, result.err, spec.capture_bytes);
    if (ready > 0 && watched[0].revents) return;
    if (killed || Clock::now() < deadline) continue;
    killed = result.timed_out;
    ::kill(-child.pid, killed ? SIGKILL : SIGTERM);
    result.timed_out = true;
    deadline = Clock::now() + kGrace;
  }
}

/// The leader has ended but is not reaped, so its id still names the group and nothing else.
void reap(const Child& child, ChildResult& result) {
  ::kill(-child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
}

Clock::time_point deadline_after(Clock::time_point begin, double seconds) {
  constexpr double kForever = 1e9;  // thirty years; keeps the conversion in range
  return begin + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(std::min(seconds, kForever)));
}

/// Whether a name has a word (between underscores) that ends like a secret: API_KEY, HF_TOKEN_2.
bool names_a_secret(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  name += '_';
  for (const char* word : {"KEY_", "KEYS_", "TOKEN_", "TOKENS_", "SECRET_", "SECRETS_", "PASSWORD_",
                           "PASSWD_", "CREDENTIAL_", "CREDENTIALS_"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

ChildResult run_child(const ChildSpec& spec) {
  ChildResult result;
  const Clock::time_point begin = Clock::now();
  Child child = start(spec);
  const ChildGroup group(child.pid);
  attend(child, spec, deadline_after(begin, spec.time_limit_s), result);
  reap(child, result);
  drain_rest(child.out, result.out, spec.capture_bytes);
  drain_rest(child.err, result.err, spec.capture_bytes);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

std::map<std::string, std::string> scrubbed_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name(text.substr(0, equals));
    if (!names_a_secret(name)) result[std::move(name)] = text.substr(equals + 1);
  }
  return result;
}

std::optional<fs::path> find_program(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::optional<fs::path>(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    fs::path candidate = fs::path(directory.empty() ? "." : directory) / name;
    if (is_program(candidate)) return candidate;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace swizzleperf
