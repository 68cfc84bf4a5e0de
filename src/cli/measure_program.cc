// See measure_program.h. This is the full build's half: a program is bundled where LLVM is.
#include "cli/measure_program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "base/files.h"
#include "cli/bundle_options.h"
#include "cli/program_options.h"
#include "optimize/bundle.h"
#include "report/table.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

struct Options {
  ProgramOptions program;
  BundleOptions bundle;
};

measure::Bundle make(const Options& o, const CommonOptions& common) {
  if (common.swizzles.empty()) {
    throw usage_error(
        "measure compares a program with given orders: name some with --swizzle, or let "
        "`optimize --measure auto` find them");
  }
  const Machine machine = load_machine(common.machine);
  vgpu::ProgramSpec spec = program_spec(o.program, common, machine);
  BundleOptions where = o.bundle;
  if (where.directory.empty()) {
    where.directory = fresh_run_directory(fs::path(o.program.program).stem().string() + "-measure");
  }
  BundleRequest request = bundle_request(where, o.program, machine, spec, common.quiet);
  request.seed = common.seed;
  const BundleOutcome made = make_bundle(machine, common.swizzles, request);
  if (!common.quiet) {
    for (const std::string& note : made.notes) std::cerr << wrap(note + ".", output_width());
  }
  return made.bundle;
}

}  // namespace

std::shared_ptr<MeasuredProgram> declare_measured_program(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  const auto program = std::make_shared<MeasuredProgram>();
  const std::shared_ptr<ProgramOptions> shared(options, &options->program);
  declare_program_options(app, shared);
  app.get_option("program")->description(
      "A bundle's folder, or a HIP or CUDA source with a main, or an executable");
  declare_bundle_options(app, options->bundle);
  program->bundle = [options](const CommonOptions& common) { return make(*options, common); };
  program->name = [options]() -> const std::string& { return options->program.program; };
  return program;
}

}  // namespace swizzleperf
