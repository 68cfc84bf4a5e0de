// Predictions held against measurements: errors of points, figures over many, bounds.
//
// A figure (Statistic) is a function of the points of one source that a Selection picks. What to
// compute is code; which figures must stay within what is data, beside the measurements.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/data.h"

namespace swizzleperf::validate {

/// Of one launch in one order, by the model.
struct Predicted {
  double l2_hit_rate = 0;
  std::optional<double> llc_hit_rate;
  double dram_read_bytes = 0;
  double time_ms = 0;
  double bandwidth = 0;         ///< bytes asked of L2 a second
  std::string bound;            ///< the level that binds
  std::size_t permutation = 0;  ///< equal numbers within a launch: the same order of blocks
};

struct JudgedPoint {
  const MeasuredLaunch* launch = nullptr;
  const MeasuredPoint* point = nullptr;
  Predicted predicted;
  const JudgedPoint* identity = nullptr;  ///< the same launch as it is; none where not measured
  bool shown = true;                      ///< else only read as another's identity
};

/// Predicted minus measured; of a measured range, the distance to it. In points (0 to 100).
std::optional<double> l2_error(const JudgedPoint& p);
std::optional<double> llc_error(const JudgedPoint& p);
/// (predicted - measured) / measured.
std::optional<double> dram_error(const JudgedPoint& p);
/// Whether that counts: a profiler reads memory, too.
bool dram_counts(const Source& source, const JudgedPoint& p);
std::optional<double> predicted_speedup(const JudgedPoint& p);

/// Times of a launch's orders, where at least two were timed. Orders that are the same permutation
/// are one, measured several times: their median counts.
struct TimeRank {
  const MeasuredLaunch* launch = nullptr;
  double spread = 0;       ///< measured: slowest over fastest order, minus 1
  double correlation = 0;  ///< Spearman's, of predicted and measured times
};

/// Points of a source that a selection picks.
struct Group {
  const Source* source = nullptr;
  std::vector<const JudgedPoint*> points;
};
Group select(const Source& source, std::span<const JudgedPoint> points, const Selection& selection);

std::vector<TimeRank> time_ranks(const Group& group);

enum class Unit { kPoints, kShare, kCount, kCorrelation, kPercent };

struct Statistic {
  std::string_view name;  ///< in files and in JSON
  std::string_view words;
  Unit unit;
  std::optional<double> (*of)(const Group&);  ///< nothing where no point has what it needs
};

std::span<const Statistic> statistics();

/// Null for an unknown name.
const Statistic* find_statistic(std::string_view name);

struct BoundVerdict {
  const Bound* bound = nullptr;
  std::optional<double> value;
  std::optional<bool> holds;  ///< nothing where there is no value
};

BoundVerdict judge(const Bound& bound, const Source& source, std::span<const JudgedPoint> points);

}  // namespace swizzleperf::validate
