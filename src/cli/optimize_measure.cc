// See optimize_measure.h.
#include "cli/optimize_measure.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/values.h"
#include "measure/words.h"
#include "optimize/taken.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const char* const kGroup = "Bundle";

vgpu::Language traced_as(measure::Language language) {
  return language == measure::Language::kCuda ? vgpu::Language::kCuda : vgpu::Language::kHip;
}

/// The language that is asked for decides what the program is traced as.
void set_language(MeasureHow how, vgpu::ProgramSpec& spec) {
  if (how == MeasureHow::kCuda) spec.language = vgpu::Language::kCuda;
  if (how == MeasureHow::kHip) spec.language = vgpu::Language::kHip;
}

void check_together(const StageOptions& options, bool resume) {
  if (!options.measured.empty() && !resume) {
    throw usage_error(
        "--measured takes results into a run that was made before: name it with --resume");
  }
  if (options.how != MeasureHow::kNone && !options.measured.empty()) {
    throw usage_error(
        "--measure measures here, --measured takes what was measured elsewhere: "
        "give one of them");
  }
  const bool about_bundle =
      options.top || !options.bundle.project.empty() || !options.bundle.test.empty();
  if (about_bundle && options.how == MeasureHow::kNone && options.bundle.directory.empty()) {
    throw usage_error(
        "--top, --project and --test are about a bundle: name its folder with "
        "--bundle, or measure with --measure");
  }
}

std::string heading(const std::string& text) { return "\n" + text + "\n"; }

json bundle_json(const BundleOutcome& o) {
  return {{"directory", o.bundle.directory.string()},
          {"candidates", o.bundle.candidates.size()},
          {"notes", o.notes}};
}

std::string bundle_words(const BundleOutcome& o) {
  const std::size_t count = o.bundle.candidates.size();
  std::string text =
      heading("Bundle") +
      wrap(fmt::format("{} holds the program and {} to be built and measured on a machine with the "
                       "GPU: swizzleperf measure {}",
                       o.bundle.directory.string(),
                       count == 1 ? "an order" : fmt::format("the {} best orders", count),
                       o.bundle.directory.string()),
           output_width());
  for (const std::string& note : o.notes) text += wrap(note + ".", output_width(), 2);
  return text;
}

std::string taken_words(const std::string& patched, const fs::path& run_directory) {
  if (patched.empty()) {
    return wrap("On the GPU nothing gains, so there is no best.patch.", output_width());
  }
  return wrap(fmt::format("{} is the patch of the order that the GPU ran fastest.",
                          (run_directory / "best.patch").string()),
              output_width());
}

}  // namespace

void declare_stage_options(CLI::App& app, StageOptions& o) {
  add_choice<MeasureHow>(app, "--measure", o.how,
                         {{"none", MeasureHow::kNone},
                          {"auto", MeasureHow::kAuto},
                          {"cuda", MeasureHow::kCuda},
                          {"hip", MeasureHow::kHip}},
                         "Measure the best orders on the GPU of this machine: auto (if there is "
                         "one), cuda, hip, or none (none)")
      ->group("Measuring");
  app.add_option("--measured", o.measured,
                 "A bundle of the resumed run that was measured elsewhere: take its results")
      ->group("Measuring");
  declare_bundle_options(app, o.bundle);
  app.add_option("--top", o.top, "How many orders the bundle gets (5)")
      ->check(CLI::Range(1, 100))
      ->group(kGroup);
  declare_measure_options(app, o.measuring);
}

Stage plan_stage(const StageOptions& options, const ProgramOptions& program, const Machine& machine,
                 const fs::path& run_directory, bool resume, const CommonOptions& common,
                 vgpu::ProgramSpec& spec) {
  check_together(options, resume);
  Stage stage;
  stage.top = options.top.value_or(stage.top);
  const bool asks = options.how != MeasureHow::kNone;
  const bool bundled = !options.bundle.directory.empty();
  const fs::path own = run_directory / "bundle";
  if (!options.measured.empty()) {
    stage.measured = measure::read_bundle(options.measured);
    spec.language = traced_as(stage.measured->project.language);
  }
  if (!asks && !bundled) return stage;
  set_language(options.how, spec);
  vgpu::ProgramSpec measured_spec = spec;
  if (asks && !bundled && resume && fs::exists(own / "bundle.json")) {
    stage.made = measure::read_bundle(own);
    measured_spec.language = traced_as(stage.made->project.language);
  } else {
    BundleOptions where = options.bundle;
    if (!bundled) where.directory = own;
    stage.bundle = bundle_request(where, program, machine, measured_spec, common.quiet);
  }
  if (asks) {
    const measure::Settings settings =
        measure_settings(*options.measuring, common.seed, common.quiet);
    const measure::Language language = measured_spec.language == vgpu::Language::kCuda
                                           ? measure::Language::kCuda
                                           : measure::Language::kHip;
    stage.obstacle = measure::obstacle(language, !program.build.empty(), settings);
    if (stage.obstacle.empty()) stage.settings = settings;
    if (!stage.obstacle.empty() && options.how != MeasureHow::kAuto) {
      throw input_error(stage.obstacle);
    }
  }
  if (!bundled && !stage.settings) {
    stage.bundle.reset();
    return stage;
  }
  spec = measured_spec;
  return stage;
}

StageOutcome carry_out(const Stage& stage, OptimizeOutcome& run, const fs::path& run_directory) {
  StageOutcome outcome;
  const auto save = [&] { write_file(run_directory / "result.json", run.json.dump(2) + "\n"); };
  const auto take = [&](const measure::Results& results, const measure::Bundle& bundle) {
    outcome.patched = take_measured(run, bundle, results, run_directory);
    outcome.text += heading("Measured") + measure::console(results, bundle) +
                    taken_words(*outcome.patched, run_directory);
  };
  if (stage.measured) take(measured_of(run, *stage.measured), *stage.measured);
  if (stage.made && stage.settings) {
    take(measure::measure(*stage.made, *stage.settings), *stage.made);
  } else if (stage.bundle) {
    const BundleOutcome made = write_candidates(run, *stage.bundle, stage.top);
    run.json["bundle"] = bundle_json(made);
    save();
    if (stage.settings) {
      take(measure::measure(made.bundle, *stage.settings), made.bundle);
    } else {
      outcome.text += bundle_words(made);
    }
  }
  if (!stage.obstacle.empty()) {
    run.json["measured"] = nullptr;
    run.json["not_measured"] = stage.obstacle;
    save();
    outcome.text += heading("Not measured") + wrap(stage.obstacle + ".", output_width());
  }
  return outcome;
}

}  // namespace swizzleperf
