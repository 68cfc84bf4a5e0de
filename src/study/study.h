// Running a study: every kernel at every size, on every machine, told every context, by everybody
// who is asked, as often as was said. Each of these is a run directory of optimize.
//
// A study takes hours and is killed, so nothing of it is held in memory that its directory does not
// have: study.json (the study file, which a resumed study must not change) and runs/NNN-.../, of
// which each is finished (it has a result.json), begun (optimize resumes it) or not begun. What a
// finished run says is read from its files whether it ran a moment or a week ago, so that a resumed
// study has the tables of one that was never killed. A configuration that cannot be run at all is a
// row with its reason, and the others go on.
//
// Configurations are run beside each other, each on one thread: they share nothing, and most of
// what they do (compiling, running the program, waiting for a model) does not use several.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "study/file.h"

namespace swizzleperf::study {

/// One run of optimize.
struct Configuration {
  std::size_t program = 0;   ///< index into StudyFile::programs
  std::size_t proposer = 0;  ///< and proposers
  std::string size;
  std::string machine;
  std::optional<ContextKind> context;  ///< nothing for who reads none
  std::string model;
  std::uint64_t trial = 1;
};

/// In a fixed order. Who reads no context is asked once, not once a context.
std::vector<Configuration> plan(const StudyFile& study);

struct Finished {
  Configuration configuration;
  std::filesystem::path directory;
  nlohmann::json result;  ///< result.json; null where there is none
  std::string reason;     ///< why not
};

struct StudyRequest {
  StudyFile study;
  std::filesystem::path directory;
  bool resume = false;
  unsigned threads = 1;  ///< configurations at once
  bool quiet = false;
};

/// In the order of the plan. Throws Error(kUsage) when the directory holds another study.
std::vector<Finished> run_study(const StudyRequest& request);

}  // namespace swizzleperf::study
