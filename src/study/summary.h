// A study's rows, added up: over the trials of a configuration, over everything told one context
// and asked of one proposer, and over all orders that were replayed.
//
// The quoted L2 hit rate and time are always of one and the same order, the best of its run by the
// study's objective: a table that takes the best of each column describes an order nobody has seen.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/rows.h"

namespace swizzleperf::study {

/// What every trial says in one number. The order is that of the tables' columns.
enum class Figure : std::uint8_t {
  kAttempts,
  kParsed,
  kBijective,
  kIdentity,
  kRepeated,
  kBuilt,
  kEqual,
  kL2Before,
  kL2After,
  kTimeRatio,
  kTokens,
  kSeconds,
  kSecondsToBest,
};
constexpr std::size_t kFigures = 13;
std::string_view figure_name(Figure figure);

/// Over trials; nothing where no trial has it.
struct Over {
  std::optional<double> mean;
  std::optional<double> deviation;  ///< of two trials or more
  std::optional<double> least;
  std::optional<double> most;
  std::size_t trials = 0;  ///< that have it
};

/// The trials of a kernel at a size on a machine, told a context and asked of somebody.
struct Group {
  AttemptRow key;  ///< its names; nothing else of it
  std::size_t trials = 0;
  std::size_t failed = 0;
  std::string reason;  ///< of the first that failed
  std::array<Over, kFigures> over;
  [[nodiscard]] const Over& of(Figure f) const { return over[static_cast<std::size_t>(f)]; }
};

/// In the order of the rows.
std::vector<Group> groups_of(const std::vector<AttemptRow>& rows);

/// All that was told one context and asked of one proposer and model.
struct Overall {
  AttemptRow key;  ///< context, proposer, model
  std::size_t configurations = 0;
  std::size_t failed = 0;
  std::size_t attempts = 0;
  std::size_t parsed = 0;
  std::size_t bijective = 0;
  std::size_t identity = 0;
  std::size_t repeated = 0;
  std::size_t faster = 0;                ///< configurations whose best is faster than the identity
  std::optional<double> l2_gain_points;  ///< mean over configurations, of their best
  std::optional<double> time_ratio;      ///< geometric mean, likewise
};
std::vector<Overall> overall_of(const std::vector<AttemptRow>& rows);

/// An order that was replayed, as it is included.
struct Point {
  std::string order;  ///< "identity", or "proposer, attempt n, trial m"
  std::string formula;
  std::string context;
  std::string proposer;
  double l2 = 0;  ///< hit rate
  double time_ms = 0;
};

/// Points by index: the first hits more and is slower.
using Contradiction = std::pair<std::size_t, std::size_t>;

/// All distinct orders of one launch on one machine.
struct Launches {
  AttemptRow key;  ///< kernel, size, machine
  std::vector<Point> points;
  std::optional<double> pearson;  ///< of hit rate and time; nothing of fewer than three orders
  std::optional<double> spearman;
  std::size_t pairs = 0;  ///< of orders, that differ in both
  std::vector<Contradiction> contradictions;
};

/// Differences below these are none: the model's own grain, not a finding.
constexpr double kSameL2 = 0.001;    ///< of the hit rate
constexpr double kSameTime = 0.001;  ///< relative

std::vector<Launches> launches_of(const std::vector<AttemptRow>& rows);

/// Over all launches: points of hit rate gained against the logarithm of the time's ratio.
struct Pooled {
  std::size_t orders = 0;
  std::optional<double> pearson;
  std::optional<double> spearman;
};
Pooled pooled(const std::vector<Launches>& launches);

}  // namespace swizzleperf::study
