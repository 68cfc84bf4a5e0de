// Specialising a formula for a launch: the formula is executed once, on symbols instead of numbers.
//
// A symbol is a node of a small graph: a constant, the dispatch index, or an operation on earlier
// nodes, each with the range of values it can take over the whole launch. Executing symbolically
//   - folds everything that is constant for the launch, loops included: `for (s = 1; s < n; s *=
//   2)`
//     with a known n simply runs, and leaves the operations of its body behind;
//   - follows only one side of an `if` whose condition is known, and both sides of one that is not,
//     merging what they assigned with a select;
//   - shares equal nodes, so that pid / 8 and pid % 8 divide once.
//
// No operation may fault silently. Each one asks apply_range first. If a fault is impossible for
// the ranges, it is emitted unchecked; if the only danger is a zero divisor, a check is emitted
// that stops the lanes; in every other case specialisation gives up. Whoever stops or gives up
// hands the launch to the interpreter, which finds the true fault, or finds that there was none. So
// this file never reports an error, and the two evaluators cannot disagree about one.
//
// Under a mask (in the branches of an unknown `if`) all lanes compute, also those for which the
// branch is not taken; divisors of idle lanes are replaced by 1.

#include "formula/specialise.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "formula/arithmetic.h"
#include "formula/interpret.h"

namespace swizzleperf {
namespace {

constexpr std::size_t kMaxNodes = 4096;
constexpr std::uint64_t kMaxSymbolicSteps = kMaxSteps;

using NodeId = std::uint16_t;
constexpr NodeId kUnset = std::numeric_limits<NodeId>::max();

struct Node {
  LaneOp op;
  NodeId a, b, c;
  Range range;
};

/// The graph under construction.
class Graph {
 public:
  Graph() { nodes_.reserve(64); }

  NodeId add(LaneOp op, NodeId a, NodeId b, NodeId c, const Range& range) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(op) << 48 | std::uint64_t{a} << 32 | std::uint64_t{b} << 16 | c;
    const auto found = std::find(keys_.begin(), keys_.end(), key);
    if (found != keys_.end()) return static_cast<NodeId>(found - keys_.begin());
    return append(key, {op, a, b, c, range});
  }

  NodeId constant(std::int64_t value) {
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const Node& node = nodes_[id];
      if (node.op == LaneOp::kConstant && node.range.lo == value) return static_cast<NodeId>(id);
    }
    return append(std::numeric_limits<std::uint64_t>::max(),
                  {LaneOp::kConstant, 0, 0, 0, Range::of(value)});
  }

  [[nodiscard]] bool full() const { return nodes_.size() >= kMaxNodes; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const Range& range(NodeId id) const { return nodes_[id].range; }

 private:
  NodeId append(std::uint64_t key, const Node& node) {
    if (full()) return 0;  // the specialiser notices and gives up
    keys_.push_back(key);
    nodes_.push_back(node);
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  std::vector<Node> nodes_;
  std::vector<std::uint64_t> keys_;
};

/// Executes the formula on nodes. Once `gave_up()`, results are meaningless but harmless.
class Specialiser {
 public:
  Specialiser(const FormulaProgram& program, const LaunchShape& shape)
      : program_(program), shape_(shape), env_(program.slots.size(), kUnset) {}

  bool run() {
    bind_inputs();
    run(program_.body);
    result_ = program_.result == ResultKind::kLinear ? env_[kPid] : linear_result();
    return !gave_up();
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] NodeId result() const { return result_; }

 private:
  enum class Next : std::uint8_t { kGoOn, kBreak, kContinue };
  static constexpr NodeId kNoMask = kUnset;

  // --- values ---

  NodeId give_up() {
    gave_up_ = true;
    return 0;
  }
  [[nodiscard]] bool gave_up() const { return gave_up_ || graph_.full(); }
  [[nodiscard]] const Range& range(NodeId id) const { return graph_.range(id); }
  [[nodiscard]] bool is(NodeId id, std::int64_t value) const {
    return range(id) == Range::of(value);
  }

  void bind_inputs() {
    const auto at_zero = input_values(shape_, 0);
    const Dim3& grid = shape_.grid;
    const auto last = static_cast<std::int64_t>(grid.count()) - 1;
    env_[kPid] = graph_.add(LaneOp::kPid, 0, 0, 0, {0, last});
    for (SlotId slot = kNumPidX; slot < kNumInputs; ++slot) {
      env_[slot] = graph_.constant(at_zero[slot]);
    }
    const NodeId row = binary(Op::kDiv, env_[kPid], env_[kNumPidX]);
    env_[kPidX] = binary(Op::kMod, env_[kPid], env_[kNumPidX]);
    env_[kPidY] = binary(Op::kMod, row, env_[kNumPidY]);
    env_[kPidZ] = binary(Op::kDiv, row, env_[kNumPidY]);
    for (SlotId slot = kNumInputs; slot < program_.slots.size(); ++slot) {
      const Slot& s = program_.slots[slot];
      if (s.kind == Slot::Kind::kParameter) env_[slot] = graph_.constant(s.value);
    }
  }

  /// x + nx * (y + ny * z), or -1 where one of them leaves its extent.
  NodeId linear_result() {
    if (gave_up()) return 0;
    NodeId inside = graph_.constant(1);
    NodeId linear = graph_.constant(0);
    for (SlotId axis = 3; axis-- > 0;) {
      const NodeId extent = env_[kNumPidX + axis];
      const NodeId index = env_[kPidX + axis];
      const NodeId last = binary(Op::kSub, extent, graph_.constant(1));
      const NodeId clamped = binary(Op::kMin, binary(Op::kMax, index, graph_.constant(0)), last);
      inside = binary(Op::kAnd, inside, binary(Op::kEqual, index, clamped));
      linear = binary(Op::kAdd, binary(Op::kMul, linear, extent), clamped);
    }
    return choose(inside, linear, graph_.constant(-1));
  }

  NodeId emit(LaneOp op, NodeId a, NodeId b, const Range& result) {
    if (result.is_constant()) return graph_.constant(result.lo);
    return graph_.add(op, a, b, 0, result);
  }

  /// op(a, b) without a fault, or giving up.
  NodeId binary(Op op, NodeId a, NodeId b) {
    if (gave_up()) return 0;
    if ((op == Op::kDiv || op == Op::kMod || op == Op::kCdiv) && range(b).contains(0)) {
      b = checked_divisor(b);
    }
    const std::optional<Range> result = apply_range(op, range(a), range(b));
    if (!result) return give_up();
    switch (op) {
      case Op::kAdd:
        return is(a, 0) ? b : is(b, 0) ? a : emit(LaneOp::kAdd, a, b, *result);
      case Op::kSub:
        return is(b, 0) ? a : emit(LaneOp::kSub, a, b, *result);
      case Op::kMul:
        return is(a, 1) ? b : is(b, 1) ? a : emit(LaneOp::kMul, a, b, *result);
      case Op::kDiv:
        return quotient(a, b, *result);
      case Op::kMod:
        return remainder(a, b, *result);
      case Op::kCdiv:
        return rounded_up(a, b);
      case Op::kShl:
        return emit(LaneOp::kShl, a, b, *result);
      case Op::kShr:
        return emit(LaneOp::kShr, a, b, *result);
      case Op::kAnd:
        return is(a, 1) && range(b).within(0, 1) ? b : emit(LaneOp::kAnd, a, b, *result);
      case Op::kOr:
        return emit(LaneOp::kOr, a, b, *result);
      case Op::kXor:
        return emit(LaneOp::kXor, a, b, *result);
      case Op::kLess:
        return emit(LaneOp::kLess, a, b, *result);
      case Op::kLessEqual:
        return emit(LaneOp::kLessEqual, a, b, *result);
      case Op::kGreater:
        return emit(LaneOp::kLess, b, a, *result);
      case Op::kGreaterEqual:
        return emit(LaneOp::kLessEqual, b, a, *result);
      case Op::kEqual:
        return a == b ? graph_.constant(1) : emit(LaneOp::kEqual, a, b, *result);
      case Op::kNotEqual:
        return negation(binary(Op::kEqual, a, b));
      case Op::kMin:
        return *result == range(a)   ? lower(a, b, *result)
               : *result == range(b) ? lower(b, a, *result)
                                     : emit(LaneOp::kMin, a, b, *result);
      case Op::kMax:
        return range(a).lo >= range(b).hi   ? a
               : range(b).lo >= range(a).hi ? b
                                            : emit(LaneOp::kMax, a, b, *result);
      default:
        return give_up();
    }
  }

  /// min(a, b) whose range is a's: often it is a.
  NodeId lower(NodeId a, NodeId b, const Range& result) {
    return range(a).hi <= range(b).lo ? a : emit(LaneOp::kMin, a, b, result);
  }

  NodeId unary(Op op, NodeId a) {
    if (gave_up()) return 0;
    const std::optional<Range> result = apply_range(op, range(a), range(a));
    if (!result) return give_up();
    switch (op) {
      case Op::kNegate:
        return emit(LaneOp::kSub, graph_.constant(0), a, *result);
      case Op::kComplement:
        return emit(LaneOp::kXor, a, graph_.constant(-1), *result);
      case Op::kNot:
        return emit(LaneOp::kEqual, a, graph_.constant(0), *result);
      case Op::kAbs:
        return range(a).lo >= 0 ? a : binary(Op::kMax, a, unary(Op::kNegate, a));
      case Op::kIlog2:
        return emit(LaneOp::kIlog2, a, a, *result);
      default:
        return give_up();
    }
  }

  NodeId negation(NodeId a) { return unary(Op::kNot, a); }

  /// b, assumed to be positive, as divisors are; an active lane for which it is not stops the
  /// launch.
  NodeId checked_divisor(NodeId b) {
    if (mask_ != kNoMask) {
      const NodeId one = graph_.constant(1);
      b = graph_.add(LaneOp::kSelect, mask_, b, one, hull(range(b), Range::of(1)));
    }
    if (gave_up() || range(b).hi <= 0) return give_up();
    return graph_.add(LaneOp::kCheckPositive, b, 0, 0, {1, range(b).hi});
  }

  static bool power_of_two(const Range& r) {
    return r.is_constant() && r.lo > 0 && (r.lo & (r.lo - 1)) == 0;
  }

  NodeId quotient(NodeId a, NodeId b, const Range& result) {
    if (is(b, 1)) return a;
    if (range(a).lo >= 0 && power_of_two(range(b))) {
      return binary(Op::kShr, a, graph_.constant(__builtin_ctzll(range(b).lo)));
    }
    constexpr std::int64_t kFloat = (1 << 23) - 1;
    constexpr std::int64_t kDouble = (std::int64_t{1} << 51) - 1;
    const LaneOp op = range(a).within(-kFloat, kFloat)     ? LaneOp::kDivFloat
                      : range(a).within(-kDouble, kDouble) ? LaneOp::kDivDouble
                                                           : LaneOp::kDivInt;
    return emit(op, a, b, result);
  }

  NodeId remainder(NodeId a, NodeId b, const Range& result) {
    if (result.is_constant()) return graph_.constant(result.lo);
    if (range(a).lo >= 0 && power_of_two(range(b))) {
      return emit(LaneOp::kAnd, a, graph_.constant(range(b).lo - 1), result);
    }
    const NodeId q = binary(Op::kDiv, a, b);
    if (is(q, 0)) return a;
    // q * b lies between 0 and a, whatever the ranges of q and b say.
    const NodeId multiple = emit(LaneOp::kMul, q, b, hull(range(a), Range::of(0)));
    return emit(LaneOp::kSub, a, multiple, result);
  }

  NodeId rounded_up(NodeId a, NodeId b) {
    if (range(a).lo < 0 || range(b).lo < 1) return give_up();
    const NodeId inexact = binary(Op::kGreater, binary(Op::kMod, a, b), graph_.constant(0));
    return binary(Op::kAdd, binary(Op::kDiv, a, b), inexact);
  }

  NodeId choose(NodeId condition, NodeId a, NodeId b) {
    if (gave_up()) return 0;
    if (a == b || range(condition).lo > 0 || range(condition).hi < 0) return a;
    if (is(condition, 0)) return b;
    return graph_.add(LaneOp::kSelect, condition, a, b, hull(range(a), range(b)));
  }

  // --- expressions ---

  [[nodiscard]] bool known(NodeId condition) const {
    return !range(condition).contains(0) || range(condition).is_constant();
  }
  [[nodiscard]] bool holds(NodeId condition) const { return !range(condition).contains(0); }

  /// 0 or 1.
  NodeId truth(NodeId a) {
    if (gave_up() || range(a).within(0, 1)) return a;
    return binary(Op::kNotEqual, a, graph_.constant(0));
  }

  /// Evaluates with only the lanes of `condition` active.
  NodeId eval_where(NodeId condition, ExprId id) {
    const NodeId outer = narrow_mask(condition);
    const NodeId result = eval(id);
    mask_ = outer;
    return result;
  }

  /// Returns the mask to restore.
  NodeId narrow_mask(NodeId condition) {
    const NodeId outer = mask_;
    mask_ = outer == kNoMask ? condition : binary(Op::kAnd, outer, condition);
    return outer;
  }

  NodeId eval(ExprId id) {
    if (gave_up()) return 0;
    const Expr& expr = program_.exprs[id];
    switch (expr.kind) {
      case Expr::Kind::kConstant:
        return graph_.constant(expr.value);
      case Expr::Kind::kName:
        return env_[expr.slot] == kUnset ? give_up() : env_[expr.slot];
      case Expr::Kind::kApply:
        return is_unary(expr.op) ? unary(expr.op, eval(expr.a)) : apply_binary(expr);
      case Expr::Kind::kAndThen:
        return and_then(expr);
      case Expr::Kind::kOrElse:
        return or_else(expr);
      case Expr::Kind::kChoose:
        return choice(expr);
    }
    return give_up();
  }

  NodeId apply_binary(const Expr& expr) {
    const NodeId a = eval(expr.a);
    const NodeId b = eval(expr.b);
    return binary(expr.op, a, b);
  }

  NodeId and_then(const Expr& expr) {
    const NodeId a = truth(eval(expr.a));
    if (gave_up() || is(a, 0)) return a;
    if (holds(a)) return truth(eval(expr.b));
    const NodeId b = truth(eval_where(a, expr.b));
    return binary(Op::kAnd, a, b);
  }

  NodeId or_else(const Expr& expr) {
    const NodeId a = truth(eval(expr.a));
    if (gave_up() || holds(a)) return a;
    if (is(a, 0)) return truth(eval(expr.b));
    const NodeId b = truth(eval_where(negation(a), expr.b));
    return binary(Op::kOr, a, b);
  }

  NodeId choice(const Expr& expr) {
    const NodeId condition = truth(eval(expr.a));
    if (gave_up()) return 0;
    if (known(condition)) return eval(holds(condition) ? expr.b : expr.c);
    const NodeId b = eval_where(condition, expr.b);
    const NodeId c = eval_where(negation(condition), expr.c);
    return choose(condition, b, c);
  }

  // --- statements ---

  void spend(const Stmt& stmt) {
    steps_ += stmt.cost;
    if (steps_ > kMaxSymbolicSteps) give_up();
  }

  Next run(const std::vector<StmtId>& stmts) {
    for (const StmtId id : stmts) {
      const Next next = run(program_.stmts[id]);
      if (gave_up() || next != Next::kGoOn) return next;
    }
    return Next::kGoOn;
  }

  Next run(const Stmt& stmt) {
    switch (stmt.kind) {
      case Stmt::Kind::kAssign:
        spend(stmt);
        env_[stmt.slot] = eval(stmt.expr);
        return Next::kGoOn;
      case Stmt::Kind::kIf:
        return branch(stmt);
      case Stmt::Kind::kLoop:
        return loop(stmt);
      case Stmt::Kind::kBreak:
        return Next::kBreak;
      case Stmt::Kind::kContinue:
        return Next::kContinue;
    }
    return Next::kGoOn;
  }

  Next branch(const Stmt& stmt) {
    spend(stmt);
    const NodeId condition = truth(eval(stmt.expr));
    if (gave_up()) return Next::kGoOn;
    if (known(condition)) return run(holds(condition) ? stmt.body : stmt.other);
    const std::vector<NodeId> before = env_;
    const Next then = run_where(condition, stmt.body);
    std::vector<NodeId> after_then = std::exchange(env_, before);
    const Next otherwise = run_where(negation(condition), stmt.other);
    if (then != Next::kGoOn || otherwise != Next::kGoOn) give_up();  // some lanes leave the loop
    merge(condition, after_then);
    return Next::kGoOn;
  }

  Next run_where(NodeId condition, const std::vector<StmtId>& stmts) {
    const NodeId outer = narrow_mask(condition);
    const Next next = run(stmts);
    mask_ = outer;
    return next;
  }

  /// env_ = condition ? after_then : env_; a name that only one side set counts as unset.
  void merge(NodeId condition, const std::vector<NodeId>& after_then) {
    for (std::size_t slot = 0; slot < env_.size() && !gave_up(); ++slot) {
      if (env_[slot] == after_then[slot]) continue;
      const bool both = env_[slot] != kUnset && after_then[slot] != kUnset;
      env_[slot] = both ? choose(condition, after_then[slot], env_[slot]) : kUnset;
    }
  }

  Next loop(const Stmt& stmt) {
    for (;;) {
      spend(stmt);
      const NodeId condition = truth(eval(stmt.expr));
      if (!gave_up() && !known(condition)) give_up();
      if (gave_up() || is(condition, 0)) return Next::kGoOn;
      if (run(stmt.body) == Next::kBreak) return Next::kGoOn;
      run(stmt.other);
      if (gave_up()) return Next::kGoOn;
    }
  }

  const FormulaProgram& program_;
  LaunchShape shape_;
  Graph graph_;
  std::vector<NodeId> env_;  // by slot
  NodeId mask_ = kNoMask;
  NodeId result_ = 0;
  std::uint64_t steps_ = 0;
  bool gave_up_ = false;
};

// --- from the graph to lane code ---

struct Operands {
  NodeId of[3];
  int count;
};

Operands operands(const Node& node) {
  switch (node.op) {
    case LaneOp::kPid:
    case LaneOp::kConstant:
      return {{}, 0};
    case LaneOp::kCheckPositive:
      return {{node.a}, 1};
    case LaneOp::kSelect:
      return {{node.a, node.b, node.c}, 3};
    default:
      return {{node.a, node.b}, 2};
  }
}

/// For each node the last node that reads it; 0 = nobody needs it. Checks are always needed.
std::vector<NodeId> last_uses(const std::vector<Node>& nodes, NodeId result) {
  std::vector<NodeId> last(nodes.size(), 0);
  last[result] = static_cast<NodeId>(nodes.size());
  for (std::size_t id = nodes.size(); id-- > 0;) {
    if (last[id] == 0 && nodes[id].op != LaneOp::kCheckPositive) continue;
    const Operands read = operands(nodes[id]);
    for (int i = 0; i < read.count; ++i) {
      last[read.of[i]] = std::max(last[read.of[i]], static_cast<NodeId>(id));
    }
  }
  return last;
}

/// A checked divisor is its operand; readers go past the check.
NodeId past_checks(const std::vector<Node>& nodes, NodeId id) {
  while (nodes[id].op == LaneOp::kCheckPositive) id = nodes[id].a;
  return id;
}

/// Linear scan: a register is free again once its last reader has run. Constants keep theirs.
class Allocator {
 public:
  std::uint16_t take() {
    if (free_.empty()) return next_++;
    const std::uint16_t reg = free_.back();
    free_.pop_back();
    return reg;
  }
  void release(std::uint16_t reg) { free_.push_back(reg); }
  [[nodiscard]] std::uint16_t count() const { return next_; }

 private:
  std::vector<std::uint16_t> free_;
  std::uint16_t next_ = 0;
};

class Generator {
 public:
  Generator(std::vector<Node> nodes, NodeId result) : nodes_(std::move(nodes)) {
    for (Node& node : nodes_) {
      node.a = past_checks(nodes_, node.a);
      node.b = past_checks(nodes_, node.b);
      node.c = past_checks(nodes_, node.c);
    }
    result_ = past_checks(nodes_, result);
    last_ = last_uses(nodes_, result_);
    reg_.resize(nodes_.size(), 0);
  }

  LaneCode run() {
    code_.narrow = true;
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].op == LaneOp::kConstant && last_[id] != 0) constant(id);
    }
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const bool needed = last_[id] != 0 || nodes_[id].op == LaneOp::kCheckPositive;
      if (nodes_[id].op != LaneOp::kConstant && needed) operation(id);
    }
    code_.num_registers = allocator_.count();
    code_.result = reg_[result_];
    return std::move(code_);
  }

 private:
  void constant(std::size_t id) {
    reg_[id] = allocator_.take();
    code_.constants.push_back(
        {.op = LaneOp::kConstant, .to = reg_[id], .value = nodes_[id].range.lo});
    code_.narrow &= nodes_[id].range.fits_int32();
  }

  void operation(std::size_t id) {
    const Node& node = nodes_[id];
    const bool is_shift = node.op == LaneOp::kShl || node.op == LaneOp::kShr;
    const bool far_shift = is_shift && nodes_[node.b].range.hi > 31;
    code_.narrow &= node.range.fits_int32() && !far_shift;
    if (node.op != LaneOp::kCheckPositive) reg_[id] = allocator_.take();
    code_.body.push_back(
        {.op = node.op, .to = reg_[id], .a = reg_[node.a], .b = reg_[node.b], .c = reg_[node.c]});
    release_operands(id);
  }

  void release_operands(std::size_t id) {
    const Operands read = operands(nodes_[id]);
    for (int i = 0; i < read.count; ++i) {
      const NodeId operand = read.of[i];
      const bool repeated = (i > 0 && operand == read.of[0]) || (i > 1 && operand == read.of[1]);
      const bool is_constant = nodes_[operand].op == LaneOp::kConstant;
      if (!repeated && !is_constant && last_[operand] == id) allocator_.release(reg_[operand]);
    }
  }

  std::vector<Node> nodes_;
  NodeId result_ = 0;
  std::vector<NodeId> last_;        // by node: its last reader
  std::vector<std::uint16_t> reg_;  // by node
  Allocator allocator_;
  LaneCode code_;
};

}  // namespace

std::optional<LaneCode> specialise(const FormulaProgram& program, const LaunchShape& shape) {
  Specialiser specialiser(program, shape);
  if (!specialiser.run()) return std::nullopt;
  return Generator(specialiser.graph().nodes(), specialiser.result()).run();
}

}  // namespace swizzleperf
