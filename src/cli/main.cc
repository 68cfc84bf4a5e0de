// The command line: results on stdout or in a file, the log on stderr, one sentence for what is
// wrong, and an exit code that scripts can rely on.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "base/files.h"
#include "cli/command_line.h"

namespace swizzleperf {
namespace {

void set_up_log(const CommonOptions& common) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("swizzleperf"));
  spdlog::set_pattern("swizzleperf: %v");
  spdlog::set_level(common.quiet     ? spdlog::level::err
                    : common.verbose ? spdlog::level::debug
                                     : spdlog::level::info);
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
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
  try {
    return static_cast<int>(swizzleperf::run({argv + 1, argv + argc}));
  } catch (const Error& error) {
    fmt::print(stderr, "swizzleperf: {}\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::exception& fault) {
    fmt::print(stderr, "swizzleperf: internal error, please report it: {}\n", fault.what());
    return static_cast<int>(Exit::kInput);
  }
}
