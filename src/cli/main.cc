// The command line: results on stdout or in a file, the log on stderr, one sentence for what is
// wrong, and an exit code that scripts can rely on.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/files.h"
#include "base/interrupt.h"
#include "cli/command_line.h"

namespace swizzleperf {
namespace {

void set_up_log(const CommonOptions& common) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("swizzleperf"));
  spdlog::set_pattern("swizzleperf: %v");
  spdlog::set_level(common.quiet         ? spdlog::level::err
                    : common.verbose > 1 ? spdlog::level::trace
                    : common.verbose     ? spdlog::level::debug
                                         : spdlog::level::info);
}

/// A standard stream that we were started without would become the number of the next file we open.
void open_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // Writing to what was closed must go on failing, so it is opened for reading only.
    if (::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

bool pipe_was_ignored = false;  // by whoever started us: then it stays an error

/// What would end us in the middle of something comes back as an error instead: a reader that went
/// away, and a limit on the size of files.
void prefer_errors_to_signals() {
  pipe_was_ignored = ::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  ::signal(SIGXFSZ, SIG_IGN);
}

/// The reader has what it wanted: we end as every program in a pipeline does.
void end_by_broken_pipe() {
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  if (errno == EPIPE && !pipe_was_ignored) end_by_broken_pipe();
  throw input_error(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

Exit run(const std::vector<std::string>& arguments) {
  std::string help;
  const std::optional<Invocation> invocation = parse_command_line(arguments, help);
  if (!invocation) {
    write_stdout(help);
    return Exit::kDone;
  }
  set_up_log(invocation->common);
  const Outcome outcome = invocation->action(invocation->common);
  if (invocation->common.output.empty() || outcome.output_taken) {
    write_stdout(outcome.text);
  } else {
    write_file(invocation->common.output, outcome.text);
  }
  return outcome.exit;
}

}  // namespace
}  // namespace swizzleperf

int main(int argc, char** argv) {
  using swizzleperf::Error;
  using swizzleperf::Exit;
  swizzleperf::open_standard_streams();
  swizzleperf::prefer_errors_to_signals();
  swizzleperf::clean_up_on_signals();
  try {
    return static_cast<int>(swizzleperf::run({argv + 1, argv + argc}));
  } catch (const Error& error) {
    fmt::print(stderr, "swizzleperf: {}\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "swizzleperf: this machine's memory does not suffice; give a smaller launch or free "
               "some memory\n");
    return static_cast<int>(Exit::kInput);
  } catch (const std::exception& fault) {
    fmt::print(stderr, "swizzleperf: internal error, please report it: {}\n", fault.what());
    return static_cast<int>(Exit::kInput);
  }
}
