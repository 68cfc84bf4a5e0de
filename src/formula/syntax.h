// A parsed formula: a flat syntax tree, which is also the program that everything else reads.
//
// The interpreter walks it, the specialiser turns it into lane operations for one launch, and the
// printers write it out again as kernel code. Nodes lie in vectors and name each other by index, so
// a tree is one allocation a kind, copies are cheap and no destructor recurses. Names are resolved
// to slots while parsing; nothing looks up a string afterwards.
//
// What the parser promises to the others, so that they need no checks of their own:
//   - expressions are pure (assignments are statements), at most kMaxDepth nodes deep;
//   - only kVariable and the four pid slots are ever assigned;
//   - `result` says which of the two kinds of result the text assigns.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "swizzleperf/formula.h"

namespace swizzleperf {

constexpr std::uint32_t kMaxTextBytes = 64 * 1024;
constexpr std::uint32_t kMaxDepth = 200;  ///< of nested expressions and statements
constexpr std::uint32_t kMaxSlots = 256;

struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

enum class Op : std::uint8_t {
  // Two operands.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kShl,
  kShr,
  kAnd,
  kOr,
  kXor,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kMin,
  kMax,
  kCdiv,
  // One operand.
  kNegate,
  kComplement,
  kNot,
  kAbs,
  kIlog2,
};

inline bool is_unary(Op op) { return op >= Op::kNegate; }
inline bool is_comparison(Op op) { return op >= Op::kLess && op <= Op::kNotEqual; }

using ExprId = std::uint32_t;
using StmtId = std::uint32_t;
using SlotId = std::uint32_t;

struct Expr {
  enum class Kind : std::uint8_t {
    kConstant,  ///< value
    kName,      ///< slot
    kApply,     ///< op(a) or op(a, b)
    kAndThen,   ///< a && b, b evaluated only if a holds
    kOrElse,    ///< a || b, b evaluated only if a does not hold
    kChoose,    ///< a ? b : c
  };
  Kind kind;
  Op op = Op::kAdd;
  std::uint16_t depth = 1;
  Place place;
  SlotId slot = 0;
  ExprId a = 0, b = 0, c = 0;
  std::int64_t value = 0;
};

struct Stmt {
  enum class Kind : std::uint8_t {
    kAssign,  ///< slot = expr
    kIf,      ///< if (expr) body else other
    kLoop,    ///< while (expr) { body; other } where `continue` goes on at other
    kBreak,
    kContinue,
  };
  Kind kind;
  Place place;
  SlotId slot = 0;
  ExprId expr = 0;
  std::uint32_t cost = 1;  ///< steps that executing it takes: one, and one a node of `expr`
  std::vector<StmtId> body;
  std::vector<StmtId> other;
  std::string comment;  ///< the comment lines just above it, without their slashes
};

/// The inputs have the first slots, in this order.
enum Input : SlotId {
  kPid,
  kPidX,
  kPidY,
  kPidZ,
  kNumPidX,
  kNumPidY,
  kNumPidZ,
  kNumBlocks,
  kNumXcds,
  kCusPerXcd,
  kNumInputs,
};

struct Slot {
  enum class Kind : std::uint8_t { kInput, kParameter, kVariable };
  std::string name;
  Kind kind;
  std::int64_t value = 0;  ///< of a parameter
};

enum class ResultKind : std::uint8_t { kLinear, kAxes };

struct FormulaProgram {
  std::string text;
  std::vector<Slot> slots;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<StmtId> body;
  ResultKind result = ResultKind::kLinear;
};

/// Parses; throws FormulaError. Formula::parse is this plus sharing.
FormulaProgram parse_formula(std::string_view text, const Params& params);

/// Parses a condition (one expression over the launch, no pid) as the program `pid = condition`.
FormulaProgram parse_condition(std::string_view text);

/// The values of the inputs for the block at dispatch index `pid`.
inline std::array<std::int64_t, kNumInputs> input_values(const LaunchShape& shape,
                                                         std::uint64_t pid) {
  const Dim3 at = unlinear(pid, shape.grid);
  return {static_cast<std::int64_t>(pid),
          at.x,
          at.y,
          at.z,
          shape.grid.x,
          shape.grid.y,
          shape.grid.z,
          static_cast<std::int64_t>(shape.grid.count()),
          shape.num_xcds,
          shape.cus_per_xcd};
}

}  // namespace swizzleperf
