// A walk over the tree with a range for each name. Branches that no range decides join. A loop
// whose condition the ranges do decide, as they do on one grid, is walked as often as it runs; any
// other is walked once, with every name that it assigns taken to be anything (widening at once:
// loops are rare in index maps).

#include "formula/infer.h"

#include <algorithm>
#include <utility>

namespace swizzleperf {
namespace {

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
constexpr int kMostRounds = 4096;  // of loops, walked one by one

/// No value yet: the neutral element of hull().
constexpr Range kNothing{std::numeric_limits<std::int64_t>::max(),
                         std::numeric_limits<std::int64_t>::min()};

bool is_nothing(const Range& range) { return range.lo > range.hi; }

Range intersect(const Range& a, const Range& b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Range or_all(const std::optional<Range>& range) { return range ? *range : Range::all(); }

/// apply_range for operands that are known not to fault.
Range apply_faultless(Op op, const Range& a, const Range& b) {
  if (is_nothing(a) || is_nothing(b)) return Range::all();
  if (op == Op::kShl || op == Op::kShr) {
    const Range amount = intersect(b, {0, 63});
    return is_nothing(amount) ? Range::all() : or_all(apply_range(op, a, amount));
  }
  if (op == Op::kIlog2) {
    const Range positive = intersect(a, {1, a.hi});
    return is_nothing(positive) ? Range::all() : or_all(apply_range(op, positive, b));
  }
  if ((op != Op::kDiv && op != Op::kMod && op != Op::kCdiv) || !b.contains(0)) {
    return or_all(apply_range(op, a, b));
  }
  Range result = kNothing;
  for (const Range& half : {intersect(b, {b.lo, -1}), intersect(b, {1, b.hi})}) {
    if (!is_nothing(half)) result = hull(result, or_all(apply_range(op, a, half)));
  }
  return is_nothing(result) ? Range::all() : result;
}

class Walk {
 public:
  /// Of every grid of fewer than 2^31 blocks.
  Walk(const FormulaProgram& program, std::uint32_t num_xcds, std::uint32_t cus_per_xcd)
      : program_(program), env_(program.slots.size(), kNothing) {
    for (SlotId slot = kPid; slot <= kPidZ; ++slot) env_[slot] = {0, kMostBlocks - 1};
    for (SlotId slot = kNumPidX; slot <= kNumBlocks; ++slot) env_[slot] = {1, kMostBlocks};
    begin(num_xcds, cus_per_xcd);
  }

  Walk(const FormulaProgram& program, const LaunchShape& shape)
      : program_(program), env_(program.slots.size(), kNothing), rounds_(kMostRounds) {
    const Dim3& grid = shape.grid;
    most_ = static_cast<std::int64_t>(grid.count());
    const std::int64_t extents[] = {grid.x, grid.y, grid.z, most_};
    for (SlotId slot = kNumPidX; slot <= kNumBlocks; ++slot)
      env_[slot] = Range::of(extents[slot - kNumPidX]);
    env_[kPid] = {0, most_ - 1};
    for (SlotId slot = kPidX; slot <= kPidZ; ++slot) env_[slot] = {0, extents[slot - kPidX] - 1};
    begin(shape.num_xcds, shape.cus_per_xcd);
  }

  Inference run() {
    if (program_.result == ResultKind::kLinear) find_final(program_.body);
    run(program_.body);
    return std::move(out_);
  }

 private:
  void begin(std::uint32_t num_xcds, std::uint32_t cus_per_xcd) {
    out_.expr.resize(program_.exprs.size(), kNothing);
    env_[kNumXcds] = Range::of(num_xcds);
    env_[kCusPerXcd] = Range::of(cus_per_xcd);
    for (SlotId slot = kNumInputs; slot < program_.slots.size(); ++slot) {
      const Slot& s = program_.slots[slot];
      if (s.kind == Slot::Kind::kParameter) env_[slot] = Range::of(s.value);
    }
    out_.slot = env_;
  }

  /// The assignments to pid after which nothing happens: where the formula was proved, they give a
  /// block of the grid.
  void find_final(const std::vector<StmtId>& stmts) {
    if (stmts.empty()) return;
    const Stmt& last = program_.stmts[stmts.back()];
    if (last.kind == Stmt::Kind::kAssign && last.slot == kPid) final_.push_back(&last);
    if (last.kind != Stmt::Kind::kIf) return;
    find_final(last.body);
    find_final(last.other);
  }

  [[nodiscard]] bool is_final(const Stmt& stmt) const {
    return std::find(final_.begin(), final_.end(), &stmt) != final_.end();
  }

  void assign(SlotId slot, const Range& range) {
    env_[slot] = range;
    out_.slot[slot] = hull(out_.slot[slot], range);
  }

  void run(const std::vector<StmtId>& stmts) {
    for (const StmtId id : stmts) run(program_.stmts[id]);
  }

  void run(const Stmt& stmt) {
    switch (stmt.kind) {
      case Stmt::Kind::kAssign: {
        const Range value = eval(stmt.expr);
        return assign(stmt.slot, is_final(stmt) ? Range{0, most_ - 1} : value);
      }
      case Stmt::Kind::kIf:
        return branch(stmt);
      case Stmt::Kind::kLoop:
        return loop(stmt);
      case Stmt::Kind::kBreak:
      case Stmt::Kind::kContinue:
        return;
    }
  }

  void branch(const Stmt& stmt) {
    if (const std::optional<bool> taken = truth(eval(stmt.expr)))
      return run(*taken ? stmt.body : stmt.other);
    const std::vector<Range> before = env_;
    run(stmt.body);
    const std::vector<Range> after_then = std::exchange(env_, before);
    run(stmt.other);
    join(after_then);
  }

  void loop(const Stmt& stmt) {
    if (!jumps(stmt.body)) {
      std::optional<bool> again = truth(eval(stmt.expr));
      for (; again == true && rounds_ > 0; --rounds_) {
        run(stmt.body);
        run(stmt.other);
        again = truth(eval(stmt.expr));
      }
      if (again == false) return;
    }
    widen(stmt.body);
    widen(stmt.other);
    const std::vector<Range> head = env_;
    eval(stmt.expr);
    run(stmt.body);
    join(head);  // `continue` may have skipped a part of the body
    run(stmt.other);
    env_ = head;
  }

  /// Whether a `break` or `continue` stands anywhere in the statements.
  [[nodiscard]] bool jumps(const std::vector<StmtId>& stmts) const {
    return std::any_of(stmts.begin(), stmts.end(), [this](StmtId id) {
      const Stmt& stmt = program_.stmts[id];
      return stmt.kind == Stmt::Kind::kBreak || stmt.kind == Stmt::Kind::kContinue ||
             jumps(stmt.body) || jumps(stmt.other);
    });
  }

  /// Makes every name that the statements assign anything at all.
  void widen(const std::vector<StmtId>& stmts) {
    for (const StmtId id : stmts) {
      const Stmt& stmt = program_.stmts[id];
      if (stmt.kind == Stmt::Kind::kAssign) assign(stmt.slot, Range::all());
      widen(stmt.body);
      widen(stmt.other);
    }
  }

  void join(const std::vector<Range>& other) {
    for (std::size_t slot = 0; slot < env_.size(); ++slot) {
      env_[slot] = hull(env_[slot], other[slot]);
    }
  }

  Range eval(ExprId id) {
    const Range range = eval(program_.exprs[id]);
    out_.expr[id] = hull(out_.expr[id], range);
    return range;
  }

  Range eval(const Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::kConstant:
        return Range::of(expr.value);
      case Expr::Kind::kName:
        return env_[expr.slot];
      case Expr::Kind::kAndThen:
        return logical(expr, false);
      case Expr::Kind::kOrElse:
        return logical(expr, true);
      case Expr::Kind::kChoose:
        return choice(expr);
      case Expr::Kind::kApply:
        break;
    }
    const Range a = eval(expr.a);
    return apply_faultless(expr.op, a, is_unary(expr.op) ? a : eval(expr.b));
  }

  /// a && b, or a || b if `decided_by` is true: one operand of that truth decides.
  Range logical(const Expr& expr, bool decided_by) {
    const std::optional<bool> a = truth(eval(expr.a));
    const std::optional<bool> b = truth(eval(expr.b));
    if (a == decided_by) return Range::of(decided_by ? 1 : 0);
    return a && b ? Range::of(*b ? 1 : 0) : Range{0, 1};
  }

  Range choice(const Expr& expr) {
    const std::optional<bool> a = truth(eval(expr.a));
    const Range b = eval(expr.b);
    const Range c = eval(expr.c);
    return a ? (*a ? b : c) : hull(b, c);
  }

  static std::optional<bool> truth(const Range& range) {
    if (!range.contains(0)) return true;
    return range.is_constant() ? std::optional(false) : std::nullopt;
  }

  const FormulaProgram& program_;
  std::vector<const Stmt*> final_;
  std::vector<Range> env_;  // by slot
  std::int64_t most_ = kMostBlocks;
  int rounds_ = 0;  // of loops that may still be walked one by one
  Inference out_;
};

}  // namespace

Inference infer(const FormulaProgram& program, std::uint32_t num_xcds, std::uint32_t cus_per_xcd) {
  Inference facts = Walk(program, num_xcds, cus_per_xcd).run();
  std::replace_if(facts.expr.begin(), facts.expr.end(), is_nothing, Range::all());
  return facts;
}

bool narrow_on(const FormulaProgram& program, const LaunchShape& shape) {
  const Inference facts = Walk(program, shape).run();
  const auto narrow = [](const Range& range) { return is_nothing(range) || range.fits_int32(); };
  // Also where it is never reached: compilers warn of a shift by a large constant.
  const auto short_shift = [&](const Expr& expr) {
    if (expr.kind != Expr::Kind::kApply || (expr.op != Op::kShl && expr.op != Op::kShr))
      return true;
    const Expr& amount = program.exprs[expr.b];
    const bool constant = amount.kind == Expr::Kind::kConstant;
    const Range range = constant ? Range::of(amount.value) : facts.expr[expr.b];
    return is_nothing(range) || range.within(0, 31);
  };
  return std::all_of(facts.expr.begin(), facts.expr.end(), narrow) &&
         std::all_of(facts.slot.begin(), facts.slot.end(), narrow) &&
         std::all_of(program.exprs.begin(), program.exprs.end(), short_shift);
}

}  // namespace swizzleperf
