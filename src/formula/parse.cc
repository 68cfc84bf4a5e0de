// The parser: recursive descent for statements, precedence climbing for expressions.
//
// The grammar is C's, cut down to what an index remap needs, and forgiving only where nothing else
// could be meant: a type before a name is ignored, a line end may end a statement. It is not
// forgiving where Python and C differ in silence. `a // b` is a division there and a comment here,
// so a comment that would end a statement is an error that says so; `a < b < c` means two things,
// so it means nothing here.
//
// Depth is bounded twice: the nesting of the recursion (brackets, blocks) and the depth of the tree
// (a long chain of `+` needs no recursion to parse but would need it to evaluate).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "formula/lex.h"
#include "formula/syntax.h"

namespace swizzleperf {
namespace {

constexpr std::array<std::string_view, kNumInputs> kInputNames = {
    "pid",       "pid_x",     "pid_y",      "pid_z",    "num_pid_x",
    "num_pid_y", "num_pid_z", "num_blocks", "num_xcds", "cus_per_xcd"};

constexpr std::string_view kTypeWords[] = {"int",      "const",  "constexpr", "auto",    "long",
                                           "unsigned", "signed", "int32_t",   "int64_t", "uint32_t",
                                           "uint64_t", "size_t", "uint"};

constexpr std::string_view kKeywords[] = {"if", "else", "for", "while", "break", "continue"};

struct Hint {
  std::string_view name;
  std::string_view advice;
};

/// What people who know another language write first.
constexpr Hint kHints[] = {
    {"blockIdx", "write pid_x, pid_y, pid_z for the block index"},
    {"gridDim", "write num_pid_x, num_pid_y, num_pid_z for the grid"},
    {"threadIdx", "a swizzle moves whole blocks and does not know threads"},
    {"blockDim", "a swizzle moves whole blocks and does not know threads"},
    {"tl", "write pid_x for tl.program_id(0) and num_pid_x for tl.num_programs(0)"},
    {"and", "write && for and"},
    {"or", "write || for or"},
    {"not", "write ! for not"},
    {"return", "assign the result to pid (or pid_x, pid_y, pid_z) instead of returning it"},
    {"def", "a formula is a list of statements, not a function"},
    {"do", "only for and while loops exist"},
    {"switch", "write if and else"},
    {"float", "only 64-bit whole numbers exist"},
    {"double", "only 64-bit whole numbers exist"},
    {"true", "write 1 for true"},
    {"false", "write 0 for false"},
};

std::optional<std::string_view> hint_for(std::string_view name) {
  for (const Hint& hint : kHints) {
    if (hint.name == name) return hint.advice;
  }
  return std::nullopt;
}

bool contains(auto& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct BinaryOperator {
  std::string_view text;
  int precedence;
  Op op;
};

constexpr int kOrElsePrecedence = 1;
constexpr int kAndThenPrecedence = 2;
constexpr int kRelationPrecedence = 7;

constexpr BinaryOperator kBinaryOperators[] = {
    {"|", 3, Op::kOr},         {"^", 4, Op::kXor},       {"&", 5, Op::kAnd},
    {"==", 6, Op::kEqual},     {"!=", 6, Op::kNotEqual}, {"<", 7, Op::kLess},
    {"<=", 7, Op::kLessEqual}, {">", 7, Op::kGreater},   {">=", 7, Op::kGreaterEqual},
    {"<<", 8, Op::kShl},       {">>", 8, Op::kShr},      {"+", 9, Op::kAdd},
    {"-", 9, Op::kSub},        {"*", 10, Op::kMul},      {"/", 10, Op::kDiv},
    {"%", 10, Op::kMod}};

struct Function {
  std::string_view name;
  Op op;
};

constexpr Function kFunctions[] = {{"min", Op::kMin},
                                   {"max", Op::kMax},
                                   {"abs", Op::kAbs},
                                   {"cdiv", Op::kCdiv},
                                   {"ilog2", Op::kIlog2}};

constexpr std::string_view kSlashesAdvice =
    "// starts a comment here, so this statement ends before it; write / to divide (it rounds "
    "towards zero), or end the statement with ;";

class Parser {
 public:
  Parser(std::string_view text, const Params& params) {
    program_.text = text;
    tokens_ = lex(program_.text);
    for (const std::string_view name : kInputNames) {
      program_.slots.push_back({std::string(name), Slot::Kind::kInput});
    }
    for (const auto& [name, value] : params) add_parameter(name, value);
    first_read_.resize(program_.slots.size());
    assigned_.resize(program_.slots.size(), true);
  }

  FormulaProgram formula() {
    while (!at_end()) statement(program_.body);
    check_names();
    check_result();
    return std::move(program_);
  }

  FormulaProgram condition() {
    Stmt stmt = make_stmt(Stmt::Kind::kAssign);
    stmt.slot = kPid;
    stmt.expr = expression();
    if (!at_end()) fail_expected("the end of the condition");
    check_names();
    program_.body.push_back(add(std::move(stmt)));
    return std::move(program_);
  }

 private:
  // --- tokens ---

  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] const Token& token_after() const {
    return tokens_[std::min(at_ + 1, tokens_.size() - 1)];
  }
  [[nodiscard]] bool at_end() const { return token().kind == Token::Kind::kEnd; }
  [[nodiscard]] bool at(std::string_view text) const { return token().text == text; }
  void skip() {
    if (!at_end()) ++at_;
  }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    skip();
    return true;
  }
  void expect(std::string_view text, std::string_view what) {
    if (!accept(text)) fail_expected(what);
  }

  [[noreturn]] static void fail(const Place& place, const std::string& sentence) {
    throw FormulaError(place.line, place.column, sentence);
  }

  [[noreturn]] static void fail_foreign(const Token& word, std::string_view advice) {
    fail(word.place, fmt::format("'{}' is not part of the language: {}", word.text, advice));
  }

  [[noreturn]] void fail_expected(std::string_view what) const {
    if (token().after_slashes) fail(token().slashes, std::string(kSlashesAdvice));
    if (const auto advice = hint_for(token().text)) fail_foreign(token(), *advice);
    const std::string found = at_end() ? "the text ends" : fmt::format("'{}' stands", token().text);
    fail(token().place, fmt::format("{} here where {} was expected", found, what));
  }

  /// Counts nesting for as long as it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxDepth) {
        fail(parser_.token().place,
             fmt::format("nested more than {} deep; use intermediate names", kMaxDepth));
      }
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  // --- names ---

  void add_parameter(const std::string& name, std::int64_t value) {
    if (find_slot(name) || contains(kKeywords, name) || contains(kTypeWords, name)) {
      throw usage_error(
          fmt::format("the parameter '{}' has the name of something the language already has; "
                      "rename it",
                      name));
    }
    program_.slots.push_back({name, Slot::Kind::kParameter, value});
  }

  [[nodiscard]] std::optional<SlotId> find_slot(std::string_view name) const {
    for (SlotId slot = 0; slot < program_.slots.size(); ++slot) {
      if (program_.slots[slot].name == name) return slot;
    }
    return std::nullopt;
  }

  SlotId slot_of(const Token& name) {
    if (const auto slot = find_slot(name.text)) return *slot;
    if (const auto advice = hint_for(name.text)) fail_foreign(name, *advice);
    if (contains(kKeywords, name.text) || contains(kTypeWords, name.text)) {
      fail(name.place, fmt::format("'{}' cannot be used as a name", name.text));
    }
    if (program_.slots.size() == kMaxSlots) {
      fail(name.place, fmt::format("more than {} names; use fewer", kMaxSlots));
    }
    program_.slots.push_back({std::string(name.text), Slot::Kind::kVariable});
    first_read_.emplace_back();
    assigned_.push_back(false);
    return static_cast<SlotId>(program_.slots.size() - 1);
  }

  SlotId assignable(const Token& name) {
    const SlotId slot = slot_of(name);
    const Slot::Kind kind = program_.slots[slot].kind;
    if (kind == Slot::Kind::kParameter || (kind == Slot::Kind::kInput && slot > kPidZ)) {
      fail(name.place, fmt::format("'{}' is a fixed {} and cannot be assigned; use another name",
                                   name.text, kind == Slot::Kind::kInput ? "input" : "parameter"));
    }
    assigned_[slot] = true;
    if (slot == kPid && !linear_result_) linear_result_ = name.place;
    if (slot >= kPidX && slot <= kPidZ && !axes_result_) axes_result_ = name.place;
    return slot;
  }

  /// Inputs and parameters.
  [[nodiscard]] std::vector<std::string> given_names() const {
    std::vector<std::string> names;
    for (const Slot& slot : program_.slots)
      if (slot.kind != Slot::Kind::kVariable) names.push_back(slot.name);
    return names;
  }

  void check_names() const {
    for (SlotId slot = 0; slot < program_.slots.size(); ++slot) {
      const std::optional<Place>& place = first_read_[slot];
      if (assigned_[slot] || !place) continue;
      fail(*place,
           fmt::format("'{}' is not known: it is no input, no parameter and never assigned; "
                       "known are {}",
                       program_.slots[slot].name, fmt::join(given_names(), ", ")));
    }
  }

  void check_result() {
    if (linear_result_ && axes_result_) {
      const bool linear_last = linear_result_->line > axes_result_->line ||
                               (linear_result_->line == axes_result_->line &&
                                linear_result_->column > axes_result_->column);
      fail(linear_last ? *linear_result_ : *axes_result_,
           "both pid and pid_x/pid_y/pid_z are assigned; assign only one kind of result");
    }
    if (!linear_result_ && !axes_result_) {
      fail(token().place, "the text ends without a result; assign pid, or pid_x, pid_y and pid_z");
    }
    program_.result = axes_result_ ? ResultKind::kAxes : ResultKind::kLinear;
  }

  // --- statements ---

  [[nodiscard]] Stmt make_stmt(Stmt::Kind kind) const {
    Stmt stmt{.kind = kind, .place = token().place, .body = {}, .other = {}, .comment = {}};
    stmt.comment = token().comment;
    return stmt;
  }

  StmtId add(Stmt stmt) {
    program_.stmts.push_back(std::move(stmt));
    return static_cast<StmtId>(program_.stmts.size() - 1);
  }

  void statement(std::vector<StmtId>& into) {
    const Nested nested(*this);
    if (accept(";")) return;
    if (at("{")) return block(into);
    if (at("if")) return into.push_back(if_statement());
    if (at("while")) return into.push_back(while_statement());
    if (at("for")) return for_statement(into);
    if (at("break") || at("continue")) return into.push_back(jump_statement());
    simple_statements(into);
    end_of_statement();
  }

  void block(std::vector<StmtId>& into) {
    const Place opened = token().place;
    expect("{", "{");
    while (!accept("}")) {
      if (at_end()) fail(opened, "this { is never closed; add the missing }");
      statement(into);
    }
  }

  void end_of_statement() {
    if (accept(";")) return;
    const bool ends = token().after_newline || at("}") || at_end();
    if (!ends || token().after_slashes) fail_expected("; or a new line");
  }

  ExprId parenthesised_condition(std::string_view before) {
    expect("(", fmt::format("a condition in parentheses after {}", before));
    const ExprId condition = expression();
    expect(")", "the ) of the condition");
    return condition;
  }

  StmtId if_statement() {
    Stmt stmt = make_stmt(Stmt::Kind::kIf);
    skip();
    set_expr(stmt, [&] { return parenthesised_condition("if"); });
    statement(stmt.body);
    if (accept("else")) statement(stmt.other);
    return add(std::move(stmt));
  }

  StmtId while_statement() {
    Stmt stmt = make_stmt(Stmt::Kind::kLoop);
    skip();
    set_expr(stmt, [&] { return parenthesised_condition("while"); });
    loop_body(stmt);
    return add(std::move(stmt));
  }

  void for_statement(std::vector<StmtId>& into) {
    const std::string comment = token().comment;
    Stmt stmt = make_stmt(Stmt::Kind::kLoop);
    stmt.comment.clear();
    skip();
    expect("(", "( after for");
    const std::size_t first = into.size();
    if (!at(";")) simple_statements(into);
    (into.size() > first ? program_.stmts[into[first]] : stmt).comment = comment;
    expect(";", "; after the start of for");
    set_expr(stmt, [&] { return at(";") ? constant(1, token().place) : expression(); });
    expect(";", "; after the condition of for");
    std::vector<StmtId> step;
    if (!at(")")) simple_statements(step);
    expect(")", "the ) of for");
    stmt.other = std::move(step);
    loop_body(stmt);
    into.push_back(add(std::move(stmt)));
  }

  void loop_body(Stmt& loop) {
    ++loops_;
    statement(loop.body);
    --loops_;
  }

  StmtId jump_statement() {
    Stmt stmt = make_stmt(at("break") ? Stmt::Kind::kBreak : Stmt::Kind::kContinue);
    if (loops_ == 0) fail(token().place, fmt::format("'{}' stands outside a loop", token().text));
    skip();
    end_of_statement();
    return add(std::move(stmt));
  }

  /// Assignments and declarations, separated by commas: `int a = 1, b`, `i++, j -= 2`.
  void simple_statements(std::vector<StmtId>& into) {
    bool declares = false;
    while (token().kind == Token::Kind::kName && contains(kTypeWords, token().text)) {
      declares = true;
      skip();
    }
    if (at("*")) fail(token().place, "a formula has no pointers");
    do {
      assignment(into, declares);
    } while (accept(","));
  }

  void assignment(std::vector<StmtId>& into, bool declares) {
    Stmt stmt = make_stmt(Stmt::Kind::kAssign);
    if (at("++") || at("--")) {
      const Op op = at("++") ? Op::kAdd : Op::kSub;
      skip();
      return into.push_back(step_by_one(std::move(stmt), name_token(), op));
    }
    if (at("*")) fail(token().place, "a formula has no pointers");
    const Token name = name_token();
    if (at("(")) fail_call(name);
    if (declares && (at(";") || at(",") || token().after_newline || at_end())) {
      slot_of(name);
      return;
    }
    if (at("++") || at("--")) {
      const Op op = at("++") ? Op::kAdd : Op::kSub;
      skip();
      return into.push_back(step_by_one(std::move(stmt), name, op));
    }
    if (accept("=")) {
      set_expr(stmt, [&] { return expression(); });
    } else {
      const std::optional<Op> op = compound_operator();
      if (!op) fail_not_assigned(name);
      const Place place = token().place;
      skip();
      set_expr(stmt, [&] {
        const ExprId before = read(name);
        return apply(*op, place, before, expression());
      });
    }
    if (at("=")) fail(token().place, "one assignment a statement; split this chain");
    stmt.slot = assignable(name);
    into.push_back(add(std::move(stmt)));
  }

  [[noreturn]] void fail_not_assigned(const Token& name) const {
    if (const auto advice = hint_for(name.text)) fail_foreign(name, *advice);
    fail_expected(fmt::format("an assignment to '{}'", name.text));
  }

  StmtId step_by_one(Stmt stmt, const Token& name, Op op) {
    set_expr(stmt, [&] { return apply(op, name.place, read(name), constant(1, name.place)); });
    stmt.slot = assignable(name);
    return add(std::move(stmt));
  }

  Token name_token() {
    if (token().kind != Token::Kind::kName) fail_expected("a statement");
    const Token name = token();
    skip();
    return name;
  }

  [[nodiscard]] std::optional<Op> compound_operator() const {
    const std::string_view text = token().text;
    if (text.size() < 2 || text.back() != '=') return std::nullopt;
    for (const BinaryOperator& binary : kBinaryOperators) {
      if (!is_comparison(binary.op) && text.substr(0, text.size() - 1) == binary.text) {
        return binary.op;
      }
    }
    return std::nullopt;
  }

  /// Parses the statement's expression and books what evaluating it costs.
  void set_expr(Stmt& stmt, auto parse) {
    const std::size_t before = program_.exprs.size();
    stmt.expr = parse();
    stmt.cost = static_cast<std::uint32_t>(1 + program_.exprs.size() - before);
  }

  // --- expressions ---

  ExprId add(Expr expr, std::initializer_list<ExprId> operands) {
    std::uint32_t depth = 0;
    for (const ExprId operand : operands) {
      depth = std::max<std::uint32_t>(depth, program_.exprs[operand].depth);
    }
    if (depth >= kMaxDepth) {
      fail(expr.place, fmt::format("this expression is more than {} operations deep; use "
                                   "intermediate names",
                                   kMaxDepth));
    }
    expr.depth = static_cast<std::uint16_t>(depth + 1);
    program_.exprs.push_back(expr);
    return static_cast<ExprId>(program_.exprs.size() - 1);
  }

  ExprId constant(std::int64_t value, const Place& place) {
    return add({.kind = Expr::Kind::kConstant, .place = place, .value = value}, {});
  }

  ExprId read(const Token& name) {
    const SlotId slot = slot_of(name);
    if (!first_read_[slot]) first_read_[slot] = name.place;
    return add({.kind = Expr::Kind::kName, .place = name.place, .slot = slot}, {});
  }

  ExprId apply(Op op, const Place& place, ExprId a, ExprId b) {
    return add({.kind = Expr::Kind::kApply, .op = op, .place = place, .a = a, .b = b}, {a, b});
  }

  ExprId apply(Op op, const Place& place, ExprId a) {
    return add({.kind = Expr::Kind::kApply, .op = op, .place = place, .a = a, .b = a}, {a});
  }

  ExprId expression() {
    const Nested nested(*this);
    const ExprId first = binary(kOrElsePrecedence);
    if (!at("?")) return first;
    const Place place = token().place;
    skip();
    const ExprId then = expression();
    expect(":", "the : of ?:");
    const ExprId otherwise = expression();
    return add({.kind = Expr::Kind::kChoose, .place = place, .a = first, .b = then, .c = otherwise},
               {first, then, otherwise});
  }

  ExprId binary(int least) {
    ExprId left = unary();
    bool compared = false;
    for (;;) {
      const Place place = token().place;
      if (at("||") && least <= kOrElsePrecedence) {
        skip();
        const ExprId right = binary(kOrElsePrecedence + 1);
        left = add({.kind = Expr::Kind::kOrElse, .place = place, .a = left, .b = right},
                   {left, right});
      } else if (at("&&") && least <= kAndThenPrecedence) {
        skip();
        const ExprId right = binary(kAndThenPrecedence + 1);
        left = add({.kind = Expr::Kind::kAndThen, .place = place, .a = left, .b = right},
                   {left, right});
      } else if (const BinaryOperator* found = binary_operator();
                 found != nullptr && least <= found->precedence) {
        if (found->precedence == kRelationPrecedence && std::exchange(compared, true)) {
          fail(place, "a chain of comparisons is ambiguous; write a < b && b < c");
        }
        skip();
        left = apply(found->op, place, left, binary(found->precedence + 1));
      } else {
        return left;
      }
    }
  }

  [[nodiscard]] const BinaryOperator* binary_operator() const {
    for (const BinaryOperator& candidate : kBinaryOperators) {
      if (at(candidate.text)) return &candidate;
    }
    return nullptr;
  }

  ExprId unary() {
    const Nested nested(*this);
    const Place place = token().place;
    if (accept("-")) return apply(Op::kNegate, place, unary());
    if (accept("~")) return apply(Op::kComplement, place, unary());
    if (accept("!")) return apply(Op::kNot, place, unary());
    if (accept("+")) return unary();
    if (at("*") || at("&")) fail(place, "a formula has no pointers and takes no addresses");
    return primary();
  }

  ExprId primary() {
    const Token first = token();
    if (first.kind == Token::Kind::kNumber) {
      skip();
      return constant(first.value, first.place);
    }
    if (accept("(")) return parenthesised(first);
    if (first.kind != Token::Kind::kName) fail_expected("a value");
    skip();
    return at("(") ? call(first) : read(first);
  }

  ExprId parenthesised(const Token& opened) {
    if (contains(kTypeWords, token().text)) {
      fail(opened.place, "casts are not needed, every value is a 64-bit integer; drop it");
    }
    const ExprId inner = expression();
    if (at("=")) fail(token().place, "= assigns; write == to compare");
    expect(")", "the closing )");
    return inner;
  }

  ExprId call(const Token& name) {
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Function& f) { return f.name == name.text; });
    if (function == std::end(kFunctions)) fail_call(name);
    skip();
    ExprId result = expression();
    if (is_unary(function->op)) {
      result = apply(function->op, name.place, result);
    } else {
      expect(",", fmt::format("a second argument of {}", name.text));
      result = apply(function->op, name.place, result, expression());
      const bool any_number = function->op != Op::kCdiv;
      while (any_number && accept(",")) {
        result = apply(function->op, name.place, result, expression());
      }
    }
    expect(")", fmt::format("the ) after the arguments of {}", name.text));
    return result;
  }

  [[noreturn]] static void fail_call(const Token& name) {
    if (const auto advice = hint_for(name.text)) fail_foreign(name, *advice);
    fail(name.place,
         fmt::format("'{}' is no function of the language; it has min, max, abs, cdiv and ilog2 "
                     "and nothing else",
                     name.text));
  }

  FormulaProgram program_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::uint32_t nesting_ = 0;
  std::uint32_t loops_ = 0;
  std::vector<std::optional<Place>> first_read_;  // by slot
  std::vector<bool> assigned_;                    // by slot
  std::optional<Place> linear_result_;
  std::optional<Place> axes_result_;
};

}  // namespace

FormulaProgram parse_formula(std::string_view text, const Params& params) {
  return Parser(text, params).formula();
}

FormulaProgram parse_condition(std::string_view text) { return Parser(text, {}).condition(); }

}  // namespace swizzleperf
