// What measuring a bundle found: results/result.json of its folder, and the same in memory.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "measure/bundle.h"
#include "measure/profile.h"

namespace swizzleperf::measure {

enum class Status {
  kMeasured,     ///< equal outputs, timed
  kNotCompared,  ///< timed, but outputs could not be compared: never the best by itself
  kRefused,      ///< did not build, crashed, hung, computed something else, ...
};

/// One turn of both: the median of a few launches of each, one right after the other.
struct Round {
  double original_ms = 0;
  double own_ms = 0;
};

struct Measured {
  int number = 0;  ///< of the candidate; 0 is the program as it is
  Status status = Status::kRefused;
  std::string reason;                 ///< one sentence, for what is not kMeasured
  std::vector<std::string> compared;  ///< "as it is", "outputs poisoned", "fresh inputs"
  std::vector<std::string> notes;
  std::optional<Estimate> milliseconds;
  std::optional<Estimate> speedup;  ///< the original's time over its own, from interleaved rounds
  Profile profile;
  std::optional<double> joules;  ///< of one launch
  int device = 0;
  std::vector<Round> rounds;
};

struct Results {
  std::string device;        ///< the GPU's name
  int devices = 1;           ///< how many took part
  std::string l2_state;      ///< "warm: ..." or "cold: ..."
  double confidence = 0.95;  ///< of all intervals
  /// The original's time over its own in a second process: how much of a ratio is chance.
  std::optional<Estimate> control;
  Measured original;
  std::vector<Measured> candidates;  ///< in the bundle's order
  std::optional<int> best;  ///< the number of the one to take; nothing: keep the order as it is
  std::string verdict;      ///< one sentence with the figures
  std::vector<std::string> protections;
  double seconds = 0;
};

/// schema in docs/json.md. Rounds go to results/rounds.csv instead.
nlohmann::json to_json(const Results& results, const Bundle& bundle);
void write_results(const Results& results, const Bundle& bundle);

/// Throws Error(kInput) naming the file and what is wrong.
Results read_results(const std::filesystem::path& bundle_directory);

}  // namespace swizzleperf::measure
