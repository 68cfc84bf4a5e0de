// The loop, from a program to a verdict: trace, search, prove, patch, check, report.
//
// Everything a run learns is in its directory: config.json (what was asked), launch.trace,
// journal.jsonl (one line a candidate), proposals.jsonl and prompts/ (what proposers were asked and
// answered), and at the end result.json, best.swz and best.patch. A run
// that was killed continues from there with the same result, because each step is a function of
// what the directory holds: the trace is reused, journaled replays are not repeated.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "optimize/apply.h"
#include "optimize/loop.h"
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
  ProposerSettings proposers;
  std::size_t alternatives = 0;  ///< orders of other kinds that the search shall name for measuring
  std::uint64_t seed = 1;
  unsigned threads = 1;
  std::filesystem::path run_directory;
  bool resume = false;
  bool quiet = false;
};

/// An order that was not replayed exactly, but may be worth measuring.
struct Alternative {
  Candidate candidate;
  nlohmann::json metrics;
};

/// What a finished run says; `json` is what result.json holds.
struct OptimizeOutcome {
  Launch launch;
  SearchResult search;
  std::vector<Alternative> alternatives;    ///< the search's, best first
  History history;                          ///< all attempts, whoever proposed them
  std::vector<Ending> endings;              ///< of the proposers that were asked in rounds
  std::map<std::string, llm::Spent> spent;  ///< by proposer, earlier processes of the run included
  nlohmann::json baseline;                  ///< metrics (report/metrics.h)
  nlohmann::json best;
  std::vector<std::uint32_t> best_order;  ///< its permutation; empty when there was no candidate
  std::optional<Swizzle> best_swizzle;    ///< absent, too, where the best is a rewritten kernel
  Verdict verdict;
  std::optional<SecondOpinion> second_opinion;  ///< where a swizzle is taken
  std::optional<Proof> proof;
  std::optional<Applied> applied;
  std::optional<bool> built;          ///< whether the patched source compiled; nothing: not tried
  LaunchFindings blocks;              ///< what they share, from the trace
  std::vector<std::string> warnings;  ///< why they should not be reordered as they are
  std::string not_applied;            ///< why there is no patch, if there is none
  std::string code;                   ///< the printed helper
  nlohmann::json json;
};

OptimizeOutcome optimize(const OptimizeRequest& request);

}  // namespace swizzleperf
