// Formulas as HIP/CUDA C++.
//
// The language is a subset of C, so printing keeps the text's statements and names. What changes is
// the width: evaluation is in 64 bits, but a GPU has 32-bit registers and most index arithmetic
// fits them. A name is `int` if no value it can have on any grid below 2^31 blocks needs more, and
// `long long` otherwise; an operation whose result needs more than its operands gets one operand
// cast. Where nothing can be proved (a loop variable) 64 bits are used, which is always right.
//
// A small block feels what that costs: a division by a number that the compiler does not know takes
// some 25 instructions of a GPU, in 64 bits a hundred. So where the launch's grid is told, the
// function is printed as two: one that asks whether this is that grid, and one that is inlined into
// it twice, once with the grid as constants and, where that is proved to be enough there, with 32
// bits for all (`Int`). docs/measure.md has the figures.
//
// min, max, abs, cdiv and ilog2 are printed as small templates of our own, because HIP, CUDA and
// plain C++ do not share theirs. Calls are given arguments of one type.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "formula/printing.h"

namespace swizzleperf {
namespace {

constexpr std::string_view kReserved[] = {"alignas",
                                          "alignof",
                                          "asm",
                                          "auto",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "class",
                                          "const",
                                          "concept",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "and",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "requires",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "while",
                                          "xor",
                                          "compl",
                                          "bitand",
                                          "bitor",
                                          "and_eq",
                                          "or_eq",
                                          "xor_eq",
                                          "not_eq",
                                          "constexpr",
                                          "consteval",
                                          "constinit",
                                          "blockIdx",
                                          "blockDim",
                                          "gridDim",
                                          "threadIdx",
                                          "warpSize",
                                          "assert",
                                          "errno",
                                          "min",
                                          "max",
                                          "abs",
                                          "x",
                                          "y",
                                          "z",
                                          "nx",
                                          "ny",
                                          "nz",
                                          "half",
                                          "linux",
                                          "unix",
                                          "main",
                                          "static_cast",
                                          "char8_t",
                                          "char16_t",
                                          "char32_t",
                                          "wchar_t",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "const_cast",
                                          "dynamic_cast",
                                          "thread_local",
                                          "reinterpret_cast",
                                          "static_assert"};

bool reserved_in_cpp(std::string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

struct Helper {
  Op op;
  std::string_view name;
  std::string_view text;  ///< {0} = the function's name
};

constexpr Helper kHelpers[] = {
    {Op::kMin, "min",
     "template <class Int>\nstatic __device__ Int {0}_min(Int a, Int b) {{\n"
     "  return a < b ? a : b;\n}}\n"},
    {Op::kMax, "max",
     "template <class Int>\nstatic __device__ Int {0}_max(Int a, Int b) {{\n"
     "  return a > b ? a : b;\n}}\n"},
    {Op::kAbs, "abs",
     "template <class Int>\nstatic __device__ Int {0}_abs(Int a) {{\n"
     "  return a < 0 ? -a : a;\n}}\n"},
    {Op::kCdiv, "cdiv",
     "/// a / b, rounded up.\n"
     "template <class Int>\nstatic __device__ Int {0}_cdiv(Int a, Int b) {{\n"
     "  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);\n}}\n"},
    {Op::kIlog2, "ilog2",
     "/// The position of the highest bit of a, which is positive.\n"
     "template <class Int>\nstatic __device__ int {0}_ilog2(Int a) {{\n"
     "  int bits = 0;\n  while (a >>= 1) ++bits;\n  return bits;\n}}\n"}};

bool printed_as_call(Op op) {
  return std::any_of(std::begin(kHelpers), std::end(kHelpers),
                     [op](const Helper& helper) { return helper.op == op; });
}

constexpr std::string_view kWide = "long long";

/// An expression as text, and whether its C type is the wide one (else it is int).
struct Typed {
  std::string text;
  bool wide;
};

/// A constant that does not fit 32 bits.
std::string wide_literal(std::int64_t value, std::string_view wide_type) {
  const std::string cast = wide_type == kWide ? "" : fmt::format("({})", wide_type);
  return fmt::format("{}{}LL", cast, value);
}

/// Expressions of one program (the formula or its guard).
class ExpressionPrinter {
 public:
  ExpressionPrinter(const FormulaProgram& program, const Inference& facts,
                    const std::vector<std::string>& names, const std::string& function,
                    std::string_view wide_type)
      : program_(program),
        facts_(facts),
        names_(names),
        function_(function),
        wide_type_(wide_type) {}

  [[nodiscard]] Typed print(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    switch (expr.kind) {
      case Expr::Kind::kConstant:
        return constant(expr.value);
      case Expr::Kind::kName:
        return {names_[expr.slot], !facts_.slot[expr.slot].fits_int32()};
      case Expr::Kind::kAndThen:
        return logical(expr, "&&");
      case Expr::Kind::kOrElse:
        return logical(expr, "||");
      case Expr::Kind::kChoose:
        return choice(expr);
      case Expr::Kind::kApply:
        break;
    }
    if (printed_as_call(expr.op)) return call(id);
    return is_unary(expr.op) ? unary(id) : binary(id);
  }

  /// With the type that a name of this width has.
  [[nodiscard]] std::string print_as(ExprId id, bool wide) const {
    const Typed value = print(id);
    if (wide || !value.wide) return value.text;
    return fmt::format("(int)({})", value.text);
  }

 private:
  [[nodiscard]] Typed constant(std::int64_t value) const {
    if (Range::of(value).fits_int32()) return {fmt::to_string(value), false};
    return {wide_literal(value, wide_type_), true};
  }

  [[nodiscard]] Typed operand(const Expr& parent, ExprId id, bool right) const {
    Typed value = print(id);
    if (needs_brackets(parent, program_.exprs[id], right)) value.text = "(" + value.text + ")";
    return value;
  }

  [[nodiscard]] Typed logical(const Expr& expr, std::string_view op) const {
    return {fmt::format("{} {} {}", operand(expr, expr.a, false).text, op,
                        operand(expr, expr.b, true).text),
            false};
  }

  [[nodiscard]] Typed choice(const Expr& expr) const {
    const Typed b = operand(expr, expr.b, true);
    const Typed c = operand(expr, expr.c, true);
    return {fmt::format("{} ? {} : {}", operand(expr, expr.a, true).text, b.text, c.text),
            b.wide || c.wide};
  }

  [[nodiscard]] std::string widened(const Typed& value) const {
    if (value.wide) return value.text;
    const bool atomic = std::all_of(value.text.begin(), value.text.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
    return fmt::format(fmt::runtime(atomic ? "({}){}" : "({})({})"), wide_type_, value.text);
  }

  /// Whether the operation must be done in 64 bits although its operands are ints.
  [[nodiscard]] bool needs_wide(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    if (is_comparison(expr.op) || expr.op == Op::kNot || expr.op == Op::kIlog2) return false;
    const bool is_shift = expr.op == Op::kShl || expr.op == Op::kShr;
    const bool far = is_shift && !facts_.expr[expr.b].within(0, 31);
    return far || !facts_.expr[id].fits_int32();
  }

  [[nodiscard]] Typed unary(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    Typed a = operand(expr, expr.a, false);
    const bool wide = needs_wide(id) || (a.wide && expr.op != Op::kNot);
    if (wide) a.text = widened(a);
    return {fmt::format("{}{}", sign(expr.op), a.text), wide};
  }

  [[nodiscard]] Typed binary(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    Typed a = operand(expr, expr.a, false);
    const Typed b = operand(expr, expr.b, true);
    const bool is_shift = expr.op == Op::kShl || expr.op == Op::kShr;
    const bool wide = needs_wide(id);
    if (wide && (is_shift || !b.wide)) a = {widened(a), true};
    const bool result_wide = !is_comparison(expr.op) && (wide || a.wide || (b.wide && !is_shift));
    return {fmt::format("{} {} {}", a.text, sign(expr.op), b.text), result_wide};
  }

  [[nodiscard]] Typed call(ExprId id) const {
    const Expr& expr = program_.exprs[id];
    const Typed a = print(expr.a);
    const std::string name = fmt::format("{}_{}", function_, sign(expr.op));
    if (expr.op == Op::kIlog2) return {fmt::format("{}({})", name, a.text), false};
    if (expr.op == Op::kAbs) {
      const bool wide = a.wide || needs_wide(id);
      return {fmt::format("{}({})", name, argument(a, expr.a, wide)), wide};
    }
    const Typed b = print(expr.b);
    const bool wide = a.wide || b.wide || needs_wide(id);
    return {fmt::format("{}({}, {})", name, argument(a, expr.a, wide), argument(b, expr.b, wide)),
            wide};
  }

  /// An argument whose type is exactly int or the wide one, for template deduction.
  [[nodiscard]] std::string argument(const Typed& value, ExprId id, bool wide) const {
    if (wide) return widened(value);
    const Expr& expr = program_.exprs[id];
    const bool is_bool =
        expr.kind == Expr::Kind::kAndThen || expr.kind == Expr::Kind::kOrElse ||
        (expr.kind == Expr::Kind::kApply && (is_comparison(expr.op) || expr.op == Op::kNot)) ||
        expr.kind == Expr::Kind::kChoose;
    return is_bool ? fmt::format("(int)({})", value.text) : value.text;
  }

  const FormulaProgram& program_;
  const Inference& facts_;
  const std::vector<std::string>& names_;
  const std::string& function_;
  std::string_view wide_type_;
};

class FunctionPrinter {
 public:
  FunctionPrinter(const Formula& formula, const PrintOptions& options)
      : options_(options),
        p_(prepare(formula, options, reserved_in_cpp)),
        wide_type_(options.grid && any_wide() ? "Int" : kWide),
        expressions_(p_.formula, p_.formula_facts, p_.names, options.function, wide_type_) {}

  std::string run() {
    ++depth_;
    inputs();
    guard();
    statements(p_.formula.body);
    result();
    --depth_;
    const std::string body = std::exchange(out_, {});
    out_ = fmt::format("struct {}_index {{\n  unsigned x, y, z;\n}};\n\n", options_.function);
    helpers();
    comment(options_.comment);
    line("// Right for every grid of fewer than 2^31 blocks.");
    if (!options_.grid) return out_ + signature("", "", parameters(body)) + body + "}\n";
    if (wide_type_ != kWide) line(fmt::format("template <class {}>", wide_type_));
    out_ += signature("__forceinline__ ", "_on", parameters(body)) + body + "}\n\n";
    choice_of_grid();
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }

  void comment(const std::string& text) {
    if (text.empty()) return;
    for (const std::string& l : comment_lines(text)) line(l.empty() ? "//" : "// " + l);
  }

  void helpers() {
    for (const Helper& helper : kHelpers) {
      const auto uses = [&](const FormulaProgram& program) {
        return std::any_of(program.exprs.begin(), program.exprs.end(), [&](const Expr& expr) {
          return expr.kind == Expr::Kind::kApply && expr.op == helper.op;
        });
      };
      if (uses(p_.formula) || uses(p_.guard)) {
        out_ += fmt::format(fmt::runtime(helper.text), options_.function) + "\n";
      }
    }
  }

  [[nodiscard]] std::string signature(std::string_view how, std::string_view suffix,
                                      const std::string& parameters) const {
    return fmt::format("static __device__ {0}{1}_index {1}{2}(\n    {3}) {{\n", how,
                       options_.function, suffix, parameters);
  }

  void choice_of_grid() {
    const Dim3& grid = *options_.grid;
    const bool narrow = narrow_on(p_.formula, {grid, options_.num_xcds, options_.cus_per_xcd});
    const auto on = [&](std::string_view type) {
      return options_.function + "_on" + (wide_type_ == kWide ? "" : fmt::format("<{}>", type));
    };
    line("// The same, with all divisors known to the compiler on the grid that it was made for.");
    out_ += signature("__forceinline__ ", "",
                      "unsigned x, unsigned y, unsigned z, unsigned nx, unsigned ny, unsigned nz");
    line(fmt::format(
        "  if (nx == {0} && ny == {1} && nz == {2}) return {3}(x, y, z, {0}, {1}, {2});", grid.x,
        grid.y, grid.z, on(narrow ? "int" : kWide)));
    line(fmt::format("  return {}(x, y, z, nx, ny, nz);", on(kWide)));
    line("}");
  }

  /// Whether a name or an operation may need more than 32 bits on some grid.
  [[nodiscard]] bool any_wide() const {
    const auto wide = [](const Range& range) { return !range.fits_int32(); };
    const auto any = [&](const std::vector<Range>& ranges) {
      return std::any_of(ranges.begin(), ranges.end(), wide);
    };
    return any(p_.formula_facts.expr);
  }

  /// The function's parameters; those that the body does not use have no name.
  static std::string parameters(const std::string& body) {
    std::string list;
    for (const std::string_view name : {"x", "y", "z", "nx", "ny", "nz"}) {
      list += list.empty() ? "unsigned " : ", unsigned ";
      list += has_word(body, name) ? std::string(name) : fmt::format("/*{}*/", name);
    }
    return list;
  }

  static bool has_word(const std::string& text, std::string_view word) {
    const auto is_part = [&](std::size_t at) {
      return at < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
      if (!is_part(at - 1) && !is_part(at + word.size())) return true;
    }
    return false;
  }

  /// Inputs and parameters that are used, under their names in the language.
  void inputs() {
    const std::string values[kNumInputs] = {"(int)(x + nx * (y + ny * z))",
                                            "(int)x",
                                            "(int)y",
                                            "(int)z",
                                            "(int)nx",
                                            "(int)ny",
                                            "(int)nz",
                                            "(int)(nx * ny * nz)",
                                            std::to_string(options_.num_xcds),
                                            std::to_string(options_.cus_per_xcd)};
    for (SlotId slot = 0; slot < p_.names.size(); ++slot) {
      const Slot& s = p_.formula.slots[slot];
      if (!p_.used[slot] || s.kind == Slot::Kind::kVariable) continue;
      const bool wide = is_wide(slot);
      const std::string value = slot < kNumInputs ? values[slot]
                                : wide            ? wide_literal(s.value, wide_type_)
                                                  : fmt::to_string(s.value);
      line(fmt::format("{}{} {} = {};", p_.reassigned[slot] ? "" : "const ", type(wide),
                       p_.names[slot], value));
    }
  }

  void guard() {
    if (p_.guard.body.empty()) return;
    const ExpressionPrinter printer(p_.guard, p_.guard_facts, p_.names, options_.function, kWide);
    const Stmt& stmt = p_.guard.stmts[p_.guard.body.front()];
    line(fmt::format("if (!({})) return {{x, y, z}};  // not proved there",
                     printer.print(stmt.expr).text));
  }

  void result() {
    if (p_.formula.result == ResultKind::kLinear) {
      line("return {(unsigned)pid % nx, (unsigned)pid / nx % ny, (unsigned)pid / nx / ny};");
      return;
    }
    const auto index = [this](SlotId slot, const char* input) {
      return p_.used[slot] ? fmt::format("(unsigned){}", p_.names[slot]) : std::string(input);
    };
    line(fmt::format("return {{{}, {}, {}}};", index(kPidX, "x"), index(kPidY, "y"),
                     index(kPidZ, "z")));
  }

  [[nodiscard]] std::string_view type(bool wide) const { return wide ? wide_type_ : "int"; }
  [[nodiscard]] bool is_wide(SlotId slot) const {
    return !p_.formula_facts.slot[slot].fits_int32();
  }

  void statements(const std::vector<StmtId>& list) {
    for (const StmtId id : list) {
      comment(p_.formula.stmts[id].comment);
      declarations(list, id);
      statement(list, id);
    }
  }

  void declarations(const std::vector<StmtId>& list, StmtId id) {
    for (SlotId slot = kNumInputs; slot < p_.names.size(); ++slot) {
      if (!declare_before(p_, list, id, slot)) continue;
      line(fmt::format("{} {} = 0;", type(is_wide(slot)), p_.names[slot]));
    }
  }

  void statement(const std::vector<StmtId>& list, StmtId id) {
    const Stmt& stmt = p_.formula.stmts[id];
    switch (stmt.kind) {
      case Stmt::Kind::kAssign:
        return assignment(list, id);
      case Stmt::Kind::kBreak:
        return line("break;");
      case Stmt::Kind::kContinue:
        return line("continue;");
      case Stmt::Kind::kIf:
        return branch(stmt);
      case Stmt::Kind::kLoop:
        return loop(stmt);
    }
  }

  void assignment(const std::vector<StmtId>& list, StmtId id) {
    const Stmt& stmt = p_.formula.stmts[id];
    const Expr& expr = p_.formula.exprs[stmt.expr];
    if (expr.kind == Expr::Kind::kName && expr.slot == stmt.slot) return;  // pid = pid
    const std::string text = assigned(stmt);
    if (!declares(p_, list, id)) return line(text + ";");
    line(fmt::format("{}{} {};", p_.reassigned[stmt.slot] ? "" : "const ", type(is_wide(stmt.slot)),
                     text));
  }

  [[nodiscard]] std::string assigned(const Stmt& stmt) const {
    return fmt::format("{} = {}", p_.names[stmt.slot],
                       expressions_.print_as(stmt.expr, is_wide(stmt.slot)));
  }

  void branch(const Stmt& stmt) {
    line(fmt::format("if ({}) {{", expressions_.print(stmt.expr).text));
    nested(stmt.body);
    if (!stmt.other.empty()) {
      line("} else {");
      nested(stmt.other);
    }
    line("}");
  }

  void loop(const Stmt& stmt) {
    const std::string condition = expressions_.print(stmt.expr).text;
    if (stmt.other.empty()) {
      line(fmt::format("while ({}) {{", condition));
    } else {
      std::string step;
      for (const StmtId id : stmt.other) {
        step += (step.empty() ? "" : ", ") + assigned(p_.formula.stmts[id]);
      }
      line(fmt::format("for (; {}; {}) {{", condition, step));
    }
    nested(stmt.body);
    line("}");
  }

  void nested(const std::vector<StmtId>& list) {
    ++depth_;
    statements(list);
    --depth_;
  }

  const PrintOptions& options_;
  Printable p_;
  std::string_view
      wide_type_;  ///< what 64 bits are called: the template's parameter, if there is one
  ExpressionPrinter expressions_;
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print_cpp(const Formula& formula, const PrintOptions& options) {
  return FunctionPrinter(formula, options).run();
}

}  // namespace swizzleperf
