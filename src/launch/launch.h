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

/// What the program is compiled for, and what it is told when it asks about its device.
void set_target(vgpu::ProgramSpec& spec, const Machine& machine);

/// Throws Error(kInput) when a block does not fit on a CU of the machine.
Launch place(Trace trace, Machine machine);

/// True for a file that can be patched and compiled (.hip, .cu, .cpp, .cc, .cxx, .py).
bool is_source(const std::filesystem::path& file);

/// Whether the kernel is written in Triton.
bool is_triton(const vgpu::ProgramSpec& spec);

/// Reads a trace file, or builds (if it is source) and runs the program to get one. `built`, if
/// given, receives what was built, inside `work_directory`. What the build has to say to the user
/// goes to stderr.
Trace obtain_trace(const vgpu::ProgramSpec& spec, const std::filesystem::path& work_directory,
                   std::optional<vgpu::BuiltProgram>* built);

}  // namespace swizzleperf
