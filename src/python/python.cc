// The package is taken from beside the executable, not from wherever the interpreter has one
// installed: both ends of the conversation are then of one version. The child's environment has no
// keys in it (base/subprocess.h), since it imports the user's modules.
#include "python/python.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "base/subprocess.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The folder that holds the package: in a checkout, or as installed.
fs::path package_folder() {
  const fs::path home = fs::read_symlink("/proc/self/exe").parent_path();
  for (const char* place : {"../python", "../share/swizzleperf/python"}) {
    const fs::path folder = (home / place).lexically_normal();
    if (fs::exists(folder / "swizzleperf" / "__main__.py")) return folder;
  }
  throw input_error(
      fmt::format("the Python package swizzleperf is missing beside {}: build or install "
                  "swizzleperf completely",
                  home.string()));
}

std::string last_line(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

fs::path python_interpreter() {
  if (const char* const named = std::getenv("SWIZZLEPERF_PYTHON"); named && *named) return named;
  fs::path own = package_folder().parent_path() / ".venv/bin/python3";
  if (fs::exists(own)) return own;
  if (const auto found = find_program("python3")) return *found;
  throw input_error("python3 is not on PATH: install it, or name one in SWIZZLEPERF_PYTHON");
}

json ask_python(const std::string& command, const json& question, double time_limit_s) {
  ChildSpec child;
  child.argv = {python_interpreter().string(), "-m", "swizzleperf", command};
  child.environment["PYTHONPATH"] = package_folder().string();
  if (const char* const more = std::getenv("PYTHONPATH"); more && *more)
    child.environment["PYTHONPATH"] += std::string(":") + more;
  child.input = question.dump();
  child.time_limit_s = time_limit_s;
  child.capture_bytes = 64 << 20;
  const ChildResult result = run_child(child);
  if (result.timed_out) {
    throw input_error(fmt::format("{} did not end within {} s ({})", child.argv[0], time_limit_s,
                                  "swizzleperf " + command));
  }
  json answer = json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    throw input_error(fmt::format("{} -m swizzleperf {} ended without an answer; it said: {}",
                                  child.argv[0], command, last_line(result.err)));
  }
  if (answer.contains("error")) throw input_error(answer["error"].get<std::string>());
  return answer;
}

}  // namespace swizzleperf
