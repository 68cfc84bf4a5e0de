// context: what a proposer is told of a kernel before it is asked for a swizzle.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/program_options.h"
#include "cli/values.h"
#include "cli/verb.h"
#include "context/context.h"

namespace swizzleperf {
namespace {

struct Options {
  ContextKind kind = ContextKind::kAware;
  Objective objective = Objective::kTime;
};

Outcome run(const Options& options, const ProgramOptions& program, const CommonOptions& common) {
  const Machine machine = load_machine(common.machine);
  const ScratchDirectory scratch;
  const vgpu::ProgramSpec spec = program_spec(program, common, machine);
  std::optional<vgpu::BuiltProgram> built;
  const Launch launch = place(obtain_trace(spec, scratch.path(), &built), machine);
  const KernelSource source = kernel_source(spec, built, launch.trace);
  const Context context = make_context(launch, {options.kind, source.text, source.name, common.seed,
                                                threads_of(program), options.objective});
  Outcome outcome;
  outcome.text = context.text + "\n# The language\n" + context.language;
  if (common.json) {
    nlohmann::ordered_json document = json_document();
    document["facts"] = context.facts;
    document["text"] = context.text;
    document["language"] = context.language;
    outcome.text = to_text(document);
  }
  return outcome;
}

}  // namespace

Verb context_verb() {
  return {"context",
          "Find, prove and apply a swizzle",
          "Print what a proposer is told of a kernel",
          "Examples:\n"
          "  swizzleperf context kernels/gemm/gemm.hip -- 4096 4096 4096\n"
          "  swizzleperf context gemm.trace -m h200 --context unaware\n"
          "aware: what was measured of the blocks' sharing, what binds, and what of the machine\n"
          "decides reuse. unaware: nothing of hardware or locality. overload: every number of the\n"
          "machine, the device attributes and the whole profile.",
          kMachine | kKernel | kSeed | kProgramArguments,
          [](CLI::App& app) -> Action {
            const auto options = std::make_shared<Options>();
            const auto program = std::make_shared<ProgramOptions>();
            declare_program_options(app, program);
            add_context(app, options->kind);
            add_objective(app, options->objective);
            return [options, program](const CommonOptions& common) {
              return run(*options, *program, common);
            };
          }};
}

}  // namespace swizzleperf
