// The outcome of a validation, for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "validate/judge.h"
#include "validate/predict.h"

namespace swizzleperf::validate {

/// A source, judged.
struct SourceResult {
  const Source* source = nullptr;
  std::vector<JudgedPoint> points;        ///< by launch, then by order
  std::vector<PredictedLaunch> launches;  ///< by Source::launches
  std::vector<BoundVerdict> verdicts;     ///< by Source::bounds
};

/// Joins points with their launch's identity, and judges all bounds.
void finish(SourceResult& result);

/// Bounds for which there is no value do not count.
bool all_hold(std::span<const SourceResult> results);

/// {ok, summary, points} (docs/json.md).
nlohmann::ordered_json to_json(std::span<const SourceResult> results);

/// Columns of at most 100 characters.
std::string to_console(std::span<const SourceResult> results);

}  // namespace swizzleperf::validate
