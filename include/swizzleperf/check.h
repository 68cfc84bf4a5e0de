// What can be said about how the blocks of one launch share memory: the contract of `check`.
//
// A swizzle is right when it is a permutation, and a kernel may be swizzled when its blocks do not
// depend on each other. Both show in memory. A remap that is no permutation computes some tiles
// twice (two blocks make the same accesses) and others never (bytes stay unwritten); blocks that
// depend on each other read what another wrote, or overwrite what another read.
//
// Everything here is about the launch as it was run, with its sizes: unlike a proof over formulas
// it says nothing of other launches, but it needs to know nothing of the kernel either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "swizzleperf/grid.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;  ///< 0 = unknown
  bool operator==(const SourceLine&) const = default;
};

/// Bytes of an array; those of one example need not be adjacent, then `offset` is the first's.
struct Stretch {
  std::string buffer;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Bytes that block `second` stored over those of block `first` (dispatch indices).
struct Overlap {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  Stretch where;
  SourceLine first_line;
  SourceLine second_line;
};

struct Overlaps {
  std::uint64_t bytes = 0;        ///< each as often as it was stored again
  std::uint64_t blocks = 0;       ///< that stored over others' bytes
  std::vector<Overlap> examples;  ///< the first few, in dispatch order
};

/// Block `reader` reads what block `writer` writes in the same launch.
struct Meeting {
  std::uint64_t writer = 0;
  std::uint64_t reader = 0;
  Stretch where;
  SourceLine write_line;
  SourceLine read_line;
  bool overwritten = false;   ///< the reader came first: its value would change with the order
  std::optional<bool> waits;  ///< run alone the reader does not end; null = not tried
};

struct Meetings {
  std::uint64_t blocks = 0;  ///< that read, or overwrite, what belongs to another
  std::uint64_t pairs = 0;
  std::uint64_t bytes = 0;
  std::vector<Meeting> examples;
};

/// A pointer among the kernel's arguments, into one of the buffers.
struct PointerArgument {
  std::uint32_t index = 0;
  std::string name;  ///< "" = unknown
  std::uint64_t address = 0;
  std::uint32_t buffer = 0;
};

/// Bytes [begin, end) that a block wrote last, at device addresses.
struct WrittenRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t block = 0;
  bool operator==(const WrittenRun&) const = default;
};

struct LaunchFindings {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  double seconds = 0;
  std::uint64_t bookkeeping_bytes = 0;  ///< memory that watching took

  Overlaps repeated;   ///< blocks that make exactly the accesses of an earlier one
  Overlaps different;  ///< other stores over another block's, with other values
  Overlaps same;       ///< with the same values (halos, flags); all where values are unknown
  std::uint64_t blocks_without_own_bytes = 0;  ///< of those in `same`: every byte is another's too
  Meetings communication;
  Meetings ordered;  ///< behind an atomic that the writer had been at, and without waiting
  std::uint64_t atomic_bytes = 0;    ///< last written by atomics
  std::uint64_t ticket_blocks = 0;   ///< that use what an atomic returned after other blocks' ones
  std::uint64_t bytes_of_block = 0;  ///< that most blocks store; 0 = none or no typical number

  std::vector<Buffer> buffers;
  std::vector<PointerArgument> arguments;
  std::vector<WrittenRun> written;  ///< sorted, disjoint
};

/// From a trace, where values are unknown: `different` is empty, and `same` is not known to be so.
/// Source lines are unknown too.
LaunchFindings watch_trace(const Trace& trace);

// ---- What is missing ---------------------------------------------------------------------------

/// Never-written bytes of a range that should be written whole.
struct Unwritten {
  std::uint64_t bytes = 0;
  std::uint64_t runs = 0;
  std::uint64_t first_offset = 0;  ///< from the beginning of the range
  std::uint64_t first_bytes = 0;
};

/// Of [begin, end).
Unwritten unwritten(const LaunchFindings& findings, std::uint64_t begin, std::uint64_t end);

/// What a launch writes of one array.
struct WrittenArray {
  std::uint32_t buffer = 0;
  std::uint64_t bytes = 0;   ///< written
  Unwritten between;         ///< holes between its first and its last written byte
  std::uint64_t before = 0;  ///< bytes in front of the first
  std::uint64_t behind = 0;  ///< bytes behind the last
};
std::vector<WrittenArray> written_arrays(const LaunchFindings& findings);

struct LostBlock {
  std::uint64_t block = 0;  ///< of the reference
  Stretch where;            ///< what of its bytes is never written
};

/// A launch against one that is known to be complete.
struct ReferenceVerdict {
  std::uint64_t blocks = 0;       ///< of the reference that wrote anything
  std::uint64_t lost_blocks = 0;  ///< of which not one byte was written
  std::uint64_t partly_lost = 0;  ///< of which some bytes were not
  std::uint64_t lost_bytes = 0;
  std::uint64_t extra_bytes = 0;  ///< written, but not by the reference
  std::vector<LostBlock> examples;
  std::vector<std::string> unmatched;  ///< arrays of the reference that this launch does not have
};
/// Arrays are matched by argument name, then position, then by the array's name.
ReferenceVerdict compare_to_reference(const LaunchFindings& findings,
                                      const LaunchFindings& reference);

}  // namespace swizzleperf
