// Replays of a run, answered from its journal where it has them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "optimize/journal.h"
#include "propose/search.h"

namespace swizzleperf {

/// Rungs are those of the search; one past the last is the exact replay. May be used by several
/// threads.
class Replays {
 public:
  using Permutation = std::vector<std::uint32_t>;

  Replays(const Launch& launch, Replayer& replayer, std::vector<Rung> rungs, std::uint64_t seed,
          unsigned threads, Journal& journal)
      : launch_(launch),
        replayer_(replayer),
        replays_(replayer, std::move(rungs), seed, threads),
        journal_(journal) {}

  [[nodiscard]] const std::vector<Rung>& rungs() const { return replays_.rungs(); }

  /// Of candidates whose `spec` is a specification of swizzles/.
  Score score(const Candidate& candidate, std::size_t rung);
  Score exact_score(const Candidate& candidate) { return score(candidate, rungs().size()); }
  /// All metrics of the exact replay.
  nlohmann::json exact(const Candidate& candidate);
  /// All metrics of the search's last rung.
  nlohmann::json last_sample(const Candidate& candidate);

  /// The exact replay of an order whose `spec` is only a name; the score and all metrics.
  std::pair<Score, nlohmann::json> exact(const Candidate& candidate,
                                         const std::function<Permutation()>& permutation);

 private:
  nlohmann::json record_of(const Candidate& candidate, std::size_t rung,
                           const std::function<Permutation()>& permutation);
  nlohmann::json record_of(const Candidate& candidate, std::size_t rung);

  const Launch& launch_;
  const Replayer& replayer_;
  RungReplays replays_;
  Journal& journal_;
};

/// Enough of a SimResult for the verdict, from its JSON (a resumed run has only that).
SimResult from_json(const nlohmann::json& metrics);

}  // namespace swizzleperf
