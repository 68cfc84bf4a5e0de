// Recognising a kernel that already remaps its blocks.
#pragma once

#include <vector>

#include "splice/reach.h"
#include "splice/splice.h"
#include "splice/unit.h"

namespace swizzleperf::splice {

/// Arithmetic on the block index, in the kernel and in what it calls, that looks like a swizzle.
std::vector<Remap> find_remaps(const Unit& unit, CXCursor kernel);

}  // namespace swizzleperf::splice
