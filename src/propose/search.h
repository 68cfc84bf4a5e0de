// Finding the best order of blocks by replaying candidates, coarse first.
//
// Successive halving: all distinct candidates are replayed on a small sample of cache sets, two
// dies and the beginning of the launch; the better part on the whole launch; and so on to a fine
// sample that leaves one. (Replaying that one and the identity exactly is the caller's business,
// since it can be done beside other work.)
//
// The model's error is not noise: it mistakes a whole kind of walk at a time (curves over a
// transpose, bands over a stencil), so the five that it likes best are often five times the same
// mistake. Whoever can measure therefore asks for alternatives, too: good orders of other kinds.
//
// Which candidates meet which rung depends on their scores
// only, so one seed gives one result, whatever the number of threads and wherever a run was
// interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "swizzleperf/simulate.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf {

enum class Objective { kTime, kL2, kHbm };
std::string_view objective_name(Objective objective);

/// What ranks a candidate.
struct Score {
  double time_ms = 0;
  double l2_requests = 0;
  double l2_misses = 0;
  double hbm_bytes = 0;
};
Score score_of(const SimResult& result);

/// Which of two candidates is better. Predicted times within `tie` of the fastest are equal,
/// because the model cannot tell them apart; then fewer L2 misses win, since traffic costs energy
/// even where it costs no time. Under the other objectives misses or memory bytes come first.
struct Ranking {
  Objective objective = Objective::kTime;
  double tie = 0.025;   ///< relative; half the model's stated error of time
  double miss_tie = 0;  ///< relative; misses closer than this are equal, and simplicity decides
};

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

/// Which way an order walks, so that two of a kind are right or wrong together: the name of its
/// last step, where families that only differ in how they deal with the rim are one ("bands along
/// y").
std::string kind_of(const std::string& spec);

/// What the last rung keeps: the best, and the best of the kind that experts write.
constexpr std::size_t kFinalists = 2;

/// The rungs for a launch of this size.
std::vector<Rung> plan_rungs(const Replayer& replayer);

/// Replays on the planned rungs, whose samples it adds to the replayer.
class RungReplays {
 public:
  RungReplays(Replayer& replayer, std::vector<Rung> rungs, std::uint64_t seed, unsigned threads);

  [[nodiscard]] const std::vector<Rung>& rungs() const { return rungs_; }
  [[nodiscard]] SimResult replay(std::span<const std::uint32_t> permutation,
                                 std::size_t rung) const;

 private:
  const Replayer& replayer_;
  std::vector<Rung> rungs_;
  std::vector<std::size_t> samples_;  ///< handles, by rung
};

struct Refused {
  std::string spec;
  std::string reason;  ///< "not a bijection: ...", "the identity", "repeats SPEC"
};

struct SearchSetup {
  LaunchShape shape;
  Ranking ranking;
  std::vector<std::string> extra;  ///< candidates given by the user, besides the enumerated ones
  unsigned threads = 1;
  std::size_t alternatives = 0;  ///< how many are wanted besides the finalists
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
  std::vector<Ranked> finalists;  ///< of the last rung, best first; empty if there was no candidate
  /// The best of each kind that the finalists lack, best first, then the second best of each, ...
  std::vector<Ranked> alternatives;
  std::vector<Refused> refused;
  std::unordered_map<std::uint64_t, std::string> seen;  ///< specifications by permutation hash
  std::size_t candidates = 0;                           ///< distinct permutations replayed
};

/// The candidates that the last rung keeps, best first.
SearchResult search(const SearchSetup& setup, const std::vector<Rung>& rungs,
                    const SearchHooks& hooks);

/// The identity as a candidate.
Candidate identity_candidate(const LaunchShape& shape);

/// Sorts by the ranking, best first; equal candidates by specification, shorter first.
void rank(std::vector<Ranked>& candidates, const Ranking& ranking);

/// The permutation of a candidate. Throws Error when the formula is not a bijection on the launch.
std::vector<std::uint32_t> permutation_of(const std::string& spec, const LaunchShape& shape);

}  // namespace swizzleperf
