// The options with which several verbs say what to run: PROGRAM [options] [-- ARGUMENTS].
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "swizzleperf/machine.h"
#include "vgpu/run.h"

namespace swizzleperf {

struct ProgramOptions {
  std::string program;
  std::string build;                       ///< a shell command that makes the program first
  std::optional<vgpu::Language> language;  ///< of a source; none: as its name says
  std::vector<std::string> compile_options;
  std::int64_t launch = -1;
  unsigned threads = 0;
  double time_limit_s = 600;
  std::uint64_t memory_limit_mb = 0;
  std::uint64_t step_limit = 0;
  bool every_block = false;
};

void declare_program_options(CLI::App& app, const std::shared_ptr<ProgramOptions>& options);

/// What vgpu is asked; the machine gives the architecture. Throws Error(kInput): no such file.
vgpu::ProgramSpec program_spec(const ProgramOptions& options, const CommonOptions& common,
                               const Machine& machine);

unsigned threads_of(const ProgramOptions& options);

}  // namespace swizzleperf
