// From "run one block" to the trace of a whole launch.
//
// `build_trace` decides which blocks must really be run. Blocks are grouped in regions (first,
// inner and last index of each axis); in each region a few are run, addresses are fitted as affine
// in the block index, and the fit is checked on blocks that were not used for it. A region whose
// check fails is run whole, on all cores.
#pragma once

#include <functional>

#include "trace/recorder.h"

namespace swizzleperf {

/// Runs one block and records it; called from several threads, each with its own recorder.
using RunBlock = std::function<void(const Dim3& block_index, BlockRecorder& recorder)>;

struct BuildOptions {
  unsigned threads = 2;
  bool extrapolate = true;
  std::uint64_t seed = 1;
};

/// Fills templates, patterns, anchors, blocks and method of `trace`, whose grid and buffers are
/// set.
void build_trace(Trace& trace, const RunBlock& run, const BuildOptions& options);

}  // namespace swizzleperf
