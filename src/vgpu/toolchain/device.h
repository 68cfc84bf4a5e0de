// The device half of a HIP source alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "vgpu/run.h"

namespace swizzleperf::vgpu {

struct DeviceCode {
  std::filesystem::path bitcode;
  std::vector<std::string> compile_command;
};

/// Compiles spec.program for the device into `directory`. Throws as build_program does.
DeviceCode compile_device(const ProgramSpec& spec, const std::filesystem::path& directory);

}  // namespace swizzleperf::vgpu
