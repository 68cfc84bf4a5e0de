// A patched module against the original, on sampled blocks of one launch.
#pragma once

#include "vgpu/runtime/modules.h"
#include "vgpu/runtime/request.h"

namespace swizzleperf::vgpu::runtime {

/// Patched block p must write the bytes that original block permutation[p] writes.
BlockComparison compare_launch(const Request& request, const Kernel& original,
                               const Launch& launch);

}  // namespace swizzleperf::vgpu::runtime
