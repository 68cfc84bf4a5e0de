// See program_options.h.
#include "cli/program_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "base/parallel.h"
#include "cli/values.h"
#include "launch/launch.h"
#include "report/progress.h"
#include "vgpu/toolchain/shell_build.h"

namespace swizzleperf {

void declare_program_options(CLI::App& app, const std::shared_ptr<ProgramOptions>& o) {
  app.add_option(
         "program", o->program,
         "A HIP or CUDA source with a main, a launch spec (.toml), an executable, or a trace")
      ->required();
  app.add_option("--build", o->build,
                 "A shell command that builds PROGRAM, with hipcc and nvcc standing for ours");
  add_choice<std::optional<vgpu::Language>>(
      app, "--language", o->language,
      {{"hip", vgpu::Language::kHip}, {"cuda", vgpu::Language::kCuda}},
      "hip or cuda: what a source is in (as its name says)");
  app.add_option("-X,--compile-option", o->compile_options,
                 "An option for the compiler, such as -X=-DN=4; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--launch", o->launch, "Which launch of the kernel, from 0 (the first)")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--threads", o->threads, "Threads to use (all cores)")->check(CLI::Range(1, 1024));
  app.add_option("--time-limit", o->time_limit_s, "Seconds the program may take (600)")
      ->check(seconds());
  app.add_option("--memory-limit", o->memory_limit_mb, "Megabytes the program may use (no limit)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--step-limit", o->step_limit, "Wave instructions a block may execute")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  app.add_flag("--every-block", o->every_block, "Run every block: extrapolate nothing");
}

namespace {

void check_program(const std::string& program) {
  constexpr const char* kGive =
      "give a HIP or CUDA source, a launch spec, an executable built for swizzleperf, or a trace";
  if (program.empty()) throw usage_error(fmt::format("the program's name is empty; {}", kGive));
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(program, error);
  if (std::filesystem::is_regular_file(status)) return;
  const bool missing = status.type() == std::filesystem::file_type::not_found;
  std::string what = "is no regular file";
  if (std::filesystem::is_directory(status)) what = "is a directory";
  if (missing) what = "no such file";
  if (!missing && error) what = error.message();
  throw input_error(fmt::format("{}: {}; {}", program, what, kGive));
}

/// What asks the compiler for something other than a program.
void check_compile_option(const std::string& option) {
  static constexpr std::array<std::string_view, 17> kOthers = {"-E",
                                                               "-S",
                                                               "-M",
                                                               "-MM",
                                                               "-c",
                                                               "-fsyntax-only",
                                                               "-###",
                                                               "--help",
                                                               "-help",
                                                               "--version",
                                                               "--precompile",
                                                               "--analyze",
                                                               "-dumpversion",
                                                               "-dumpmachine",
                                                               "-emit-llvm",
                                                               "-emit-ast",
                                                               "-x"};
  const bool other = std::find(kOthers.begin(), kOthers.end(), option) != kOthers.end() ||
                     option.starts_with("-print-") || option.starts_with("--print-") ||
                     option.starts_with("-o");
  if (other)
    throw usage_error(
        fmt::format("-X {}: the program is compiled and linked whole, so the compiler is not asked "
                    "for anything "
                    "else; leave it out",
                    option));
}

}  // namespace

vgpu::ProgramSpec program_spec(const ProgramOptions& o, const CommonOptions& common,
                               const Machine& machine) {
  if (!o.build.empty()) vgpu::run_build(o.build);
  check_program(o.program);
  vgpu::ProgramSpec spec;
  spec.program = o.program;
  spec.watch = [line = std::make_shared<std::optional<Progress>>(),
                quiet = common.quiet](const std::string& doing) {
    if (doing.empty()) return line->reset();
    if (!*line) line->emplace(quiet);
    (*line)->update(doing, 0);
  };
  spec.arguments = common.program_arguments;
  for (const std::string& option : o.compile_options) {
    // -X=-DN=4 arrives with its first '=': only long names lose it.
    spec.compile_options.push_back(option.starts_with('=') ? option.substr(1) : option);
    check_compile_option(spec.compile_options.back());
  }
  spec.language = o.language;
  spec.kernel_regex = common.kernel;
  spec.launch_index = o.launch;
  set_target(spec, machine);
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
