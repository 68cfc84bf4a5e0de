// From "run one block" to the trace of a whole launch.
//
// `build_trace` decides which blocks must really be run. Blocks are grouped in regions (first,
// inner and last index of each axis); in each region a few are run, addresses are fitted as affine
// in the block index, and the fit is checked on blocks that were not used for it. Blocks of a
// region whose check fails are predicted from a short prefix of each (see build.cc), checked
// likewise, or run whole, on all cores.
//
// What a check can miss. Of n blocks predicted together, as many are checked as a fraction of a
// second allows: all of them where blocks are short (20,000 blocks of 24 accesses), else at least
// sqrt(n) between 8 and 64, one at random in each of as many equal stretches of the block index.
// Everything about them must agree: addresses, masks, order, work. Blocks that behave differently
// are always seen if they fill a whole stretch; if they are k scattered ones, they go unseen with a
// probability of about (1 - k/n)^checks, and a single odd block among thousands of long ones mostly
// does. Where that matters, set `extrapolate` to false; TraceMethod says how many blocks were run
// and checked.
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

/// The same from blocks that were all run already, by linear index, with patterns of one table.
void build_trace(Trace& trace, const PatternTable& patterns, const std::vector<RawBlock>& blocks);

}  // namespace swizzleperf
