// The swizzle language: what a person, a search or a language model writes to permute blocks.
//
// A formula is a small C-like text on 64-bit signed integers. It reads the dispatch index and says
// which logical block is computed there. It can say nothing else: no memory, no calls, no host
// code. That is the security boundary of the project, so everything here is total: any text gives
// a Formula or a FormulaError, any launch gives targets or a FormulaError, within a step limit.
//
// Inputs : pid (linear dispatch index, x fastest), or pid_x pid_y pid_z;
//          num_pid_x num_pid_y num_pid_z num_blocks num_xcds cus_per_xcd; named parameters.
// Result : the final pid, or the final pid_x pid_y pid_z (a text that assigns both is an error).
// C division semantics; overflow, division by zero, shifts out of range, reading an unset name and
// the step limit are errors with line and column.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "swizzleperf/error.h"
#include "swizzleperf/grid.h"

namespace swizzleperf {

/// What a formula may know of a launch: the grid and how the machine deals blocks out.
struct LaunchShape {
  Dim3 grid;
  std::uint32_t num_xcds = 8;
  std::uint32_t cus_per_xcd = 38;
};

using Params = std::map<std::string, std::int64_t, std::less<>>;

/// A fault in a formula's text or in its evaluation; what() is "line:column: sentence".
class FormulaError : public Error {
 public:
  FormulaError(std::uint32_t line, std::uint32_t column, const std::string& sentence);
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] std::uint32_t column() const { return column_; }

 private:
  std::uint32_t line_;
  std::uint32_t column_;
};

/// A block's evaluation took more steps than any swizzle needs: most likely it never ends.
class EndlessFormula : public FormulaError {
 public:
  using FormulaError::FormulaError;
};

struct FormulaProgram;  // compiled form, private to src/formula

/// A parsed formula; cheap to copy, immutable, safe to use from several threads.
class Formula {
 public:
  /// Throws FormulaError. `params` are the values given with --param; they become constants.
  static Formula parse(std::string_view text, const Params& params = {});

  /// targets[p] is the linear logical block computed at dispatch index p, for every p of the grid;
  /// values outside [0, grid.count()) are possible (that is what verify is for). A result given as
  /// pid_x/y/z that leaves its axis' extent is reported as -1. Throws FormulaError, naming the
  /// first dispatch index that faults, and Error(kInput) for a grid of 2^31 blocks or more.
  [[nodiscard]] std::vector<std::int64_t> evaluate(const LaunchShape& shape) const;

  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const FormulaProgram& program() const { return *program_; }

 private:
  explicit Formula(std::shared_ptr<const FormulaProgram> program) : program_(std::move(program)) {}
  std::shared_ptr<const FormulaProgram> program_;
};

}  // namespace swizzleperf
