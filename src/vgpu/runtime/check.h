// Watching a whole launch: check/watch.h fed by the virtual GPU.
#pragma once

#include "swizzleperf/check.h"
#include "vgpu/runtime/modules.h"
#include "vgpu/runtime/request.h"

namespace swizzleperf::vgpu::runtime {

LaunchFindings check_launch(const Request& request, const Kernel& kernel, const Launch& launch);

}  // namespace swizzleperf::vgpu::runtime
