// A directory to compile in, with our compilers first on PATH, and what happened there.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"

namespace swizzleperf {

class Sandbox {
 public:
  Sandbox() = default;
  /// A copy of one of the projects beside these tests.
  explicit Sandbox(const std::string& project) {
    std::filesystem::copy(std::filesystem::path(PROJECTS) / project, path(),
                          std::filesystem::copy_options::recursive);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }
  void write(const std::string& name, const std::string& text) const {
    write_file(path() / name, text);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return read_file(path() / name); }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(path() / name);
  }

  [[nodiscard]] ChildResult run(std::vector<std::string> argv) const {
    ChildSpec spec;
    spec.argv = std::move(argv);
    spec.directory = path();
    const auto ours = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    if (spec.argv[0].starts_with("swizzleperf")) spec.argv[0] = ours / spec.argv[0];
    if (spec.argv[0].starts_with("./")) spec.argv[0] = path() / spec.argv[0];
    spec.environment["PATH"] = ours.string() + ":" + std::getenv("PATH");
    spec.time_limit_s = 250;
    return run_child(spec);
  }
  /// The same through a shell.
  [[nodiscard]] ChildResult shell(const std::string& command) const {
    return run({"sh", "-c", command});
  }

 private:
  ScratchDirectory scratch_;
};

/// What a child said, for the message of an expectation.
inline std::string said(const ChildResult& result) { return result.out + result.err; }

}  // namespace swizzleperf
