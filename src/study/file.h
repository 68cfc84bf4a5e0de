// A study, as its file says it: which kernels at which sizes, told what, asked whom, how often.
//
//     suite    = "suite.json"        # all kernels of a suite, at its "study" sizes; or:
//     machines = ["mi300x"]
//     contexts = ["unaware", "aware", "overload"]
//     trials   = 3                   # of each; the n-th with seed + n - 1
//     attempts = 10                  # of a proposer in one trial
//
//     [[programs]]
//     program = "my.hip"             # relative to the file
//     sizes   = ["1024 1024", "4096 4096"]
//
//     [[proposers]]
//     name    = "expert"
//     ask     = ["command"]          # as optimize's --proposer; several are chained
//     command = "python3 expert.py"
//
// The file says all that decides a result, so that a published study can be run again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "optimize/optimize.h"

namespace swizzleperf::study {

/// A kernel; each of its sizes is a launch.
struct Program {
  std::string name;
  std::filesystem::path program;
  std::vector<std::string> sizes;  ///< arguments, as one would type them
  std::vector<std::string> compile_options;
  std::string kernel;  ///< a regular expression; empty: the launch with the most traffic
  std::int64_t launch = -1;
};

/// Who is asked, and by which model if by one.
struct Asked {
  std::string name;
  std::vector<std::string> models;  ///< each is asked on its own; empty: nobody has a model
  ProposerSettings settings;        ///< but for context and model
  /// Whether what it proposes may depend on the context: a search reads none.
  [[nodiscard]] bool reads_context() const { return settings.asks_in_rounds(); }
};

struct StudyFile {
  std::filesystem::path file;
  std::string text;  ///< as it was read, suite included: what a resumed study must not change
  Objective objective = Objective::kTime;
  std::uint64_t seed = 1;
  std::uint64_t trials = 1;
  std::vector<std::string> machines;
  std::vector<ContextKind> contexts;
  std::vector<Program> programs;
  std::vector<Asked> proposers;
};

/// Throws Error(kInput): "file:line: sentence" for the first thing that is wrong.
StudyFile read_study(const std::filesystem::path& file);

/// kernels/study.toml, beside the executable's folder. Throws Error(kInput).
std::filesystem::path default_study();

}  // namespace swizzleperf::study
