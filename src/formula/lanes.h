// The fast evaluator's machine: straight-line code over many blocks at once.
//
// For one launch almost everything a formula computes is a constant (grid, die count, chunk sizes),
// and what remains is a short list of operations on `pid` without a branch. So a formula is
// specialised for a launch (specialise.h) into lane code, and lane code runs over batches of
// blocks, one tight loop an operation, each loop over arrays that stay in the first-level cache:
//
//     registers   r0 = [ pid of lane 0 | pid of lane 1 | ... | pid of lane 511 ]
//                 r1 = [ r0 / 8 ...                                           ]
//
// The compiler vectorises each loop. When the specialiser proved that every intermediate value fits
// 32 bits, lanes are 32 bits wide and eight or sixteen blocks go through one instruction.
//
// Division is the only slow operation. Vector units have none for integers but a good one for
// floats, and a correctly rounded float quotient of integers truncates to the right integer as long
// as the dividend has fewer bits than the significand: the true quotient is then further from the
// next integer than rounding can carry it.
#pragma once

#include <cstdint>
#include <vector>

namespace swizzleperf {

enum class LaneOp : std::uint8_t {
  kPid,       ///< the dispatch index
  kConstant,  ///< filled in once a launch
  kAdd,
  kSub,
  kMul,
  kDivFloat,   ///< |dividend| < 2^23
  kDivDouble,  ///< |dividend| < 2^51
  kDivInt,
  kShl,
  kShr,
  kAnd,
  kOr,
  kXor,
  kLess,
  kLessEqual,
  kEqual,
  kMin,
  kMax,
  kIlog2,
  kSelect,         ///< a ? b : c
  kCheckPositive,  ///< stops the launch if a lane of a is not above zero
};

struct LaneInstr {
  LaneOp op;
  std::uint16_t to = 0;
  std::uint16_t a = 0, b = 0, c = 0;
  std::int64_t value = 0;  ///< of a constant
};

struct LaneCode {
  std::vector<LaneInstr> constants;
  std::vector<LaneInstr> body;
  std::uint16_t num_registers = 0;
  std::uint16_t result = 0;
  bool narrow = false;  ///< all values fit 32 bits
};

/// targets[p] = the code's result for p in [0, count). False if a check stopped it; the contents of
/// `targets` are then meaningless.
bool run_lanes(const LaneCode& code, std::uint64_t count, std::int64_t* targets);

}  // namespace swizzleperf
