// Formulas as Triton Python.
//
// Three things differ from C and decide how the text looks.
// Division. Triton's // and % on tensors round towards zero, as C's do, so the plain operators are
// right. On two compile-time constants they would be Python's, which round down; whatever is
// constant is therefore folded here and printed as a number.
// Types. A name keeps one type over branches and loops, so one type serves the whole function:
// int32 if every value of every grid below 2^31 blocks fits, else int64. Inputs are cast to it, and
// so is every constant that is assigned to a name. Control flow. `if` and `while` on scalar tensors
// exist, `break` and `continue` do not: a formula that needs them is refused. Names used after a
// branch must exist before it. Conditional expressions become tl.where, which computes both sides;
// the idle side's value is dropped, and GPU integer division by zero yields some value rather than
// a trap.

#include <fmt/format.h>

#include <algorithm>

#include "formula/printing.h"

namespace swizzleperf {
namespace {

constexpr std::string_view kReserved[] = {
    "and",    "as",    "assert", "async",  "await",    "break", "class",       "continue", "def",
    "del",    "elif",  "else",   "except", "finally",  "for",   "from",        "global",   "if",
    "import", "in",    "is",     "lambda", "nonlocal", "not",   "or",          "pass",     "raise",
    "return", "try",   "while",  "with",   "yield",    "tl",    "triton",      "nx",       "ny",
    "nz",     "range", "min",    "max",    "abs",      "print", "static_range"};

bool reserved_in_triton(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

struct Helper {
  std::string_view name;
  std::string_view text;  ///< {0} = the function's name
};

constexpr Helper kHelpers[] = {
    {"cdiv",
     "@triton.jit\ndef {0}_cdiv(a, b):\n    # a / b, rounded up\n"
     "    up = (a % b != 0) & ((a < 0) == (b < 0))\n    return tl.where(up, a // b + 1, a // b)\n"},
    {"ilog2",
     "@triton.jit\ndef {0}_ilog2(a):\n    # the position of the highest bit of a > 0\n"
     "    bits = a * 0\n    while a > 1:\n        a = a >> 1\n        bits = bits + 1\n"
     "    return bits\n"}};

bool is_condition(const Expr& expr) {
  return expr.kind == Expr::Kind::kAndThen || expr.kind == Expr::Kind::kOrElse ||
         (expr.kind == Expr::Kind::kApply && (is_comparison(expr.op) || expr.op == Op::kNot));
}

/// Expressions of one program; remembers which helpers they call.
class ExpressionPrinter {
 public:
  ExpressionPrinter(const FormulaProgram& program, const Inference& facts,
                    const std::vector<std::string>& names, const std::string& function,
                    std::string_view type, std::vector<std::string>& helpers)
      : program_(program),
        facts_(facts),
        names_(names),
        function_(function),
        type_(type),
        helpers_(helpers) {}

  /// As an integer.
  std::string value(ExprId id) {
    const Expr& expr = program_.exprs[id];
    if (is_folded(id)) return std::to_string(folded(id));
    if (is_condition(expr)) return fmt::format("tl.cast({}, {})", condition(id), type_);
    switch (expr.kind) {
      case Expr::Kind::kName:
        return names_[expr.slot];
      case Expr::Kind::kChoose:
        return fmt::format("tl.where({}, {}, {})", condition(expr.a), value(expr.b), value(expr.c));
      default:
        return is_unary(expr.op) ? unary(expr) : binary(expr);
    }
  }

  /// Whether Python would compute it: a constant, or made of nothing else.
  [[nodiscard]] bool is_compile_time(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    if (facts_.expr[id].is_constant()) return true;
    if (expr.kind == Expr::Kind::kConstant || expr.kind == Expr::Kind::kName) return false;
    return is_compile_time(expr.a) && is_compile_time(expr.b) &&
           (expr.kind != Expr::Kind::kChoose || is_compile_time(expr.c));
  }

  /// As something that `if` and tl.where take.
  std::string condition(ExprId id) {
    const Expr& expr = program_.exprs[id];
    if (is_folded(id)) return folded(id) != 0 ? "pid_x >= 0" : "pid_x < 0";
    if (!is_condition(expr)) return fmt::format("{} != 0", bracketed(id));
    if (expr.kind == Expr::Kind::kAndThen) return logical(expr, "and");
    if (expr.kind == Expr::Kind::kOrElse) return logical(expr, "or");
    if (expr.op == Op::kNot) return fmt::format("not ({})", condition(expr.a));
    return fmt::format("{} {} {}", operand(expr, expr.a, false), sign(expr.op),
                       operand(expr, expr.b, true));
  }

 private:
  /// Known at compile time and not just a name: printed as a number.
  [[nodiscard]] bool is_folded(ExprId id) const {
    return program_.exprs[id].kind != Expr::Kind::kName && is_compile_time(id);
  }

  /// What faults at compile time stands where no proved launch comes by.
  [[nodiscard]] std::int64_t folded(ExprId id) const {
    return facts_.expr[id].is_constant() ? facts_.expr[id].lo : 0;
  }

  /// Brackets whatever is not atomic; used where C's and Python's precedence differ.
  std::string bracketed(ExprId id) {
    const std::string text = value(id);
    const bool atomic = is_folded(id) ? folded(id) >= 0 : precedence(program_.exprs[id]) >= 12;
    return atomic || is_condition(program_.exprs[id]) ? text : "(" + text + ")";
  }

  std::string operand(const Expr& parent, ExprId id, bool right) {
    const Expr& expr = program_.exprs[id];
    if (is_folded(id) || is_condition(expr) || expr.kind == Expr::Kind::kChoose) {
      return is_folded(id) && folded(id) < 0 ? "(" + value(id) + ")" : value(id);
    }
    return needs_brackets(parent, expr, right) ? "(" + value(id) + ")" : value(id);
  }

  std::string logical(const Expr& expr, std::string_view op) {
    return fmt::format("({}) {} ({})", condition(expr.a), op, condition(expr.b));
  }

  std::string unary(const Expr& expr) {
    if (expr.op == Op::kAbs) return fmt::format("tl.abs({})", tensor(expr.a));
    if (expr.op == Op::kIlog2) return call("ilog2", {tensor(expr.a)});
    return fmt::format("{}{}", sign(expr.op), bracketed(expr.a));
  }

  std::string binary(const Expr& expr) {
    switch (expr.op) {
      case Op::kMin:
        return fmt::format("tl.minimum({}, {})", tensor(expr.a), tensor(expr.b));
      case Op::kMax:
        return fmt::format("tl.maximum({}, {})", tensor(expr.a), tensor(expr.b));
      case Op::kCdiv:
        return call("cdiv", {tensor(expr.a), tensor(expr.b)});
      default:
        break;
    }
    return fmt::format("{} {} {}", operand(expr, expr.a, false),
                       expr.op == Op::kDiv ? "//" : sign(expr.op), operand(expr, expr.b, true));
  }

  /// As an argument that must not be a Python number.
  std::string tensor(ExprId id) {
    if (!is_compile_time(id)) return value(id);
    return fmt::format("tl.cast({}, {})", value(id), type_);
  }

  std::string call(const std::string& helper, const std::vector<std::string>& arguments) {
    helpers_.push_back(helper);
    return fmt::format("{}_{}({})", function_, helper, fmt::join(arguments, ", "));
  }

  const FormulaProgram& program_;
  const Inference& facts_;
  const std::vector<std::string>& names_;
  const std::string& function_;
  std::string_view type_;
  std::vector<std::string>& helpers_;
};

bool fits_int32(const FormulaProgram& program, const Inference& facts) {
  if (program.body.empty()) return true;
  const auto fits = [](const Range& range) { return range.fits_int32(); };
  for (const Expr& expr : program.exprs) {
    const bool is_shift =
        expr.kind == Expr::Kind::kApply && (expr.op == Op::kShl || expr.op == Op::kShr);
    if (is_shift && !facts.expr[expr.b].within(0, 31)) return false;
  }
  return std::all_of(facts.expr.begin(), facts.expr.end(), fits) &&
         std::all_of(facts.slot.begin(), facts.slot.end(),
                     [&](const Range& r) { return r.lo > r.hi || fits(r); });
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Formula& formula, const PrintOptions& options)
      : options_(options),
        p_(prepare(formula, options, reserved_in_triton)),
        wide_(!fits_int32(p_.formula, p_.formula_facts) || !fits_int32(p_.guard, p_.guard_facts)),
        type_(wide_ ? "tl.int64" : "tl.int32"),
        expressions_(p_.formula, p_.formula_facts, p_.names, options.function, type_, helpers_) {}

  std::string run() {
    body();
    std::string out;
    for (const Helper& helper : kHelpers) {
      if (std::find(helpers_.begin(), helpers_.end(), helper.name) == helpers_.end()) continue;
      out += fmt::format(fmt::runtime(helper.text), options_.function) + "\n\n";
    }
    return out + out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(4 * depth_, ' ') + text + "\n"; }

  void comment(const std::string& text) {
    if (text.empty()) return;
    for (const std::string& l : comment_lines(text)) line(l.empty() ? "#" : "# " + l);
  }

  void body() {
    line("@triton.jit");
    line(fmt::format("def {}(pid_x, pid_y, pid_z, nx, ny, nz):", options_.function));
    ++depth_;
    comment(options_.comment);
    line("# Right for every grid of fewer than 2^31 blocks.");
    inputs();
    if (p_.guard.body.empty()) {
      statements(p_.formula.body);
    } else {
      ExpressionPrinter guard(p_.guard, p_.guard_facts, p_.names, options_.function, type_,
                              helpers_);
      const Stmt& stmt = p_.guard.stmts[p_.guard.body.front()];
      line(fmt::format("if {}:  # elsewhere it is not proved and stays the identity",
                       guard.condition(stmt.expr)));
      nested(p_.formula.body);
    }
    result();
  }

  void inputs() {
    const bool linear = p_.formula.result == ResultKind::kLinear;
    for (const char* pid : {"pid_x", "pid_y", "pid_z"}) {
      line(fmt::format("{0} = tl.cast({0}, {1})", pid, type_));
    }
    const std::string values[kNumInputs] = {"pid_x + num_pid_x * (pid_y + num_pid_y * pid_z)",
                                            "",
                                            "",
                                            "",
                                            fmt::format("tl.cast(nx, {})", type_),
                                            fmt::format("tl.cast(ny, {})", type_),
                                            fmt::format("tl.cast(nz, {})", type_),
                                            "num_pid_x * num_pid_y * num_pid_z",
                                            std::to_string(options_.num_xcds),
                                            std::to_string(options_.cus_per_xcd)};
    const bool needs_pid = p_.used[kPid] || linear;
    const bool needs_all = p_.used[kNumBlocks];
    const bool needed[] = {needs_pid || needs_all || p_.used[kNumPidX],
                           needs_pid || needs_all || p_.used[kNumPidY],
                           needs_all || p_.used[kNumPidZ]};
    for (SlotId slot = kNumPidX; slot < p_.names.size(); ++slot) {
      const Slot& s = p_.formula.slots[slot];
      const bool used = slot <= kNumPidZ ? needed[slot - kNumPidX] : bool{p_.used[slot]};
      if (!used || s.kind == Slot::Kind::kVariable) continue;
      line(fmt::format("{} = {}", p_.names[slot],
                       slot < kNumInputs ? values[slot] : std::to_string(s.value)));
    }
    if (needs_pid) line("pid = " + values[kPid]);
  }

  void result() {
    const auto narrowed = [this](const std::string& value) {
      return wide_ ? fmt::format("tl.cast({}, tl.int32)", value) : value;
    };
    if (p_.formula.result == ResultKind::kLinear) {
      line(fmt::format("return {}, {}, {}", narrowed("pid % num_pid_x"),
                       narrowed("pid // num_pid_x % num_pid_y"),
                       narrowed("pid // num_pid_x // num_pid_y")));
    } else {
      line(fmt::format("return {}, {}, {}", narrowed("pid_x"), narrowed("pid_y"),
                       narrowed("pid_z")));
    }
  }

  void statements(const std::vector<StmtId>& list) {
    if (list.empty()) line("pass");
    for (const StmtId id : list) {
      const Stmt& stmt = p_.formula.stmts[id];
      comment(stmt.comment);
      declarations(list, id);
      statement(stmt);
    }
  }

  /// Names that a branch or loop assigns and that are used after it.
  void declarations(const std::vector<StmtId>& list, StmtId id) {
    for (SlotId slot = kNumInputs; slot < p_.names.size(); ++slot) {
      if (!declare_before(p_, list, id, slot)) continue;
      line(fmt::format("{} = tl.cast(0, {})", p_.names[slot], type_));
    }
  }

  void statement(const Stmt& stmt) {
    switch (stmt.kind) {
      case Stmt::Kind::kAssign:
        return assignment(stmt);
      case Stmt::Kind::kIf:
        return branch(stmt);
      case Stmt::Kind::kLoop:
        return loop(stmt);
      case Stmt::Kind::kBreak:
      case Stmt::Kind::kContinue:
        throw usage_error(fmt::format(
            "{}:{}: Triton has no break or continue; write the loop without it to print it as "
            "Triton",
            stmt.place.line, stmt.place.column));
    }
  }

  void assignment(const Stmt& stmt) {
    const std::string value = expressions_.value(stmt.expr);
    const bool one_number = p_.formula_facts.slot[stmt.slot].is_constant();
    const bool cast = expressions_.is_compile_time(stmt.expr) && !one_number;
    line(fmt::format("{} = {}", p_.names[stmt.slot],
                     cast ? fmt::format("tl.cast({}, {})", value, type_) : value));
  }

  void branch(const Stmt& stmt) {
    line(fmt::format("if {}:", expressions_.condition(stmt.expr)));
    nested(stmt.body);
    if (stmt.other.empty()) return;
    line("else:");
    nested(stmt.other);
  }

  void loop(const Stmt& stmt) {
    line(fmt::format("while {}:", expressions_.condition(stmt.expr)));
    ++depth_;
    if (stmt.body.empty() && stmt.other.empty()) line("pass");
    if (!stmt.body.empty()) statements(stmt.body);
    if (!stmt.other.empty()) statements(stmt.other);
    --depth_;
  }

  void nested(const std::vector<StmtId>& list) {
    ++depth_;
    statements(list);
    --depth_;
  }

  const PrintOptions& options_;
  Printable p_;
  bool wide_;
  std::string_view type_;
  std::vector<std::string> helpers_;
  ExpressionPrinter expressions_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print_triton(const Formula& formula, const PrintOptions& options) {
  return FunctionPrinter(formula, options).run();
}

}  // namespace swizzleperf
