// The loop, from a program to a verdict: trace, search, prove, patch, check, report.
//
// Everything a run learns is in its directory: config.json (what was asked), launch.trace,
// journal.jsonl (one line a candidate), and at the end result.json, best.swz and best.patch. A run
// that was killed continues from there with the same result, because each step is a function of
// what the directory holds: the trace is reused, journaled replays are not repeated.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "optimize/apply.h"
#include "optimize/second_opinion.h"
#include "optimize/verdict.h"
#include "propose/search.h"
#include "swizzleperf/check.h"

namespace swizzleperf {

struct OptimizeRequest {
  vgpu::ProgramSpec program;
  std::string machine = "mi300x";
  Objective objective = Objective::kTime;
  std::vector<std::string> extra_swizzles;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::filesystem::path run_directory;
  bool resume = false;
  bool quiet = false;
};

/// What a finished run says; `json` is what result.json holds.
struct OptimizeOutcome {
  Launch launch;
  SearchResult search;
  nlohmann::json baseline;  ///< metrics (report/metrics.h)
  nlohmann::json best;
  std::optional<Swizzle> best_swizzle;  ///< absent when there was no candidate
  Verdict verdict;
  std::optional<SecondOpinion> second_opinion;  ///< where a swizzle is taken
  std::optional<Proof> proof;
  std::optional<Applied> applied;
  LaunchFindings blocks;              ///< what they share, from the trace
  std::vector<std::string> warnings;  ///< why they should not be reordered as they are
  std::string not_applied;            ///< why there is no patch, if there is none
  std::string code;                   ///< the printed helper
  nlohmann::json json;
};

OptimizeOutcome optimize(const OptimizeRequest& request);

}  // namespace swizzleperf
