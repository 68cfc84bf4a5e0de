// validate: what the model says of every measured point, what the hardware said, and the error;
// then whether the model keeps within its bounds.
//
// Measurements, the split into points to fit and points to judge, and the bounds are data
// (validation/); so is nothing of the model in here. Launches are replayed one after the other, the
// orders of one on all cores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "measure/results.h"
#include "report/progress.h"
#include "report/table.h"
#include "validate/add.h"
#include "validate/judge.h"
#include "validate/predict.h"
#include "validate/report.h"

namespace swizzleperf {
namespace {

struct Options {
  std::string machine;
  std::string launch;
  bool fitted = false;
  bool judged = false;
  bool exact = false;
  bool measured_occupancy = false;
  std::string traces;
  std::string json_file;
  unsigned threads = 0;
  std::string add;
  std::string to;
};

/// A machine file stands for the machine that it is named after.
std::string name_of_machine(const std::string& machine) {
  return machine.ends_with(".toml") ? std::filesystem::path(machine).stem().string() : machine;
}

bool wanted(const Options& options, const validate::MeasuredPoint& point) {
  return !(options.fitted && !point.fitted) && !(options.judged && point.fitted);
}

/// Drops what was not asked for; launches are dropped whole, since a point needs its identity.
std::vector<validate::Source> wanted_sources(const Options& options) {
  std::vector<validate::Source> sources = validate::read_sources(validate::validation_directory());
  if (const auto user = validate::user_validation_directory();
      user != validate::validation_directory() && std::filesystem::is_directory(user)) {
    for (validate::Source& s : validate::read_sources(user)) sources.push_back(std::move(s));
  }
  std::regex launch;
  try {
    launch = std::regex(options.launch);
  } catch (const std::regex_error&) {
    throw usage_error(fmt::format("--launch '{}' is not a regular expression", options.launch));
  }
  const std::string machine = name_of_machine(options.machine);
  std::erase_if(
      sources, [&](const validate::Source& s) { return !machine.empty() && machine != s.machine; });
  for (validate::Source& s : sources) {
    std::erase_if(s.launches, [&](const validate::MeasuredLaunch& l) {
      return !std::regex_search(l.name, launch) ||
             std::none_of(l.points.begin(), l.points.end(),
                          [&](const auto& p) { return wanted(options, p); });
    });
  }
  std::erase_if(sources, [](const validate::Source& s) { return s.launches.empty(); });
  if (sources.empty()) {
    throw usage_error(
        "no measured point is what --machine, --launch, --fitted and --judged leave; 'swizzleperf "
        "validate' without them shows all");
  }
  return sources;
}

/// The progress line: which launch of all, and what is done with it.
struct Said {
  Progress& progress;
  std::size_t all = 0;
  std::size_t done = 0;

  void operator()(const std::string& what) const {
    progress.update(fmt::format("launch {} of {}, {}", done + 1, all, what),
                    static_cast<double>(done) / static_cast<double>(all));
  }
};

validate::SourceResult validated(const validate::Source& source, const Options& options,
                                 const CommonOptions& common, const validate::TraceCache& traces,
                                 Said& said) {
  const bool by_file = options.machine.ends_with(".toml");
  const Machine machine = load_machine(by_file ? options.machine : source.machine);
  const validate::ReplaySettings settings = {
      options.exact, options.measured_occupancy,
      options.threads != 0 ? options.threads : default_threads(), common.seed};
  validate::SourceResult result{&source, {}, {}, {}};
  for (const validate::MeasuredLaunch& launch : source.launches) {
    validate::PredictedLaunch predicted = predict(source, launch, machine, traces, settings, said);
    for (std::size_t i = 0; i < launch.points.size(); ++i) {
      result.points.push_back({&launch, &launch.points[i], predicted.points[i], nullptr,
                               wanted(options, launch.points[i])});
    }
    result.launches.push_back(std::move(predicted));
  }
  validate::finish(result);
  return result;
}

Outcome add(const Options& options, const CommonOptions& common) {
  const measure::Bundle bundle = validate::bundle_in(options.add);
  const validate::Added added =
      validate::add_bundle(bundle, measure::read_results(bundle.directory),
                           options.to.empty() ? validate::user_validation_directory()
                                              : std::filesystem::path(options.to));
  if (common.json) {
    nlohmann::ordered_json document = json_document();
    document.update(
        {{"folder", added.folder.string()}, {"points", added.points}, {"notes", added.notes}});
    return {to_text(document)};
  }
  Outcome outcome;
  outcome.text =
      wrap(fmt::format("{} points were added to {}.", added.points, added.folder.string()),
           output_width());
  for (const std::string& note : added.notes) outcome.text += wrap(note + ".", output_width(), 2);
  return outcome;
}

Outcome run(const Options& options, const CommonOptions& common) {
  if (!options.add.empty()) return add(options, common);
  if (!options.to.empty()) throw usage_error("--to says where --add adds to: give both");
  const std::vector<validate::Source> sources = wanted_sources(options);
  const validate::TraceCache traces(options.traces.empty() ? validate::user_trace_directory()
                                                           : std::filesystem::path(options.traces));
  Progress progress(common.quiet);
  Said said{progress};
  for (const validate::Source& s : sources) said.all += s.launches.size();
  std::vector<validate::SourceResult> results;
  results.reserve(sources.size());
  for (const validate::Source& s : sources) {
    results.push_back(validated(s, options, common, traces, said));
  }
  progress.finish(fmt::format("{} launches replayed", said.all));

  nlohmann::ordered_json document = json_document();
  document.update(validate::to_json(results));
  if (!options.json_file.empty()) write_file(options.json_file, to_text(document));
  Outcome outcome;
  outcome.text = common.json ? to_text(document) : validate::to_console(results);
  outcome.exit = validate::all_hold(results) ? Exit::kDone : Exit::kCheckFailed;
  return outcome;
}

}  // namespace

Verb validate_verb() {
  return {
      "validate",
      "Look around",
      "Hold the model against measurements of real GPUs",
      "Examples:\n"
      "  swizzleperf validate                          every measured point and all bounds\n"
      "  swizzleperf validate -m h200 --judged         what nothing was fitted to\n"
      "  swizzleperf validate -m mi300x --launch transpose --exact\n"
      "  swizzleperf validate -m ./mi300x.toml         the same points, another model of it\n"
      "  swizzleperf validate --add my-bundle          its measurements are points from now on\n"
      "fit: whether the model's parameters may be fitted to a point. Exit code 1 when a bound "
      "does\n"
      "not hold. Traces are kept for the next time.",
      kSeed,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<Options>();
        app.add_option("-m,--machine", options->machine,
                       "One machine, by name or by a .toml file of that name (all)")
            ->group(kCommonGroup);
        app.add_option("--add", options->add, "Add what was measured of this bundle to the points");
        app.add_option("--to", options->to, "Where --add adds it (the user's data)");
        app.add_option("--launch", options->launch, "Launches, by regular expression (all)");
        CLI::Option* const fitted =
            app.add_flag("--fitted", options->fitted, "Points that may be fitted to");
        app.add_flag("--judged", options->judged, "Points that only judge")->excludes(fitted);
        app.add_flag("--exact", options->exact, "Replay every request, not a sample");
        app.add_flag("--measured-occupancy", options->measured_occupancy,
                     "Blocks a compute unit as measured, where known, not as compiled here");
        app.add_option("--save-traces", options->traces,
                       "Keep traces in this folder (the user's cache)");
        app.add_option("--json", options->json_file, "Write the result as JSON, too");
        app.add_option("-j,--threads", options->threads, "Threads to use (all cores)")
            ->check(CLI::Range(1, 1024));
        return [options](const CommonOptions& common) { return run(*options, common); };
      }};
}

}  // namespace swizzleperf
