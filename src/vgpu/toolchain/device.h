// A source by itself, as the drop-in compilers would take it.
#pragma once

#include "vgpu/run.h"

namespace swizzleperf::vgpu {

/// The unit that spec.program, a source, is; its kernels are not known before it is compiled.
Unit source_unit(const ProgramSpec& spec);

}  // namespace swizzleperf::vgpu
