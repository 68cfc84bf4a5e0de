// The arithmetic of the language, once for values and once for ranges of values.
//
// `apply` is the only definition of what an operation means and of when it faults. `apply_range`
// answers the same question for all values of two ranges at once: the range of the results, or
// nothing if some pair could fault. It is what allows the fast evaluator to compute without checks
// and the printers to use 32 bits, so it must never be too narrow; it may be too wide.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "formula/syntax.h"

namespace swizzleperf {

enum class Fault : std::uint8_t { kNone, kOverflow, kDivisionByZero, kShift, kLogarithm };

/// result = op(a, b), or a fault. Operations of one operand ignore b.
Fault apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& result);

/// The sentence for a fault of `op` on these operands.
std::string fault_sentence(Fault fault, Op op, std::int64_t a, std::int64_t b);

struct Range {
  std::int64_t lo;
  std::int64_t hi;

  static constexpr Range all() {
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
  static constexpr Range of(std::int64_t value) { return {value, value}; }

  [[nodiscard]] bool is_constant() const { return lo == hi; }
  [[nodiscard]] bool contains(std::int64_t value) const { return lo <= value && value <= hi; }
  [[nodiscard]] bool within(std::int64_t least, std::int64_t most) const {
    return least <= lo && hi <= most;
  }
  [[nodiscard]] bool fits_int32() const {
    return within(std::numeric_limits<std::int32_t>::min(),
                  std::numeric_limits<std::int32_t>::max());
  }
  bool operator==(const Range&) const = default;
};

inline Range hull(const Range& a, const Range& b) {
  return {a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/// The range of op over a and b; nothing if op could fault on some of their values.
std::optional<Range> apply_range(Op op, const Range& a, const Range& b);

}  // namespace swizzleperf
