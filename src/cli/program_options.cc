// See program_options.h.
#include "cli/program_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/parallel.h"

namespace swizzleperf {

void declare_program_options(CLI::App& app, const std::shared_ptr<ProgramOptions>& o) {
  app.add_option("program", o->program, "A HIP source with a main, an executable, or a trace")
      ->required();
  app.add_option("-X,--compile-option", o->compile_options,
                 "An option for the compiler, such as -X=-DN=4; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--launch", o->launch, "Which launch of the kernel, from 0 (the first)")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--threads", o->threads, "Threads to use (all cores)")->check(CLI::Range(1, 1024));
  app.add_option("--time-limit", o->time_limit_s, "Seconds the program may take (600)")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-limit", o->memory_limit_mb, "Megabytes the program may use (no limit)");
  app.add_option("--step-limit", o->step_limit, "Wave instructions a block may execute");
  app.add_flag("--every-block", o->every_block, "Run every block: extrapolate nothing");
}

vgpu::ProgramSpec program_spec(const ProgramOptions& o, const CommonOptions& common,
                               const Machine& machine) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(o.program, error)) {
    throw input_error(
        fmt::format("{}: no such file; give a HIP source, an executable built for "
                    "swizzleperf, or a trace",
                    o.program));
  }
  vgpu::ProgramSpec spec;
  spec.program = o.program;
  spec.arguments = common.program_arguments;
  spec.compile_options = o.compile_options;
  spec.kernel_regex = common.kernel;
  spec.launch_index = o.launch;
  if (machine.vendor == "amd") spec.arch = machine.arch;
  spec.time_limit_s = o.time_limit_s;
  spec.memory_limit_bytes = o.memory_limit_mb << 20;
  spec.step_limit = o.step_limit;
  spec.threads = threads_of(o);
  spec.extrapolate = !o.every_block;
  return spec;
}

unsigned threads_of(const ProgramOptions& options) {
  return options.threads != 0 ? options.threads : default_threads();
}

}  // namespace swizzleperf
