// Runs the real executable, as a user would, in an empty directory and with no settings of ours.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"

namespace swizzleperf {

inline std::filesystem::path build_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

/// Text for people is wrapped at words: one line, to look for sentences in.
inline std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

struct Command {
  ScratchDirectory directory;  ///< where it runs
  std::map<std::string, std::string> environment;
  std::filesystem::path program = build_directory() / "swizzleperf";

  ChildResult operator()(const std::vector<std::string>& arguments) const {
    ChildSpec spec;
    spec.argv = {program.string()};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.directory = directory.path();
    spec.environment = environment;
    spec.time_limit_s = 60;
    return run_child(spec);
  }

  [[nodiscard]] nlohmann::json json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    return nlohmann::json::parse((*this)(arguments).out);
  }
};

}  // namespace swizzleperf
