// From a launch spec to a program that can be run: the kernel's code and the description that
// swizzleperf-launch reads.
#pragma once

#include <filesystem>

#include "vgpu/run.h"
#include "vgpu/toolchain/launch_spec.h"

namespace swizzleperf::vgpu {

BuiltProgram build_spec_program(const ProgramSpec& spec, const std::filesystem::path& directory);

/// Only the kernel's code.
std::filesystem::path build_spec_device(const ProgramSpec& spec,
                                        const std::filesystem::path& directory);

}  // namespace swizzleperf::vgpu
