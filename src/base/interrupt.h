// What must not outlive this process when a signal ends it: children, and files that only we know.
#pragma once

#include <filesystem>

namespace swizzleperf {

/// From now on SIGINT, SIGTERM and SIGHUP first kill the children and remove the paths that are
/// registered, then end the process as they always do. Call once, before any thread is started.
void clean_up_on_signals();

/// A path (a file or a whole directory) that is removed if a signal ends us in this scope.
class Temporary {
 public:
  explicit Temporary(std::filesystem::path path);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

 private:
  std::filesystem::path path_;
};

/// A child with all its descendants that is killed if a signal ends us in this scope.
class ChildGroup {
 public:
  explicit ChildGroup(int control);  ///< the socket of its supervisor
  ~ChildGroup();
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

 private:
  int control_;
};

}  // namespace swizzleperf
