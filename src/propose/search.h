// Finding the best order of blocks by replaying candidates, coarse first.
//
// Successive halving: all distinct candidates are replayed on a small sample of cache sets and the
// beginning of the launch, the better part on a larger sample, and so on; the last few are replayed
// exactly, beside the identity. Which candidates meet which rung depends on their scores only, so
// one seed gives one result, whatever the number of threads and wherever a run was interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "swizzleperf/simulate.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf {

enum class Objective { kTime, kL2, kHbm };

/// What ranks a candidate.
struct Score {
  double time_ms = 0;
  double l2_requests = 0;
  double l2_misses = 0;
  double hbm_bytes = 0;
};
Score score_of(const SimResult& result);

/// Lower is better. Time decides up to ties: ten points of L2 misses weigh as 0.2 % of time, and
/// the identity's memory traffic as 1 %, because traffic costs energy even where it costs no time.
double cost_of(const Score& score, const Score& identity, Objective objective);

struct Candidate {
  std::string spec;
  std::uint64_t hash = 0;  ///< of its permutation on the launch grid
};

/// How closely a rung looks.
struct Rung {
  std::string name;          ///< "1/512 of the sets, first half of the blocks"
  double share = 1;          ///< of the cache sets; 1 = exact
  std::uint64_t blocks = 0;  ///< dispatch indices replayed, from the first
  std::uint32_t dies = 0;    ///< dies looked at, 0 = all
  std::size_t keep = 0;      ///< candidates that go on
};

/// The rungs for a launch of this size.
std::vector<Rung> plan_rungs(const Replayer& replayer);

struct Refused {
  std::string spec;
  std::string reason;  ///< "not a bijection: ...", "the identity", "repeats SPEC"
};

struct SearchSetup {
  LaunchShape shape;
  Objective objective = Objective::kTime;
  std::vector<std::string> extra;  ///< candidates given by the user, besides the enumerated ones
  unsigned threads = 1;
};

/// How the search asks for results and tells what it does. `evaluate` may answer from a journal; it
/// is called from several threads.
struct SearchHooks {
  std::function<Score(const Candidate&, std::size_t rung)> evaluate;
  std::function<void(std::size_t rung, std::size_t done, std::size_t of, const Candidate& best,
                     const Score& score)>
      progress;
};

struct Ranked {
  Candidate candidate;
  Score score;  ///< of the last rung
};

struct SearchResult {
  Ranked identity;
  std::vector<Ranked> finalists;  ///< exactly replayed, best first; empty if there was no candidate
  std::vector<Refused> refused;
  std::size_t candidates = 0;  ///< distinct permutations replayed
};

SearchResult search(const SearchSetup& setup, const std::vector<Rung>& rungs,
                    const SearchHooks& hooks);

/// The permutation of a candidate. Throws Error when the formula is not a bijection on the launch.
std::vector<std::uint32_t> permutation_of(const std::string& spec, const LaunchShape& shape);

}  // namespace swizzleperf
