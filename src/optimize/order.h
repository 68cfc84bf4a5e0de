// What the blocks' shared memory says about reordering them.
//
// A patch is proved to compute each block once and compared block by block, each block alone on the
// memory that the launch finds. That is all there is to compare where blocks leave each other's
// bytes alone; where they do not, somebody has to say so.
#pragma once

#include <string>
#include <vector>

#include "swizzleperf/check.h"

namespace swizzleperf {

/// One sentence each; none for independent blocks.
std::vector<std::string> order_warnings(const LaunchFindings& blocks);

}  // namespace swizzleperf
