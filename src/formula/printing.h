// What the two printers share: which names are used, what they are called in the target language,
// and where each variable is declared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formula/infer.h"
#include "formula/syntax.h"
#include "swizzleperf/print.h"

namespace swizzleperf {

/// A formula and its guard, ready to be printed.
struct Printable {
  FormulaProgram formula;
  FormulaProgram guard;  ///< `pid = condition`; no statement if there is no guard
  Inference formula_facts;
  Inference guard_facts;
  std::vector<bool> used;          ///< by SlotId: read or written, or read by the guard
  std::vector<std::string> names;  ///< by SlotId: as printed
  /// By SlotId: the statement list in which a variable is declared (the innermost that holds all
  /// its uses), the statement of that list before which the declaration stands, and whether that
  /// statement is an assignment that can be the declaration.
  std::vector<const std::vector<StmtId>*> home;
  std::vector<StmtId> first_use;
  std::vector<bool> declared_by_assignment;
  /// By SlotId: whether it is assigned again after its first assignment, or below its home.
  std::vector<bool> reassigned;
};

/// `reserved` says whether a name means something else in the target language or in the function.
Printable prepare(const Formula& formula, const PrintOptions& options,
                  bool (*reserved)(std::string_view name));

/// Whether a variable must be declared just before statement `id` of `list`.
bool declare_before(const Printable& printable, const std::vector<StmtId>& list, StmtId id,
                    SlotId slot);

/// Whether statement `id` of `list` is the assignment that declares its variable.
bool declares(const Printable& printable, const std::vector<StmtId>& list, StmtId id);

/// A comment as lines that cannot end early: printable ASCII, no backslash.
std::vector<std::string> comment_lines(std::string_view comment);

/// Binding strength of a node in C and in Python alike, as far as printing needs it; larger binds
/// tighter.
int precedence(const Expr& expr);

/// Whether operand `child` of `parent` needs brackets. Generous: no reader has to know that & binds
/// weaker than ==.
bool needs_brackets(const Expr& parent, const Expr& child, bool right);

/// The operator's sign in C.
std::string_view sign(Op op);

}  // namespace swizzleperf
