// See progress.h.
#include "report/progress.h"

#include <unistd.h>

#include <cstdio>

#include "fmt/format.h"

namespace swizzleperf {

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_ - std::chrono::hours(1)) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

void Progress::print(const std::string& line) {
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    line_open_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

void Progress::update(const std::string& what, double share) {
  const auto now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(3000);
  if (quiet_ || now - last_ < pause) return;
  if (last_ < start_ && !terminal_ && now - start_ < pause) return;  // short work stays silent
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string left;
  if (share > 0.02) left = fmt::format(", {:.0f} s left", seconds / share * (1 - share));
  print(what + left);
}

void Progress::finish(const std::string& what) {
  if (quiet_) return;
  print(what);
  if (line_open_) std::fputc('\n', stderr);
  line_open_ = false;
}

}  // namespace swizzleperf
