// The build for GPU nodes: what it has in the place of registry.cc, doctor_planning.cc and
// measure_program.cc, which need LLVM, libclang, curl or Python.
#include <CLI/CLI.hpp>

#include "cli/finding.h"
#include "cli/measure_program.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

Verb doctor_verb();
Verb machines_verb();
Verb measure_verb();
Verb verify_verb();

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {measure_verb(), verify_verb(), machines_verb(),
                                        doctor_verb()};
  return all;
}

const char* what_all_is_for() { return "To prove"; }

std::vector<Finding> planning_findings() { return {}; }

std::shared_ptr<MeasuredProgram> declare_measured_program(CLI::App& app) {
  const auto folder = std::make_shared<std::string>();
  const auto program = std::make_shared<MeasuredProgram>();
  app.add_option("bundle", *folder, "The folder that `optimize --bundle` wrote")->required();
  program->name = [folder]() -> const std::string& { return *folder; };
  program->bundle = [folder](const CommonOptions&) -> measure::Bundle {
    throw input_error(
        fmt::format("{}: no such folder; this build for GPU nodes measures bundles, which "
                    "'optimize --bundle DIR' and 'measure' of the whole swizzleperf make",
                    *folder));
  };
  return program;
}

}  // namespace swizzleperf
