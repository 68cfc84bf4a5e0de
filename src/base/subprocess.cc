// Running a compiler, a user's program or a proposer's command without surprises.
//
// The child leads a process group of its own and stands under a supervisor (supervisor.cc), so that
// whatever it starts dies with it: on timeout (TERM to the group, a grace period, then KILL to all
// that descends from it), when the leader has ended and left others behind, and when we are killed.
// It sees our scrubbed environment, its standard streams, and no other descriptor of ours.
//
// fork and exec rather than posix_spawn, which cannot set a memory limit or a death signal. What
// goes wrong between them (no such directory, not executable) comes back from the supervisor's
// socket, as does the exit status. The input is handed over as an anonymous file, not a pipe: there
// is nothing to feed, and no SIGPIPE when the child does not care to read it.
//
// Resident memory is looked at rather than limited, since CUDA reserves address space by the
// terabyte and the kernel limits nothing else without a control group. What grows by more than the
// machine has within a tenth of a second is the kernel's to kill.
//
// Ctrl-C reaches us and not the child's group: interrupt.cc ends it.
#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <system_error>

#include "base/fd.h"
#include "base/interrupt.h"
#include "base/processes.h"
#include "base/supervisor.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);             // between TERM and KILL
constexpr auto kLookEvery = std::chrono::milliseconds(100);  // at resident memory

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

[[noreturn]] void throw_failure(const ChildSpec& spec, const Report& report) {
  const std::string& name = spec.argv[0];
  const std::string why = reason(report.value);
  switch (report.step) {
    case Report::kDirectory:
      throw input_error(
          fmt::format("cannot start {} in directory {}: {}", name, spec.directory.string(), why));
    case Report::kMemoryLimit:
      throw input_error(fmt::format("cannot start {} with a memory limit of {} bytes: {}", name,
                                    spec.memory_limit_bytes, why));
    case Report::kFileLimit:
      throw input_error(fmt::format("cannot start {} with a file limit of {} bytes: {}", name,
                                    spec.file_limit_bytes, why));
    case Report::kWall:
      throw input_error(fmt::format("cannot confine {}: cannot {}: {}", name, report.wall, why));
    default:
      throw input_error(fmt::format("cannot start {}: {}", name, why));
  }
}

/// A started child. Its supervisor ends once `control` is closed or orders so; reap() must be
/// called.
struct Child {
  pid_t supervisor;
  Fd control;
  Fd out;
  Fd err;
};

/// fork, into new namespaces if there are to be: with a new user only if that is refused without.
pid_t fork_into(WallPlan& plan) {
  if (!plan.walls.namespaces) return ::fork();
  while (true) {
    const pid_t pid =
        static_cast<pid_t>(::syscall(SYS_clone, namespace_flags(plan) | SIGCHLD, 0, 0, 0, 0));
    if (pid >= 0 || errno != EPERM || plan.user_namespace) return pid;
    plan.user_namespace = true;
  }
}

Child start(const ChildSpec& spec, ChildBody body, const void* data) {
  const fs::path program = body ? fs::path() : fs::absolute(resolve(spec));
  // In new mounts, the old way to a directory leads to what it was before.
  const fs::path directory =
      spec.directory.empty() && spec.walls.namespaces ? fs::current_path() : spec.directory;
  std::vector<std::string> arguments = spec.argv;
  std::vector<std::string> environment = environment_block(spec);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  WallPlan walls = plan_walls(spec.walls);

  const Fd input = make_input(spec.input);
  Pipe out = spec.pass_stdout ? Pipe{} : make_pipe();
  Pipe err = make_pipe();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw input_error(fmt::format("cannot make a socket: {}", reason(errno)));
  Fd control(ends[0]);
  const Fd theirs(ends[1]);
  const ChildLaunch launch{body ? nullptr : program.c_str(),
                           body,
                           data,
                           argv.data(),
                           envp.data(),
                           directory.empty() ? nullptr : directory.c_str(),
                           spec.memory_limit_bytes,
                           spec.file_limit_bytes,
                           &walls,
                           input.get(),
                           out.write.get(),
                           err.write.get(),
                           theirs.get()};
  const pid_t pid = fork_into(walls);
  if (pid < 0)
    throw input_error(fmt::format("cannot {} {}: {}",
                                  spec.walls.namespaces ? "make namespaces for" : "start",
                                  spec.argv[0], reason(errno)));
  if (pid == 0) supervise(launch);
  return {pid, std::move(control), std::move(out.read), std::move(err.read)};
}

void order(const Child& child, Order what) {
  (void)!::send(child.control.get(), &what, sizeof what, MSG_NOSIGNAL);
}

/// Takes what is there; closes the descriptor at its end. Keeps at most `bound` bytes.
void drain(Fd& fd, std::string& text, std::size_t bound) {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = read_some(fd, buffer.data(), buffer.size());
  if (n <= 0) return fd.reset();
  const std::size_t room = bound - std::min(bound, text.size());
  text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
}

/// After all are dead: what the pipes still hold. Another thread's fork may hold them open for a
/// moment, so an empty pipe ends it.
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

/// Of all that descends from a process, without its own.
std::uint64_t resident_bytes(pid_t ancestor) {
  std::vector<Process> others;
  for_each_process([&others](const Process& process) { others.push_back(process); });
  std::vector<pid_t> family = {ancestor};
  std::uint64_t pages = 0;
  for (std::size_t i = 0; i < family.size(); ++i)
    for (const Process& process : others) {
      if (process.parent != family[i]) continue;
      family.push_back(process.pid);
      pages += process.resident_pages;
    }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What may end a child before it ends by itself.
class Limits {
 public:
  Limits(const ChildSpec& spec, Clock::time_point deadline) : spec_(spec), deadline_(deadline) {
    if (spec.resident_limit_bytes) look_ = Clock::now() + kLookEvery;
  }

  [[nodiscard]] int milliseconds_left() const {
    return killed_ ? -1 : milliseconds_until(std::min(deadline_, look_));
  }

  /// Gives the orders that are due.
  void enforce(const Child& child, bool cancelled, ChildResult& result) {
    if (killed_) return;
    const Clock::time_point now = Clock::now();
    if (now >= look_) {
      result.over_memory = resident_bytes(child.supervisor) > spec_.resident_limit_bytes;
      look_ = Clock::now() + kLookEvery;
    }
    result.cancelled = cancelled;
    killed_ = cancelled || result.over_memory || (now >= deadline_ && result.timed_out);
    if (killed_) return order(child, Order::kKill);
    if (now < deadline_) return;
    order(child, Order::kTerminate);
    result.timed_out = true;
    deadline_ = now + kGrace;
  }

 private:
  const ChildSpec& spec_;
  Clock::time_point deadline_;
  Clock::time_point look_ = Clock::time_point::max();
  bool killed_ = false;
};

/// Reads both streams until the supervisor reports.
void attend(Child& child, const ChildSpec& spec, Limits limits, ChildResult& result) {
  while (true) {
    std::array<pollfd, 4> watched{{{child.control.get(), POLLIN, 0},
                                   {child.out.get(), POLLIN, 0},  // a closed one (-1) is ignored
                                   {child.err.get(), POLLIN, 0},
                                   {spec.cancel_fd, POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), limits.milliseconds_left());
    if (ready > 0 && watched[1].revents) drain(child.out, result.out, spec.capture_bytes);
    if (ready > 0 && watched[2].revents) drain(child.err, result.err, spec.capture_bytes);
    if (ready > 0 && watched[0].revents) return;
    limits.enforce(child, ready > 0 && watched[3].revents, result);
  }
}

/// Takes the report. Who killed the supervisor itself has killed the child with it.
void reap(const Child& child, const ChildSpec& spec, ChildResult& result) {
  Report report{Report::kEnded, SIGKILL, nullptr};
  (void)!read_some(child.control, reinterpret_cast<char*>(&report), sizeof report);
  while (::waitpid(child.supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (report.step != Report::kEnded) throw_failure(spec, report);
  if (WIFEXITED(report.value)) result.exit_status = WEXITSTATUS(report.value);
  if (WIFSIGNALED(report.value)) result.signal = WTERMSIG(report.value);
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

ChildResult run_child(const ChildSpec& spec, ChildBody body, const void* data) {
  ChildResult result;
  const Clock::time_point begin = Clock::now();
  Child child = start(spec, body, data);
  const ChildGroup group(child.control.get());
  attend(child, spec, Limits(spec, deadline_after(begin, spec.time_limit_s)), result);
  reap(child, spec, result);
  drain_rest(child.out, result.out, spec.capture_bytes);
  drain_rest(child.err, result.err, spec.capture_bytes);
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

ChildResult run_child(const ChildSpec& spec) { return run_child(spec, nullptr, nullptr); }

std::string how_it_ended(const ChildSpec& spec, const ChildResult& result) {
  const auto gigabytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  if (result.timed_out) return fmt::format("was stopped after {} s", spec.time_limit_s);
  if (result.over_memory)
    return fmt::format("used more than {:.1f} GB of memory", gigabytes(spec.resident_limit_bytes));
  if (result.cancelled) return "was ended because it was no longer wanted";
  if (result.signal == SIGXFSZ && spec.file_limit_bytes)
    return fmt::format("wrote a file of more than {:.1f} GB", gigabytes(spec.file_limit_bytes));
  if (result.signal)
    return fmt::format("was ended by signal {} ({})", result.signal, ::strsignal(result.signal));
  return fmt::format("failed with exit status {}", result.exit_status);
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
