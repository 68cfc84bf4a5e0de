// study: many runs of optimize, and what they say together; or every order of one small launch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/parallel.h"
#include "cli/program_options.h"
#include "cli/verb.h"
#include "report/table.h"
#include "study/falsifier.h"
#include "study/falsifier_report.h"
#include "study/report.h"
#include "study/study.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

struct FalsifierOptions {
  bool asked = false;
  ProgramOptions program;
  std::string directory;
};

struct Options {
  std::string file;
  std::string run_directory;
  std::string resume;
  unsigned threads = 0;
  std::string misplaced;  ///< an option of falsifier alone
  FalsifierOptions falsifier;
};

Outcome run_falsifier(const FalsifierOptions& options, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  const Launch launch =
      place(obtain_trace(program_spec(options.program, common, machine), scratch.path(), nullptr),
            machine);
  const std::string name = fs::path(options.program.program).stem().string();
  const fs::path directory = options.directory.empty()
                                 ? fs::path("swizzleperf-studies") / ("falsifier-" + name)
                                 : fs::path(options.directory);
  const study::Falsified f =
      study::falsify(launch, {directory, threads_of(options.program), common.seed, common.quiet});
  nlohmann::ordered_json document = json_document();
  document.update(study::to_json(launch, f));
  write_file(directory / "result.json", to_text(document));
  write_file(directory / "histogram.csv", study::histogram_csv(f));
  write_file(directory / "histogram.svg", study::histogram_svg(launch, f));
  if (common.json) return {to_text(document)};
  const std::string replays = f.replayed == 0
                                  ? std::string("Nothing was left to replay")
                                  : fmt::format("{} replays in {:.1f} s", f.replayed, f.seconds);
  return {study::in_words(launch, f) +
          wrap(fmt::format("\n{}; {} holds result.json, histogram.csv and histogram.svg.", replays,
                           directory.string()),
               output_width())};
}

Outcome run(const Options& options, const CommonOptions& common) {
  if (options.falsifier.asked) {
    if (!options.file.empty())
      throw usage_error(
          fmt::format("'{}' is one argument too many for study falsifier; the "
                      "program's own arguments go behind --",
                      options.file));
    if (!options.resume.empty())
      throw usage_error("study falsifier goes on by itself in its --run-dir: leave --resume out");
    return run_falsifier(options.falsifier, common);
  }
  if (!options.misplaced.empty() || !common.program_arguments.empty())
    throw usage_error(
        fmt::format("study takes {} from its file; only study falsifier has it here",
                    options.misplaced.empty() ? "a program's arguments" : options.misplaced));
  if (!options.resume.empty() && !options.run_directory.empty())
    throw usage_error("--resume names the study's directory itself: leave --run-dir out");
  study::StudyRequest request;
  request.study =
      study::read_study(options.file.empty() ? study::default_study() : fs::path(options.file));
  const std::string name = request.study.file.stem().string();
  request.resume = !options.resume.empty();
  request.directory = request.resume                  ? fs::path(options.resume)
                      : options.run_directory.empty() ? fs::path("swizzleperf-studies") / name
                                                      : fs::path(options.run_directory);
  request.threads = options.threads != 0 ? options.threads : default_threads();
  request.quiet = common.quiet;
  std::vector<study::AttemptRow> rows;
  for (const study::Finished& f : study::run_study(request)) {
    const std::vector<study::AttemptRow> more = study::rows_of(request.study, f);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const study::Report report = study::make_report(name, rows);
  study::write_report(report, request.directory);
  Outcome outcome;
  outcome.text = report.table_md + fmt::format("\nWritten to {}.\n", request.directory.string());
  if (common.json) {
    nlohmann::ordered_json document = json_document();
    document["directory"] = request.directory.string();
    document.update(report.json);
    outcome.text = to_text(document);
  }
  return outcome;
}

}  // namespace

Verb study_verb() {
  return {"study",
          "Find, prove and apply a swizzle",
          "Compare proposers and contexts over many kernels",
          "Examples:\n"
          "  swizzleperf study                          the suite: search and an expert's rules\n"
          "  swizzleperf study mine.toml --run-dir mine\n"
          "  swizzleperf study mine.toml --resume mine  after an interruption\n"
          "docs/study.md says what a study file holds. The directory keeps a run of optimize for\n"
          "each configuration, attempts.csv (a row an attempt), table.md and table.csv (a row a\n"
          "configuration), contradictions.csv, and two pictures. A configuration that cannot be\n"
          "run is a row with its reason; the exit code is 0 all the same.\n"
          "  swizzleperf study falsifier kernels/gemm/gemm.hip -- 512 512 256\n"
          "replays every way of dealing the blocks of a small launch to the dies (16 blocks on 8\n"
          "dies: 2,027,025) and looks for one with more L2 hits that is slower; a killed run goes\n"
          "on when it is started again. The common options --machine, --kernel and --seed are its.",
          kMachine | kKernel | kSeed | kProgramArguments,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<Options>();
            app.add_option("file", options->file, "A study file (.toml); the suite's without one");
            app.add_option("--run-dir", options->run_directory,
                           "Where to keep the study (swizzleperf-studies/NAME)");
            app.add_option("--resume", options->resume, "Continue the study in this directory");
            app.add_option("--threads", options->threads,
                           "Configurations at once (as many as there are cores)")
                ->check(CLI::Range(1, 1024));
            app.callback([&app, options] {
              for (const char* name : {"--machine", "--kernel", "--seed"})
                if (app.count(name) > 0) options->misplaced = name;
            });
            FalsifierOptions& own = options->falsifier;
            CLI::App* falsifier = app.add_subcommand(
                "falsifier", "Every way to deal a small launch's blocks to dies");
            falsifier->fallthrough()->callback([options] { options->falsifier.asked = true; });
            declare_program_options(*falsifier, {options, &own.program});
            falsifier->add_option("--run-dir", own.directory,
                                  "Where to keep the run (swizzleperf-studies/falsifier-NAME)");
            return [options](const CommonOptions& common) { return run(*options, common); };
          }};
}

}  // namespace swizzleperf
