// Telling a swizzle from arithmetic that every kernel does.
//
// Values that come from the block index alone are followed through variables, calls and returns.
// Division, remainder, shift and mask take such a value apart; that by itself is a row-major split
// of a one-dimensional grid (`head = b % heads`), and common. It is a swizzle when the parts are
// put together again in another way (`first + b % size`, `b % 8 * per_xcd + b / 8`). Some forms
// need no second half: exclusive or, the remainder of a sum (diagonals, rotations), counting down
// from the end, and choosing between two block indices.
//
// A value scaled by a tile's size is an offset, not an index, and what it is divided by afterwards
// is layout; a value that a thread index or memory has gone into is no block index any more. Linear
// indices survive: `y * width + x` is scaled plus unscaled.
#include "splice/remaps.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace swizzleperf::splice {
namespace {

struct Value {
  bool block = false;   ///< comes from the block index
  bool scaled = false;  ///< multiplied: an offset
  bool part = false;    ///< taken apart by division, remainder, shift or mask
  bool mixed = false;   ///< a thread index or memory went into it
  bool sum = false;     ///< an index plus something that is not its own scaled half
  // What a part was taken from and by what, to know `b / n * n + b % n` for b itself.
  std::string of;
  std::string by;
  bool quotient = false;
  std::string times;

  [[nodiscard]] bool index() const { return block && !scaled && !mixed; }
};

Value join(const Value& a, const Value& b) {
  Value both;
  both.block = a.block || b.block;
  both.scaled = a.scaled || b.scaled;
  both.part = a.part || b.part;
  both.mixed = a.mixed || b.mixed;
  return both;
}

bool is_minimum(const std::string& name) {
  return name == "min" || name == "max" || name == "umin" || name == "umax";
}

CXCursor last_child(CXCursor parent) {
  CXCursor last = clang_getNullCursor();
  for_children(parent, [&](CXCursor child) { last = child; });
  return last;
}

class Finder {
 public:
  explicit Finder(const Unit& unit) : unit_(unit) {}

  std::vector<Remap> run(CXCursor kernel) {
    body(kernel, {});
    std::vector<Remap> remaps;
    for (const Found& found : found_)
      if (found.alone || recombined_) remaps.push_back({unit_.where(found.offset), found.text});
    return remaps;
  }

 private:
  struct Found {
    unsigned offset;
    std::string text;
    bool alone;  ///< a swizzle whether or not parts are put together again
  };

  /// Follows a function with these arguments; what it returns.
  Value body(CXCursor function, const std::vector<Value>& arguments) {
    std::size_t next = 0;
    const Value outer = result_;
    result_ = {};
    ++depth_;
    for_children(function, [&](CXCursor child) {
      const CXCursorKind kind = clang_getCursorKind(child);
      if (kind == CXCursor_ParmDecl) {
        const Value value = next < arguments.size() ? arguments[next] : Value{};
        variables_[clang_hashCursor(child)] = value;
        ++next;
      } else if (kind == CXCursor_CompoundStmt) {
        look(child);
      }
    });
    --depth_;
    const Value result = result_;
    result_ = outer;
    return result;
  }

  Value look(CXCursor cursor) {
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_DeclRefExpr:
        return named(cursor);
      case CXCursor_VarDecl:
        return variables_[clang_hashCursor(cursor)] = children(cursor);
      case CXCursor_BinaryOperator:
      case CXCursor_CompoundAssignOperator:
        return binary(cursor);
      case CXCursor_ConditionalOperator:
        return conditional(cursor);
      case CXCursor_CallExpr:
        return call(cursor);
      case CXCursor_ArraySubscriptExpr:
        return memory(children(cursor));
      case CXCursor_UnaryOperator: {
        const Value value = children(cursor);
        const CXUnaryOperatorKind kind = clang_getCursorUnaryOperatorKind(cursor);
        if (kind == CXUnaryOperator_Deref) return memory(value);
        return kind == CXUnaryOperator_LNot ? Value{} : value;
      }
      case CXCursor_ReturnStmt:
        return result_ = result_.block ? join(result_, children(cursor)) : children(cursor);
      default:
        return children(cursor);
    }
  }

  static Value memory(Value value) {
    value.mixed = value.mixed || value.block;
    return value;
  }

  /// Of one child its value, of several what any of them has.
  Value children(CXCursor parent) {
    Value all;
    bool first = true;
    for_children(parent, [&](CXCursor child) {
      const Value value = look(child);
      if (clang_isReference(clang_getCursorKind(child)) != 0) return;
      all = first ? value : join(all, value);
      first = false;
    });
    return all;
  }

  Value named(CXCursor reference) {
    const CXCursor referenced = clang_getCursorReferenced(reference);
    const std::string name = take(clang_getCursorSpelling(referenced));
    Value value;
    value.block = name == "blockIdx";
    value.mixed = name == "threadIdx";
    if (value.block || value.mixed) return value;
    const auto known = variables_.find(clang_hashCursor(referenced));
    return known == variables_.end() ? value : known->second;
  }

  Value binary(CXCursor cursor) {
    std::vector<CXCursor> sides;
    for_children(cursor, [&](CXCursor child) { sides.push_back(child); });
    if (sides.size() != 2) return children(cursor);
    const Value left = look(sides[0]);
    const Value right = look(sides[1]);
    const CXBinaryOperatorKind kind = clang_getCursorBinaryOperatorKind(cursor);
    if (kind == CXBinaryOperator_Assign) return assign(sides[0], right);
    const Value value = combine(cursor, plain(kind), sides, left, right);
    return plain(kind) == kind ? value : assign(sides[0], value);
  }

  /// `+` of `+=`.
  static CXBinaryOperatorKind plain(CXBinaryOperatorKind kind) {
    switch (kind) {
      case CXBinaryOperator_MulAssign:
        return CXBinaryOperator_Mul;
      case CXBinaryOperator_DivAssign:
        return CXBinaryOperator_Div;
      case CXBinaryOperator_RemAssign:
        return CXBinaryOperator_Rem;
      case CXBinaryOperator_AddAssign:
        return CXBinaryOperator_Add;
      case CXBinaryOperator_SubAssign:
        return CXBinaryOperator_Sub;
      case CXBinaryOperator_ShlAssign:
        return CXBinaryOperator_Shl;
      case CXBinaryOperator_ShrAssign:
        return CXBinaryOperator_Shr;
      case CXBinaryOperator_AndAssign:
        return CXBinaryOperator_And;
      case CXBinaryOperator_XorAssign:
        return CXBinaryOperator_Xor;
      case CXBinaryOperator_OrAssign:
        return CXBinaryOperator_Or;
      default:
        return kind;
    }
  }

  Value assign(CXCursor target, const Value& value) {
    CXCursor variable = target;
    while (clang_getCursorKind(variable) == CXCursor_UnexposedExpr ||
           clang_getCursorKind(variable) == CXCursor_ParenExpr ||
           clang_getCursorKind(variable) == CXCursor_MemberRefExpr)
      variable = last_child(variable);
    if (clang_getCursorKind(variable) == CXCursor_DeclRefExpr)
      variables_[clang_hashCursor(clang_getCursorReferenced(variable))] = value;
    return value;
  }

  Value combine(CXCursor cursor, CXBinaryOperatorKind kind, const std::vector<CXCursor>& sides,
                const Value& left, const Value& right) {
    Value both = join(left, right);
    switch (kind) {
      case CXBinaryOperator_Mul:
      case CXBinaryOperator_Shl: {
        Value value = both;
        value.scaled = both.block;
        if (left.part || right.part) {
          value.of = left.part ? left.of : right.of;
          value.by = left.part ? left.by : right.by;
          value.quotient = left.part ? left.quotient : right.quotient;
          value.times = text(left.part ? sides[1] : sides[0]);
        }
        return value;
      }
      case CXBinaryOperator_Div:
      case CXBinaryOperator_Rem:
      case CXBinaryOperator_Shr:
        if (!left.index()) return both;
        note(cursor, kind == CXBinaryOperator_Rem && left.sum);
        return part(both, text(sides[0]), text(sides[1]), kind != CXBinaryOperator_Rem);
      case CXBinaryOperator_And:
        if (!left.index() && !right.index()) return both;
        note(cursor, false);
        return part(both, text(sides[0]), text(sides[1]), false);
      case CXBinaryOperator_Xor:
        if (!left.index() && !right.index()) return both;
        note(cursor, true);
        return part(both, {}, {}, false);
      case CXBinaryOperator_Add:
      case CXBinaryOperator_Or:
        return add(both, left, right);
      case CXBinaryOperator_Sub:
        return subtract(cursor, sides, both, left, right);
      default:
        return {};  // comparisons and logic
    }
  }

  static Value part(Value value, std::string of, std::string by, bool quotient) {
    value.part = true;
    value.scaled = false;
    value.of = std::move(of);
    value.by = std::move(by);
    value.quotient = quotient;
    return value;
  }

  Value add(Value both, const Value& left, const Value& right) {
    const bool one_scaled = left.scaled != right.scaled;
    // A linear index: y * width + x.
    if (left.block && right.block && one_scaled) both.scaled = false;
    both.sum = both.index() && !(left.block && right.block && one_scaled);
    if (both.mixed || !left.part || !right.part || (left.scaled && right.scaled)) return both;
    const Value& whole = left.scaled ? left : right;
    const Value& rest = left.scaled ? right : left;
    const bool undone = !whole.of.empty() && whole.of == rest.of && whole.by == rest.by &&
                        whole.quotient && !rest.quotient && whole.times == whole.by;
    if (!undone) recombined_ = true;
    return both;
  }

  /// Counting down from the end (`n - 1 - b`), or what a division left (`b - q * n`).
  Value subtract(CXCursor cursor, const std::vector<CXCursor>& sides, const Value& both,
                 const Value& left, const Value& right) {
    if (right.index() && !left.block && ends_in_minus_one(sides[0])) note(cursor, true);
    if (left.index() && right.part && right.scaled && !right.mixed) {
      return part(both, right.of, right.by, false);
    }
    return both;
  }

  bool ends_in_minus_one(CXCursor cursor) {
    while (clang_getCursorKind(cursor) == CXCursor_UnexposedExpr ||
           clang_getCursorKind(cursor) == CXCursor_ParenExpr)
      cursor = last_child(cursor);
    if (clang_getCursorKind(cursor) != CXCursor_BinaryOperator ||
        clang_getCursorBinaryOperatorKind(cursor) != CXBinaryOperator_Sub)
      return false;
    const CXCursor last = last_child(cursor);
    const std::string subtracted = text(last);
    return subtracted == "1" || subtracted == "1u" || subtracted == "1U";
  }

  Value conditional(CXCursor cursor) {
    std::vector<Value> values;
    for_children(cursor, [&](CXCursor child) { values.push_back(look(child)); });
    if (values.size() != 3) return {};
    if (values[1].index() && values[2].index()) note(cursor, true);
    return join(values[1], values[2]);
  }

  Value call(CXCursor cursor) {
    const CXCursor callee = clang_getCursorReferenced(cursor);
    const std::string name = take(clang_getCursorSpelling(callee));
    Value value;
    value.block = name.starts_with("__builtin_amdgcn_workgroup_id_") ||
                  name.starts_with("__nvvm_read_ptx_sreg_ctaid_") ||
                  name == "__ockl_get_group_id" || name == "group_index" || name == "block_index";
    value.mixed = name.starts_with("__builtin_amdgcn_workitem_id_") ||
                  name.starts_with("__nvvm_read_ptx_sreg_tid_") || name == "__ockl_get_local_id" ||
                  name == "thread_rank" || name == "thread_index";
    if (value.block || value.mixed) return value;

    std::vector<Value> arguments;
    Value all;
    const int count = clang_Cursor_getNumArguments(cursor);
    for (int i = 0; i < count; ++i) {
      arguments.push_back(look(clang_Cursor_getArgument(cursor, static_cast<unsigned>(i))));
      all = i == 0 ? arguments[0] : join(all, arguments.back());
    }
    if (count <= 0) all = children(cursor);  // conversions, construction
    if (is_minimum(name)) {
      if (all.part && !all.mixed) note(cursor, false);
      return all;
    }
    const CXCursor definition = clang_getCursorDefinition(callee);
    const CXCursorKind kind = clang_getCursorKind(callee);
    if (clang_Cursor_isNull(definition) == 0 && unit_.in_main(definition) && is_function(kind) &&
        kind != CXCursor_Constructor && depth_ < 6)
      return body(definition, arguments);
    if (kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction) return all;
    return memory(all);
  }

  void note(CXCursor cursor, bool alone) {
    const Span span = unit_.span(cursor);
    if (span.end <= span.begin) return;
    const auto known = std::find_if(found_.begin(), found_.end(), [&](const Found& found) {
      return found.offset == span.begin && found.text == text(cursor);
    });
    if (known == found_.end()) found_.push_back({span.begin, text(cursor), alone});
  }

  /// The source text on one line.
  std::string text(CXCursor cursor) const {
    std::string squeezed;
    for (const char c : unit_.text(unit_.span(cursor))) {
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!blank)
        squeezed += c;
      else if (!squeezed.empty() && squeezed.back() != ' ')
        squeezed += ' ';
    }
    return squeezed;
  }

  const Unit& unit_;
  std::unordered_map<unsigned, Value> variables_;
  std::vector<Found> found_;
  Value result_;
  bool recombined_ = false;
  int depth_ = 0;
};

}  // namespace

std::vector<Remap> find_remaps(const Unit& unit, CXCursor kernel) {
  return Finder(unit).run(kernel);
}

}  // namespace swizzleperf::splice
