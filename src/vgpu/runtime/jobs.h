// What becomes of a launch: executed, recorded, compared, or only looked at.
#pragma once

#include <string>
#include <vector>

#include "swizzleperf/check.h"
#include "vgpu/runtime/modules.h"

namespace swizzleperf::vgpu::runtime {

/// Does with the launch what the request asks; does not return from the launch that was asked for.
void perform(const Kernel& kernel, const Launch& launch);

/// Every allocation, called after the kernel arguments that point into it.
std::vector<Buffer> buffers_of(const Kernel& kernel, const Launch& launch);

/// The arguments that point into allocations.
std::vector<PointerArgument> pointer_arguments(const Kernel& kernel, const Launch& launch);

/// Why a program that has ended did not make the launch that was asked for, as a sentence.
std::string launch_not_reached();

}  // namespace swizzleperf::vgpu::runtime
