// What a kernel is translated into: blocks of wave-wide operations over registers.
//
// A register holds one scalar of the IR for a whole wave. It is *divergent*: an array of 64 lanes
// of 1, 2, 4 or 8 bytes (an i1: 64 bits); or *uniform*: one value in an 8-byte slot (an i1: 0 or
// all ones, so that mask arithmetic does not care which it gets). Vectors and structs of the IR are
// several registers, so taking them apart costs nothing.
//
// An operand is the register's byte offset in the wave's register file; offsets are multiples of 8
// and bit 0 says "uniform". An operation carries the address of the code that executes it: the
// interpreter's loop is a call per operation, which costs about 2 ns against 64 lanes of work, and
// an operation is added without touching the loop.
//
// Control flow is not a stack of reconvergence points. Blocks are numbered such that every forward
// edge goes up and every loop is contiguous with its latch last; lanes that go to a block wait
// there in its *pending* mask, and the lowest pending block runs next. Lanes thereby meet again at
// the earliest block they share (a stack of post-dominators would let lanes that take `continue`
// run iterations ahead of those still in the body when the body can also `break`, which the
// uniformity analysis assumes never happens). Within one iteration of a loop a block runs once,
// with all lanes that come to it. So a value may be computed for all 64 lanes whatever the mask:
// nobody still needs the old one. The exceptions are phis, whose moves are masked, and memory,
// which is guarded; values leave loops through phis only (LCSSA form).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "swizzleperf/trace.h"

namespace swizzleperf::vgpu {

constexpr std::uint32_t kLanes = 64;  // of a register; a 32-lane wave leaves the upper half alone

/// The element type of an operation. Registers themselves only know their size.
enum class Type : std::uint8_t { kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64, kMask };
constexpr std::size_t kTypes = 9;

constexpr std::uint32_t size_of(Type type) {
  switch (type) {
    case Type::kI8:
      return 1;
    case Type::kI16:
    case Type::kF16:
    case Type::kBF16:
      return 2;
    case Type::kI32:
    case Type::kF32:
      return 4;
    default:
      return 8;
  }
}

struct Wave;
struct Op;
using Handler = void (*)(Wave&, const Op&);

struct Op {
  Handler run = nullptr;
  std::uint32_t d = 0;  ///< destination register
  std::uint32_t a = 0;  ///< operands; memory operations: a = address
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::int64_t imm = 0;
  std::int64_t imm2 = 0;
  std::uint32_t list = 0;   ///< first of `count` registers in Program::lists
  std::uint32_t count = 0;  ///< elements of a memory access, lists of other operations
  std::uint32_t site = 0;   ///< memory: index of its last-hit allocation
  std::uint32_t bytes = 0;  ///< memory: per lane
};

constexpr std::uint32_t kUniformBit = 1;
constexpr bool is_uniform(std::uint32_t operand) { return (operand & kUniformBit) != 0; }

/// How a block hands on its lanes.
enum class BlockEnd : std::uint8_t {
  kJump,
  kBranch,
  kUniformBranch,
  kBarrier,
  kGridBarrier,
  kReturn
};

struct Edge {
  std::uint32_t block = 0;
  std::uint32_t move_begin =
      0;  ///< operations that set the target's phis, run under the edge's mask
  std::uint32_t move_end = 0;
};

/// Where an operation comes from.
struct Location {
  std::uint32_t file = 0;  ///< index into Program::files
  std::uint32_t line = 0;  ///< 0 = unknown
  bool atomic = false;     ///< of an instruction that is atomic (loads and stores may be)
  bool returns = false;    ///< whose result is used
};

struct Block {
  std::uint32_t op_begin = 0;
  std::uint32_t op_end = 0;
  BlockEnd exit = BlockEnd::kReturn;
  std::uint32_t condition = 0;
  Edge edge[2];  ///< taken, not taken
  // Cost of one execution by a wave, of the block as the compiler wrote it (not of what is left of
  // it in address mode). The last two are per active lane.
  double instructions = 0;
  double matrix_flops = 0;
  double lane_ops = 0;
  double lane_lds_bytes = 0;
  bool waits = false;  ///< the head of a loop that may wait for what another wave does
  Location location;
};

/// One translation of one kernel.
struct Program {
  std::uint64_t id = 0;  ///< never 0, never reused: what a thread prepared itself for
  std::string kernel;    ///< demangled, for messages
  std::vector<Op> ops;
  std::vector<Location> locations;  ///< by op
  std::vector<std::string> files;
  std::vector<Block> blocks;  ///< entry first, in execution priority
  std::vector<std::uint32_t> lists;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  ///< uniform slot, value
  std::uint32_t register_bytes = 0;
  std::uint32_t sites = 0;
  std::uint32_t static_lds_bytes = 0;
  std::uint32_t private_bytes = 0;  ///< per lane
  std::uint32_t wave_lanes = 64;
};

}  // namespace swizzleperf::vgpu
