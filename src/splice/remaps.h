// Recognising a kernel that already remaps its blocks.
#pragma once

#include <vector>

#include "splice/reach.h"
#include "splice/splice.h"
#include "splice/unit.h"

namespace swizzleperf::splice {

/// Arithmetic on the block index, in the kernel and in what it calls, that looks like a swizzle;
/// empty for a kernel that scales its block index or splits it into coordinates and no more.
std::vector<Remap> find_remaps(const Unit& unit, CXCursor kernel);

}  // namespace swizzleperf::splice
