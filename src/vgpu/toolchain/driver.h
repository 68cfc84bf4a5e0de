// The drop-in compilers, from their command line to their exit status.
#pragma once

#include <string>
#include <vector>

#include "vgpu/toolchain/command_line.h"

namespace swizzleperf::vgpu {

/// Behaves as the compiler of the dialect does; never throws.
int drive_compiler(Dialect dialect, int argc, char** argv);

}  // namespace swizzleperf::vgpu
