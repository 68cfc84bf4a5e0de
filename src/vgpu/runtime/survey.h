// Which kernel a job is about, when the user did not say or not exactly.
#pragma once

#include <string>

#include "vgpu/runtime/modules.h"

namespace swizzleperf::vgpu::runtime {

/// On the program's first launch: the symbol of the kernel to take, "" when the launch index counts
/// all kernels. Ends the process with a sentence when the request matches no kernel or several.
/// Returns twice when the program must be looked at first: see survey.cc.
std::string choose_kernel();

/// True in the process that looks ahead.
bool surveying();

/// There: reports the launch instead of executing it.
void survey(const Kernel& kernel, const Launch& launch);

}  // namespace swizzleperf::vgpu::runtime
