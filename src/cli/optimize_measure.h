// Measuring as a stage of `optimize`: the bundle, and what a GPU says of it, here or elsewhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/bundle_options.h"
#include "cli/measure_options.h"

namespace swizzleperf {

enum class MeasureHow { kNone, kAuto, kCuda, kHip };

struct StageOptions {
  MeasureHow how = MeasureHow::kNone;
  std::string measured;            ///< a bundle of the resumed run that was measured elsewhere
  std::optional<std::size_t> top;  ///< candidates of the bundle
  BundleOptions bundle;
  std::shared_ptr<MeasureOptions> measuring = std::make_shared<MeasureOptions>();
};

void declare_stage_options(CLI::App& app, StageOptions& options);

/// What is to be done after the search; found out before it, so that what cannot be is said at
/// once.
struct Stage {
  std::optional<BundleRequest> bundle;
  std::size_t top = 5;
  std::optional<measure::Settings> settings;  ///< to measure with
  std::string obstacle;                       ///< why --measure auto measures nothing here
  std::optional<measure::Bundle> measured;
  std::optional<measure::Bundle> made;  ///< by an interrupted run, and to be measured
};

/// `spec` gets the language that is measured in. Throws Error(kInput) when --measure cuda or hip
/// cannot be done here, Error(kUsage) for options that do not go together.
Stage plan_stage(const StageOptions& options, const ProgramOptions& program, const Machine& machine,
                 const std::filesystem::path& run_directory, bool resume,
                 const CommonOptions& common, vgpu::ProgramSpec& spec);

/// What came of it.
struct StageOutcome {
  std::string text;                    ///< for people; "" where nothing was asked
  std::optional<std::string> patched;  ///< measured: the source to write; "": keep the order
};

/// Adds to the run's JSON and rewrites its result.json.
StageOutcome carry_out(const Stage& stage, OptimizeOutcome& run,
                       const std::filesystem::path& run_directory);

}  // namespace swizzleperf
