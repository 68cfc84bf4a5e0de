// The reference evaluator: walks the tree for one block at a time and checks every operation.
//
// It defines what a formula means, faults included. The fast evaluator (specialise.h, lanes.h) only
// takes over where it can prove that no fault is possible; everything else ends here.
#pragma once

#include <cstdint>
#include <vector>

#include "formula/syntax.h"

namespace swizzleperf {

/// Steps (statements and expression nodes) that one block may take.
constexpr std::uint64_t kMaxSteps = 100'000;

class Interpreter {
 public:
  Interpreter(const FormulaProgram& program, const LaunchShape& shape);

  /// The linear logical block of dispatch index `pid`, or -1 for an axis index outside its extent.
  /// Throws FormulaError.
  std::int64_t block(std::uint64_t pid);

  /// Taken by the last block asked for.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  enum class Next : std::uint8_t { kGoOn, kBreak, kContinue };

  Next run(const std::vector<StmtId>& stmts);
  Next run(const Stmt& stmt);
  Next loop(const Stmt& stmt);
  std::int64_t eval(ExprId id);
  void spend(const Stmt& stmt);
  [[noreturn]] void fail(const Place& place, const std::string& sentence) const;

  const FormulaProgram& program_;
  LaunchShape shape_;
  std::vector<std::int64_t> values_;  // by slot
  std::vector<std::uint8_t> is_set_;  // by slot
  std::uint64_t pid_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace swizzleperf
