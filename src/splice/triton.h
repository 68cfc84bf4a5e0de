// The same for a Triton kernel: only the finder differs. Python's own parser, in the Python package
// (python/swizzleperf/splice.py), says which bytes to replace; the diff is made here.
#pragma once

#include "splice/splice.h"

namespace swizzleperf::splice {

/// compile_arguments are not used. Throws as splice() does. That the patched text compiles is shown
/// by whoever compiles it with Triton next.
SpliceResult splice_triton(const SpliceRequest& request);

}  // namespace swizzleperf::splice
