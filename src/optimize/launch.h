// A program, made ready for asking what-if: traced, its occupancy known, its machine chosen.
#pragma once

#include <memory>
#include <optional>

#include "swizzleperf/formula.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/simulate.h"
#include "swizzleperf/trace.h"
#include "vgpu/run.h"

namespace swizzleperf {

/// A traced launch on a machine.
struct Launch {
  Trace trace;
  Machine machine;
  Occupancy occupancy;
  LaunchShape shape;
};

/// Throws Error(kInput) when a block does not fit on a CU of the machine.
Launch place(Trace trace, Machine machine);

/// True for a file that has to be compiled (.hip, .cu, .cpp, .cc, .cxx).
bool is_source(const std::filesystem::path& program);

/// Reads a trace file, or builds (if it is source) and runs the program to get one. `built`, if
/// given, receives what was built, inside `work_directory`.
Trace obtain_trace(const vgpu::ProgramSpec& spec, const std::filesystem::path& work_directory,
                   std::optional<vgpu::BuiltProgram>* built);

}  // namespace swizzleperf
