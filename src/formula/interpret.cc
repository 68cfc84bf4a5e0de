// See interpret.h. Recursion is bounded because the parser bounds the depth of the tree.

#include "formula/interpret.h"

#include <fmt/format.h>

#include <algorithm>

#include "formula/arithmetic.h"

namespace swizzleperf {

Interpreter::Interpreter(const FormulaProgram& program, const LaunchShape& shape)
    : program_(program), shape_(shape), values_(program.slots.size()) {
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    values_[slot] = program.slots[slot].value;
  }
}

void Interpreter::fail(const Place& place, const std::string& sentence) const {
  throw FormulaError(place.line, place.column,
                     fmt::format("{} (at dispatch index {})", sentence, pid_));
}

std::int64_t Interpreter::block(std::uint64_t pid) {
  pid_ = pid;
  steps_ = 0;
  is_set_.assign(program_.slots.size(), 0);
  const auto inputs = input_values(shape_, pid);
  std::copy(inputs.begin(), inputs.end(), values_.begin());
  for (std::size_t slot = 0; slot < program_.slots.size(); ++slot) {
    is_set_[slot] = program_.slots[slot].kind != Slot::Kind::kVariable;
  }
  run(program_.body);
  if (program_.result == ResultKind::kLinear) return values_[kPid];
  const Dim3& grid = shape_.grid;
  const std::int64_t x = values_[kPidX];
  const std::int64_t y = values_[kPidY];
  const std::int64_t z = values_[kPidZ];
  if (x < 0 || y < 0 || z < 0 || x >= grid.x || y >= grid.y || z >= grid.z) return -1;
  return x + std::int64_t{grid.x} * (y + std::int64_t{grid.y} * z);
}

void Interpreter::spend(const Stmt& stmt) {
  steps_ += stmt.cost;
  if (steps_ > kMaxSteps) {
    throw EndlessFormula(
        stmt.place.line, stmt.place.column,
        fmt::format("more than {} steps for one block; bound the loop (at dispatch index {})",
                    kMaxSteps, pid_));
  }
}

Interpreter::Next Interpreter::run(const std::vector<StmtId>& stmts) {
  for (const StmtId id : stmts) {
    const Next next = run(program_.stmts[id]);
    if (next != Next::kGoOn) return next;
  }
  return Next::kGoOn;
}

Interpreter::Next Interpreter::run(const Stmt& stmt) {
  switch (stmt.kind) {
    case Stmt::Kind::kAssign:
      spend(stmt);
      values_[stmt.slot] = eval(stmt.expr);
      is_set_[stmt.slot] = 1;
      return Next::kGoOn;
    case Stmt::Kind::kIf:
      spend(stmt);
      return run(eval(stmt.expr) != 0 ? stmt.body : stmt.other);
    case Stmt::Kind::kLoop:
      return loop(stmt);
    case Stmt::Kind::kBreak:
      return Next::kBreak;
    case Stmt::Kind::kContinue:
      return Next::kContinue;
  }
  return Next::kGoOn;
}

Interpreter::Next Interpreter::loop(const Stmt& stmt) {
  for (;;) {
    spend(stmt);
    if (eval(stmt.expr) == 0) return Next::kGoOn;
    if (run(stmt.body) == Next::kBreak) return Next::kGoOn;
    run(stmt.other);
  }
}

std::int64_t Interpreter::eval(ExprId id) {
  const Expr& expr = program_.exprs[id];
  switch (expr.kind) {
    case Expr::Kind::kConstant:
      return expr.value;
    case Expr::Kind::kName:
      if (is_set_[expr.slot] == 0) {
        fail(expr.place,
             fmt::format("'{}' is read before it has a value", program_.slots[expr.slot].name));
      }
      return values_[expr.slot];
    case Expr::Kind::kAndThen:
      return eval(expr.a) != 0 && eval(expr.b) != 0 ? 1 : 0;
    case Expr::Kind::kOrElse:
      return eval(expr.a) != 0 || eval(expr.b) != 0 ? 1 : 0;
    case Expr::Kind::kChoose:
      return eval(expr.a) != 0 ? eval(expr.b) : eval(expr.c);
    case Expr::Kind::kApply:
      break;
  }
  const std::int64_t a = eval(expr.a);
  const std::int64_t b = is_unary(expr.op) ? 0 : eval(expr.b);
  std::int64_t result = 0;
  const Fault fault = apply(expr.op, a, b, result);
  if (fault != Fault::kNone) fail(expr.place, fault_sentence(fault, expr.op, a, b));
  return result;
}

}  // namespace swizzleperf
