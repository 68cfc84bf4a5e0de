// A trace seen by one machine: the requests that reach L2, in cache lines, block by block.
//
// Three things happen on the way from bytes to L2 requests, all of them independent of the swizzle
// and therefore done once per trace and machine:
//   - a wave instruction's byte ranges become lines with sector masks (coalescing);
//   - blocks whose slots start at the same place inside a line and inside L1's set period, and at
//     the same distance from each other where they may meet, share one line template;
//   - the CU's L1 filters repeated loads. It is simulated for one block at a time with the block's
//     share of the capacity: blocks on one CU rarely share lines at the same moment, because
//     neighbours in dispatch order go to different CUs. Loads allocate, stores write through
//     without allocating, atomics bypass. Its sets are chosen by plain address bits and its lines
//     are as long as L2's, whatever the model says of L1's index and line.
#pragma once

#include <cstdint>
#include <vector>

#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

constexpr std::uint32_t kSectorBytes = 32;

/// One request to L2. 8 bytes: the exact replay streams these.
struct LineRequest {
  std::uint32_t line;  ///< relative to the slot's anchor line (modulo 2^32)
  std::uint16_t slot;
  AccessKind kind;
  std::uint8_t sectors;  ///< 32-byte sectors touched, bit 0 lowest
  bool operator==(const LineRequest&) const = default;
};

struct LineInterval {
  std::uint32_t request_end;
  Cost cost;
  /// Clocks that L1 is busy with what the interval loads and stores, hits included: one for each
  /// line of a wave instruction, more where its sectors take longer.
  double l1_clocks;
};

struct LineTemplate {
  std::vector<LineRequest> requests;
  std::vector<LineInterval> intervals;
  std::vector<std::uint16_t> slot_buffer;
  std::uint64_t l1_requests = 0;  ///< line requests of loads before L1
  std::uint64_t l1_hits = 0;
};

struct BlockLines {
  std::uint32_t template_index;
  std::uint64_t first_anchor;  ///< into LineTrace::anchors; one a slot
};

struct LineTrace {
  std::uint32_t line_bytes = 128;
  std::vector<LineTemplate> templates;
  std::uint32_t num_lines = 0;         ///< from the lowest buffer's first to the highest's last
  std::vector<std::uint32_t> anchors;  ///< line numbers, counted from the lowest buffer's line
  std::vector<BlockLines> blocks;      ///< by linear logical block
  std::vector<Buffer> buffers;
  Dim3 grid;
  std::uint64_t num_requests = 0;  ///< over all blocks
  std::uint64_t l1_requests = 0;
  std::uint64_t l1_hits = 0;
};

/// `blocks_per_cu` blocks share a CU's L1. Throws Error(kInput) when the arrays span 2^32 lines or
/// the trace leaves them.
LineTrace make_lines(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu);

}  // namespace swizzleperf
