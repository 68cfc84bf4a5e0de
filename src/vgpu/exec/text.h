// What printf makes of a message (wave.h) that a kernel composed.
#pragma once

#include <string>

#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {

/// The first piece is the format; every conversion takes a piece, which the compiler has widened to
/// 64 bits (or a string).
std::string formatted(const Message& message);

}  // namespace swizzleperf::vgpu
