// An attempt to refute that hits in L2 stand for speed: on a small launch every way of dealing
// blocks to dies is replayed, and the one is looked for that hits more and is slower.
//
// A search that climbs by hit rate is only as good as the belief that hits mean time; the referee
// of the paper asked for this experiment. On hardware it would take two million measurements. Here
// a small launch fills no cache, so a replay takes tenths of a millisecond (RoomyReplayer), and the
// answer is the model's.
//
// All deals are replayed on the machine with equal CUs (`skew` and `jitter` 0), because only then
// are dies alike and a deal means the same whatever the dies are called: its hits are exactly the
// same, its time up to who comes first at the last level. So a difference of times is judged a
// second time, on the machine as it is modelled, over many copies of the two deals that name dies
// and order blocks differently: a contradiction is believed when the means of the copies say so,
// too.
//
// A range of deals is a line in a file, so that a killed run goes on where it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "study/tally.h"

namespace swizzleperf::study {

struct FalsifierRequest {
  std::filesystem::path directory;  ///< of the run; deals.jsonl there is continued
  unsigned threads = 1;
  std::uint64_t seed = 1;  ///< of the copies
  bool quiet = false;
};

/// Times of one deal on the machine as modelled, dies named and blocks ordered at random.
struct Copies {
  std::uint32_t number = 0;
  double mean_ms = 0;
  double deviation_ms = 0;  ///< standard deviation of one
  double least_ms = 0;
  double most_ms = 0;
};

/// A deal worth showing.
struct Exhibit {
  std::uint64_t number = 0;
  double hits = 0;
  double time_ms = 0;  ///< on equal CUs
  Copies copies;
  std::vector<std::vector<std::uint32_t>> blocks_of_die;
  std::string formula;  ///< with which every verb replays it
};

/// More hits, and slower.
struct Refutation {
  Exhibit more_hits;
  Exhibit fewer_hits;
  [[nodiscard]] double slower_by() const {
    return more_hits.copies.mean_ms / fewer_hits.copies.mean_ms - 1;
  }
  /// Of `slower_by`, from the spread of the copies.
  [[nodiscard]] double standard_error() const;
  /// The copies agree that it is one, and not only in digits that no time has.
  [[nodiscard]] bool stands() const { return slower_by() > std::max(0.001, 3 * standard_error()); }
};

struct Falsified {
  Tally tally;
  double requests = 0;
  Exhibit most_hits;                ///< the fastest of those
  Exhibit fastest;                  ///< of equals the one with most hits
  std::optional<Refutation> worst;  ///< absent where more hits were never slower
  std::uint64_t replayed = 0;       ///< now; the rest was found in the directory
  double seconds = 0;               ///< that those took
};

/// Throws Error(kInput) where a swizzle does not choose dies or there are too many deals, naming
/// how many; where the directory holds another run.
Falsified falsify(const Launch& launch, const FalsifierRequest& request);

/// A formula whose result at dispatch index p is order[p]: a table in whole numbers.
std::string table_formula(const std::vector<std::uint32_t>& order);

}  // namespace swizzleperf::study
