// What every block of a launch asks of global memory, in order, independent of where or when it
// runs.
//
// The problem is size: GEMM 8192^3 makes 134 million line requests. Two observations make a trace
// small enough to hold and to replay in milliseconds:
//   - what one wave instruction touches, relative to its lowest address, is one of a few *patterns*
//     (64 lanes x 16 bytes in rows of 128, say);
//   - blocks differ by where they start: the same sequence of patterns, shifted per array.
// So a block is (template, anchors): a template is a sequence of events (pattern, slot, offset), a
// slot names an array and how the block index moves it, an anchor is the byte address that a slot
// starts at in this block. Everything stays in bytes until a machine's line size is known
// (lines.h), so one trace serves every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "swizzleperf/grid.h"

namespace swizzleperf {

enum class AccessKind : std::uint8_t { kLoad = 0, kStore = 1, kAtomic = 2 };

/// Work between two events, summed over the waves of a block. Counts, not cycles: the machine model
/// turns them into time.
struct Cost {
  double instructions = 0;  ///< wave instructions of any kind
  double vector_ops = 0;    ///< lane operations, in 32-bit units (a packed half counts one half)
  double matrix_flops = 0;  ///< of matrix instructions (mfma, wmma)
  double lds_bytes = 0;     ///< moved to and from LDS
  Cost& operator+=(const Cost& other) {
    instructions += other.instructions;
    vector_ops += other.vector_ops;
    matrix_flops += other.matrix_flops;
    lds_bytes += other.lds_bytes;
    return *this;
  }
  bool operator==(const Cost&) const = default;
};

/// A run of consecutive bytes, relative to the lowest byte of its pattern.
struct ByteRange {
  std::uint32_t begin;
  std::uint32_t size;
  bool operator==(const ByteRange&) const = default;
};

/// One wave instruction's footprint: sorted, disjoint, not touching; the first begins at 0.
using Pattern = std::vector<ByteRange>;

struct Event {
  std::int64_t offset;    ///< of the pattern's lowest byte from the slot's anchor
  std::uint32_t pattern;  ///< index into Trace::patterns
  std::uint16_t slot;     ///< index into the template's slots
  AccessKind kind;
  std::uint8_t wave = 0;  ///< wave of the block that made it, modulo 256
  bool operator==(const Event&) const = default;
};

/// A stretch of a block's events after which all its waves meet (a barrier), or a fixed number of
/// events where there is no barrier.
struct Interval {
  std::uint32_t event_end;  ///< one past its last event
  bool barrier;
  Cost cost;
  bool operator==(const Interval&) const = default;
};

struct Template {
  std::vector<Event> events;
  std::vector<Interval> intervals;
  std::vector<std::uint16_t> slot_buffer;  ///< slot -> index into Trace::buffers
  bool operator==(const Template&) const = default;
};

struct BlockTrace {
  std::uint32_t template_index;
  std::uint64_t first_anchor;  ///< index into Trace::anchors; one anchor a slot of its template
};

/// One array of the program, as the kernel sees it.
struct Buffer {
  std::string name;  ///< kernel argument ("arg 0 'A'") or allocation order ("allocation 3")
  std::uint64_t base;
  std::uint64_t bytes;
};

/// How the blocks were obtained, for the report: nothing is extrapolated unchecked.
struct TraceMethod {
  std::uint64_t blocks_run = 0;      ///< executed on the virtual GPU
  std::uint64_t blocks_checked = 0;  ///< of those, executed only to check an extrapolation
  std::uint64_t blocks_extrapolated = 0;
  double seconds = 0;
};

struct Trace {
  std::string program;  ///< what the user named
  std::string kernel;   ///< demangled
  std::string symbol;   ///< as compiled
  std::string arch;     ///< compiled for
  Dim3 grid;
  Dim3 block;
  std::uint32_t lds_bytes = 0;  ///< static + dynamic
  std::uint32_t vgprs = 0;      ///< per lane, accumulation registers included; 0 = unknown
  std::uint32_t sgprs = 0;
  std::vector<Buffer> buffers;
  std::vector<Pattern> patterns;
  std::vector<Template> templates;
  std::vector<std::int64_t> anchors;
  std::vector<BlockTrace> blocks;  ///< by linear logical block index
  TraceMethod method;
};

/// Writes beside and renames. Throws Error(kInput) when it cannot.
void write_trace(const Trace& trace, const std::filesystem::path& file);

/// Throws Error(kInput): not a trace, another version, truncated, inconsistent.
Trace read_trace(const std::filesystem::path& file);

bool is_trace_file(const std::filesystem::path& file);

}  // namespace swizzleperf
