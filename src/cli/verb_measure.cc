// measure: the original and candidates on a real GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/measure_options.h"
#include "cli/measure_program.h"
#include "cli/verb.h"
#include "measure/words.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

bool refused(const measure::Measured& m) { return m.status == measure::Status::kRefused; }

/// A candidate that fails is a finding; that all fail is a failed check.
Exit exit_of(const measure::Results& r) {
  const bool all =
      !r.candidates.empty() && std::all_of(r.candidates.begin(), r.candidates.end(), refused);
  return all ? Exit::kCheckFailed : Exit::kDone;
}

Outcome run(const MeasureOptions& options, const MeasuredProgram& program,
            const CommonOptions& common) {
  const bool is_bundle = fs::is_directory(program.name());
  const measure::Bundle bundle =
      is_bundle ? measure::read_bundle(program.name()) : program.bundle(common);
  const measure::Results results =
      measure::measure(bundle, measure_settings(options, common.seed, common.quiet));
  Outcome outcome;
  outcome.text =
      common.json
          ? measure::to_json(results, bundle)
                    .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n"
          : measure::console(results, bundle) +
                fmt::format("\nEverything is in {}.\n", (bundle.directory / "results").string());
  outcome.exit = exit_of(results);
  return outcome;
}

}  // namespace

Verb measure_verb() {
  return {
      "measure",
      "Confirm on a real GPU",
      "Compare and time candidates on a real GPU",
      "BUNDLE is what `optimize --bundle DIR` wrote; a PROGRAM is bundled first, with the\n"
      "swizzles given. Examples:\n"
      "  swizzleperf measure gemm-bundle\n"
      "  swizzleperf measure gemm.cu -m h200 -s grouped:height=8 -- 8192 8192 8192\n"
      "  swizzleperf measure ./gemm --build make -s grouped:height=8 --test 'make check'\n"
      "Original and candidates are built, held at the launch, compared (memory as it is, outputs\n"
      "poisoned, inputs shuffled), timed in turn and profiled: docs/measure.md. Exit code 0 also\n"
      "when nothing is faster; 1 when every candidate was refused; 3 when nothing can be\n"
      "measured here.",
      kMachine | kKernel | kSwizzles | kSeed | kProgramArguments,
      [](CLI::App& app) -> Action {
        const auto options = std::make_shared<MeasureOptions>();
        const auto program = declare_measured_program(app);
        declare_measure_options(app, options);
        return [options, program](const CommonOptions& common) {
          return run(*options, *program, common);
        };
      }};
}

}  // namespace swizzleperf
