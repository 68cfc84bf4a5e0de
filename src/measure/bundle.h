// What is to be measured, as a folder: it can be carried to a GPU node that has nothing of ours but
// the small build (no LLVM, no libclang), and is the form in which everything is measured, also
// where planning and measuring happen on one machine.
//
//   bundle.json        what this header describes
//   project/           a copy of what the program is built from
//   candidates/K/      for candidate K = 1, 2, ...: the files that its patch changes, laid out as
//                      in project/, and patch.diff
//   results/           what measuring leaves (measure/results.h)
//
// A candidate is built in a copy of project/ over which its files are laid, with the same command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "swizzleperf/grid.h"

namespace swizzleperf::measure {

enum class Language { kHip, kCuda };
std::string_view language_name(Language language);  ///< "hip", "cuda"

/// How the program is built and run, all paths relative to the project's folder.
struct Project {
  Language language = Language::kCuda;
  std::filesystem::path source;   ///< that holds the kernel
  std::filesystem::path program;  ///< the executable that building makes
  std::string build;  ///< a shell command, run in the project's folder; empty: the compiler is
                      ///< called on `source` with `compile_options`
  std::vector<std::string> compile_options;
  std::vector<std::string> arguments;  ///< of the program
  std::string test;  ///< a shell command in the project's folder that says by its exit status
                     ///< whether a build is right; empty: none
};

/// The launch that is measured: the `index`-th (from 0) of the kernel with this symbol.
struct Target {
  std::string symbol;  ///< mangled
  std::string kernel;  ///< as people write it
  std::int64_t index = 0;
  Dim3 grid;
  Dim3 block;
};

struct Candidate {
  int number = 0;  ///< from 1, the model's best first
  std::string spec;
  std::string formula;                       ///< empty: a rewritten kernel has none
  std::string permutation;                   ///< its hash, 16 hexadecimal digits
  nlohmann::json predicted;                  ///< metrics (report/metrics.h); may be null
  std::vector<std::filesystem::path> files;  ///< that its patch changes
  bool from_model_text = false;              ///< a rewritten kernel: its text is a language model's
};

struct Bundle {
  std::filesystem::path directory;
  Project project;
  Target target;
  std::string machine;       ///< the model's name that predictions are of
  nlohmann::json predicted;  ///< of the program as it is; may be null
  std::vector<Candidate> candidates;
};

/// Whether variant `number` is built from a language model's text, and so to be confined.
bool is_foreign(const Bundle& bundle, int number);

inline constexpr const char* kProjectFolder = "project";
inline constexpr const char* kPatchFile = "patch.diff";
std::filesystem::path candidate_folder(const std::filesystem::path& bundle, int number);

/// Whether a folder looks like one.
bool is_bundle(const std::filesystem::path& directory);

/// Throws Error(kInput) naming the file and what is wrong with it: a missing key, a file of a
/// candidate that is not there, a path that leaves the folder, a later schema_version.
Bundle read_bundle(const std::filesystem::path& directory);

/// Writes bundle.json, beside and renamed; the other files are the caller's, and must be there
/// before, so that a folder with this file is whole.
void write_bundle(const Bundle& bundle);

}  // namespace swizzleperf::measure
