// A progress line that respects a pipe: on a terminal one line is redrawn ten times a second; into
// a file or pipe a full line appears every few seconds; with --quiet nothing does. It goes to
// stderr, so that stdout holds results only.
#pragma once

#include <chrono>
#include <string>

namespace swizzleperf {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `share` of the work is done (0..1); used for the time left.
  void update(const std::string& what, double share);
  /// Ends the line; a message stays visible.
  void finish(const std::string& what);

 private:
  void print(const std::string& line);

  using Clock = std::chrono::steady_clock;
  bool quiet_;
  bool terminal_;
  bool line_open_ = false;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace swizzleperf
