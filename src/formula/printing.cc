// See printing.h. Declarations are placed by the deepest statement list that contains every use of
// a name, so that printed code declares `int die = pid % 8;` where a person would.

#include "formula/printing.h"

#include <algorithm>
#include <map>
#include <set>

namespace swizzleperf {
namespace {

/// A use of a name: the lists from the outermost to the one it stands in, and its statement in
/// each.
struct Use {
  std::vector<const std::vector<StmtId>*> lists;
  std::vector<StmtId> stmts;
  bool writes = false;
};

class UseFinder {
 public:
  explicit UseFinder(const FormulaProgram& program)
      : program_(program), uses_(program.slots.size()), assignments_(program.slots.size()) {
    visit(program.body);
  }

  [[nodiscard]] const std::vector<Use>& uses(SlotId slot) const { return uses_[slot]; }
  [[nodiscard]] const std::vector<Use>& assignments(SlotId slot) const {
    return assignments_[slot];
  }

 private:
  void visit(const std::vector<StmtId>& list) {
    here_.lists.push_back(&list);
    here_.stmts.push_back(0);
    for (const StmtId id : list) {
      here_.stmts.back() = id;
      visit(program_.stmts[id]);
    }
    here_.lists.pop_back();
    here_.stmts.pop_back();
  }

  void visit(const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::kBreak || stmt.kind == Stmt::Kind::kContinue) return;
    read(program_.exprs[stmt.expr]);
    if (stmt.kind == Stmt::Kind::kAssign) {
      uses_[stmt.slot].push_back(here_);
      uses_[stmt.slot].back().writes = true;
      assignments_[stmt.slot].push_back(here_);
    }
    visit(stmt.body);
    visit(stmt.other);
  }

  void read(const Expr& expr) {
    if (expr.kind == Expr::Kind::kConstant) return;
    if (expr.kind == Expr::Kind::kName) return uses_[expr.slot].push_back(here_);
    read(program_.exprs[expr.a]);
    if (expr.kind != Expr::Kind::kApply || !is_unary(expr.op)) read(program_.exprs[expr.b]);
    if (expr.kind == Expr::Kind::kChoose) read(program_.exprs[expr.c]);
  }

  const FormulaProgram& program_;
  Use here_;
  std::vector<std::vector<Use>> uses_;         // by slot
  std::vector<std::vector<Use>> assignments_;  // by slot
};

void find_home(const UseFinder& finder, SlotId slot, Printable& out) {
  const std::vector<Use>& uses = finder.uses(slot);
  std::size_t depth = uses.front().lists.size();
  for (const Use& use : uses) {
    std::size_t common = 0;
    while (common < std::min(depth, use.lists.size()) &&
           use.lists[common] == uses.front().lists[common]) {
      ++common;
    }
    depth = common;
  }
  out.home[slot] = uses.front().lists[depth - 1];
  out.first_use[slot] = uses.front().stmts[depth - 1];
  out.declared_by_assignment[slot] = uses.front().writes && uses.front().lists.size() == depth;
  const std::vector<Use>& assignments = finder.assignments(slot);
  const std::size_t before = slot < kNumInputs ? 1 : 0;  // an input has its value already
  out.reassigned[slot] = before + assignments.size() > 1 ||
                         (!assignments.empty() && assignments[0].lists.size() > depth);
}

/// Names a macro of somebody's source file could have, or the implementation.
bool looks_like_macro(std::string_view name) {
  return name[0] == '_' ||
         std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string target_name(const std::string& name, const std::string& function,
                        bool (*reserved)(std::string_view name)) {
  if (looks_like_macro(name)) return "v" + std::string(name[0] == '_' ? "" : "_") + name;
  if (reserved(name) || name.compare(0, function.size(), function) == 0) return "v_" + name;
  return name;
}

void choose_names(const PrintOptions& options, bool (*reserved)(std::string_view name),
                  Printable& out) {
  std::set<std::string> taken(options.taken.begin(), options.taken.end());
  for (const Slot& slot : out.formula.slots) {
    std::string name = slot.kind == Slot::Kind::kInput
                           ? slot.name
                           : target_name(slot.name, options.function, reserved);
    while (!taken.insert(name).second) name += '_';
    out.names.push_back(name);
  }
}

}  // namespace

Printable prepare(const Formula& formula, const PrintOptions& options,
                  bool (*reserved)(std::string_view name)) {
  Printable out;
  out.formula = formula.program();
  if (!options.guard.condition.empty()) out.guard = parse_condition(options.guard.condition);
  out.formula_facts = infer(out.formula, options.num_xcds, options.cus_per_xcd);
  if (!out.guard.body.empty()) {
    out.guard_facts = infer(out.guard, options.num_xcds, options.cus_per_xcd);
  }
  choose_names(options, reserved, out);
  const std::size_t slots = out.formula.slots.size();
  out.used.resize(slots);
  out.home.resize(slots);
  out.first_use.resize(slots);
  out.declared_by_assignment.resize(slots);
  out.reassigned.resize(slots);
  const UseFinder finder(out.formula);
  for (SlotId slot = 0; slot < slots; ++slot) {
    out.used[slot] = !finder.uses(slot).empty();
    if (out.used[slot]) find_home(finder, slot, out);
  }
  if (!out.guard.body.empty()) {
    const UseFinder guard_finder(out.guard);
    for (SlotId slot = kNumPidX; slot < kNumInputs; ++slot) {
      out.used[slot] = out.used[slot] || !guard_finder.uses(slot).empty();
    }
  }
  return out;
}

namespace {

bool is_first_use(const Printable& printable, const std::vector<StmtId>& list, StmtId id,
                  SlotId slot) {
  return printable.used[slot] && printable.formula.slots[slot].kind == Slot::Kind::kVariable &&
         printable.home[slot] == &list && printable.first_use[slot] == id;
}

}  // namespace

bool declare_before(const Printable& printable, const std::vector<StmtId>& list, StmtId id,
                    SlotId slot) {
  return is_first_use(printable, list, id, slot) && !printable.declared_by_assignment[slot];
}

bool declares(const Printable& printable, const std::vector<StmtId>& list, StmtId id) {
  const Stmt& stmt = printable.formula.stmts[id];
  return stmt.kind == Stmt::Kind::kAssign && is_first_use(printable, list, id, stmt.slot) &&
         printable.declared_by_assignment[stmt.slot];
}

std::vector<std::string> comment_lines(std::string_view comment) {
  std::vector<std::string> lines(1);
  for (const char c : comment) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c < 0x20 || c > 0x7E || c == '\\' ? ' ' : c;
    }
  }
  return lines;
}

int precedence(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kConstant:
      return expr.value < 0 ? 11 : 12;
    case Expr::Kind::kName:
      return 12;
    case Expr::Kind::kChoose:
      return 0;
    case Expr::Kind::kOrElse:
      return 1;
    case Expr::Kind::kAndThen:
      return 2;
    case Expr::Kind::kApply:
      break;
  }
  switch (expr.op) {
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kEqual:
    case Op::kNotEqual:
      return 6;
    case Op::kOr:
    case Op::kXor:
    case Op::kAnd:
      return 7;
    case Op::kShl:
    case Op::kShr:
      return 8;
    case Op::kAdd:
    case Op::kSub:
      return 9;
    case Op::kMul:
    case Op::kDiv:
    case Op::kMod:
      return 10;
    case Op::kNegate:
    case Op::kComplement:
    case Op::kNot:
      return 11;
    default:
      return 12;  // printed as calls
  }
}

bool needs_brackets(const Expr& parent, const Expr& child, bool right) {
  const int outer = precedence(parent);
  const int inner = precedence(child);
  if (inner >= 11) return inner == 11 && outer >= 11;
  const auto is_bitwise = [](int p) { return p == 7 || p == 8; };
  if (is_bitwise(outer) || is_bitwise(inner) || (outer == 1 && inner == 2) || outer == 6) {
    return outer != 6 || is_bitwise(inner) || inner <= 6;
  }
  return inner < outer || (inner == outer && right);
}

std::string_view sign(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kDiv:
      return "/";
    case Op::kMod:
      return "%";
    case Op::kShl:
      return "<<";
    case Op::kShr:
      return ">>";
    case Op::kAnd:
      return "&";
    case Op::kOr:
      return "|";
    case Op::kXor:
      return "^";
    case Op::kLess:
      return "<";
    case Op::kLessEqual:
      return "<=";
    case Op::kGreater:
      return ">";
    case Op::kGreaterEqual:
      return ">=";
    case Op::kEqual:
      return "==";
    case Op::kNotEqual:
      return "!=";
    case Op::kNegate:
      return "-";
    case Op::kComplement:
      return "~";
    case Op::kNot:
      return "!";
    case Op::kMin:
      return "min";
    case Op::kMax:
      return "max";
    case Op::kCdiv:
      return "cdiv";
    case Op::kAbs:
      return "abs";
    case Op::kIlog2:
      return "ilog2";
  }
  return "?";
}

}  // namespace swizzleperf
