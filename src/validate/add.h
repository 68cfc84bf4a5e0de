// From a measured bundle to points that the model is judged by.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/results.h"

namespace swizzleperf::validate {

/// $SWIZZLEPERF_VALIDATION, else swizzleperf/validation in the user's data folder.
std::filesystem::path user_validation_directory();

struct Added {
  std::filesystem::path folder;  ///< the source that the points are in
  std::size_t points = 0;
  std::vector<std::string> notes;  ///< sentences: what could not be a point
};

/// Appends to the source DIRECTORY/MACHINE-measured, or begins it: a row for the original and for
/// each candidate that computed the same, and what reproduces them, with a copy of the program. A
/// launch or an order that is there already gets more rows, of which the middle one counts. Nothing
/// that is there is changed. Throws Error(kInput): validate could not trace it, nothing was
/// measured, the folder is not of this making.
Added add_bundle(const measure::Bundle& bundle, const measure::Results& results,
                 const std::filesystem::path& directory);

/// The bundle that a folder is or, of a run of optimize, holds. Throws Error(kInput).
measure::Bundle bundle_in(const std::filesystem::path& folder);

}  // namespace swizzleperf::validate
