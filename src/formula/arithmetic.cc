// Values: C's operators on 64-bit integers, with every case that C leaves undefined made a fault.
// Ranges: monotone operations take their extremes at the corners of the two ranges; the others
// (remainder, bit operations) have closed forms that are bounds, not always attained.

#include "formula/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace swizzleperf {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Fault divide(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b == 0) return Fault::kDivisionByZero;
  if (a == kMin && b == -1) return Fault::kOverflow;
  if (op == Op::kMod) {
    result = a % b;
  } else {
    result = a / b;
    const bool rounds_down = a % b != 0 && (a < 0) == (b < 0);
    if (op == Op::kCdiv && rounds_down) ++result;
  }
  return Fault::kNone;
}

Fault shift(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (b < 0 || b > 63) return Fault::kShift;
  if (op == Op::kShr) {
    result = a >> b;
    return Fault::kNone;
  }
  result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  return (result >> b) == a ? Fault::kNone : Fault::kOverflow;
}

Fault overflow_if(bool overflowed) { return overflowed ? Fault::kOverflow : Fault::kNone; }

}  // namespace

Fault apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Op::kAdd:
      return overflow_if(__builtin_add_overflow(a, b, &result));
    case Op::kSub:
      return overflow_if(__builtin_sub_overflow(a, b, &result));
    case Op::kMul:
      return overflow_if(__builtin_mul_overflow(a, b, &result));
    case Op::kDiv:
    case Op::kMod:
    case Op::kCdiv:
      return divide(op, a, b, result);
    case Op::kShl:
    case Op::kShr:
      return shift(op, a, b, result);
    case Op::kAnd:
      result = a & b;
      break;
    case Op::kOr:
      result = a | b;
      break;
    case Op::kXor:
      result = a ^ b;
      break;
    case Op::kLess:
      result = a < b;
      break;
    case Op::kLessEqual:
      result = a <= b;
      break;
    case Op::kGreater:
      result = a > b;
      break;
    case Op::kGreaterEqual:
      result = a >= b;
      break;
    case Op::kEqual:
      result = a == b;
      break;
    case Op::kNotEqual:
      result = a != b;
      break;
    case Op::kMin:
      result = std::min(a, b);
      break;
    case Op::kMax:
      result = std::max(a, b);
      break;
    case Op::kNegate:
      return overflow_if(__builtin_sub_overflow(std::int64_t{0}, a, &result));
    case Op::kComplement:
      result = ~a;
      break;
    case Op::kNot:
      result = a == 0;
      break;
    case Op::kAbs:
      if (a == kMin) return Fault::kOverflow;
      result = a < 0 ? -a : a;
      break;
    case Op::kIlog2:
      if (a <= 0) return Fault::kLogarithm;
      result = 63 - std::countl_zero(static_cast<std::uint64_t>(a));
      break;
  }
  return Fault::kNone;
}

std::string fault_sentence(Fault fault, Op op, std::int64_t a, std::int64_t b) {
  switch (fault) {
    case Fault::kOverflow:
      if (is_unary(op)) return fmt::format("the result for {} does not fit 64 bits", a);
      return fmt::format("the result for {} and {} does not fit 64 bits", a, b);
    case Fault::kDivisionByZero:
      return fmt::format("{} is divided by zero", a);
    case Fault::kShift:
      return fmt::format("a shift by {} is outside 0 to 63", b);
    case Fault::kLogarithm:
      return fmt::format("ilog2 of {}; only positive values have one", a);
    case Fault::kNone:
      break;
  }
  return "no fault";
}

namespace {

/// The hull of op at the given points, or nothing if it faults at one of them.
std::optional<Range> corners(Op op, std::initializer_list<std::int64_t> as,
                             std::initializer_list<std::int64_t> bs) {
  std::optional<Range> result;
  for (const std::int64_t a : as) {
    for (const std::int64_t b : bs) {
      std::int64_t value = 0;
      if (apply(op, a, b, value) != Fault::kNone) return std::nullopt;
      result = result ? hull(*result, Range::of(value)) : Range::of(value);
    }
  }
  return result;
}

/// Truncating quotients are monotone in each operand as long as the divisor keeps its sign.
std::optional<Range> quotient_range(Op op, const Range& a, const Range& b) {
  if (b.contains(0) || (a.lo == kMin && b.contains(-1))) return std::nullopt;
  return corners(op, {a.lo, a.hi}, {b.lo, b.hi});
}

std::optional<Range> remainder_range(const Range& a, const Range& b) {
  if (b.contains(0) || (a.lo == kMin && b.contains(-1)) || b.lo == kMin) return std::nullopt;
  const std::int64_t least = b.lo > 0 ? b.lo : -b.hi;
  const std::int64_t most = b.lo > 0 ? b.hi : -b.lo;
  if (a.within(-(least - 1), least - 1)) return a;
  return Range{a.lo >= 0 ? 0 : std::max(a.lo, -(most - 1)),
               a.hi <= 0 ? 0 : std::min(a.hi, most - 1)};
}

/// The bits needed by all values of a range that are not below zero.
std::int64_t all_ones_above(const Range& a, const Range& b) {
  const auto most = static_cast<std::uint64_t>(std::max(a.hi, b.hi));
  const int bits = 64 - std::countl_zero(most);
  return bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
}

/// [-2^k, 2^k - 1] is closed under and, or, xor; so is the half above zero.
Range bits_range(Op op, const Range& a, const Range& b) {
  if (op == Op::kAnd && (a.lo >= 0 || b.lo >= 0)) {
    const std::int64_t a_most = a.lo >= 0 ? a.hi : std::numeric_limits<std::int64_t>::max();
    const std::int64_t b_most = b.lo >= 0 ? b.hi : std::numeric_limits<std::int64_t>::max();
    return {0, std::min(a_most, b_most)};
  }
  if (a.lo >= 0 && b.lo >= 0) return {0, all_ones_above(a, b)};
  const auto magnitude = [](const Range& r) { return std::max(r.hi, ~r.lo); };
  const Range a_all{0, std::max<std::int64_t>(0, magnitude(a))};
  const Range b_all{0, std::max<std::int64_t>(0, magnitude(b))};
  const std::int64_t ones = all_ones_above(a_all, b_all);
  return {~ones, ones};
}

Range comparison_range(Op op, const Range& a, const Range& b) {
  const auto known = [](bool always, bool never) {
    return always ? Range::of(1) : never ? Range::of(0) : Range{0, 1};
  };
  switch (op) {
    case Op::kLess:
      return known(a.hi < b.lo, a.lo >= b.hi);
    case Op::kLessEqual:
      return known(a.hi <= b.lo, a.lo > b.hi);
    case Op::kGreater:
      return known(a.lo > b.hi, a.hi <= b.lo);
    case Op::kGreaterEqual:
      return known(a.lo >= b.hi, a.hi < b.lo);
    default:
      break;
  }
  const bool same = a.is_constant() && a == b;
  const bool apart = a.hi < b.lo || b.hi < a.lo;
  return op == Op::kEqual ? known(same, apart) : known(apart, same);
}

}  // namespace

std::optional<Range> apply_range(Op op, const Range& a, const Range& b) {
  if (a.is_constant() && (is_unary(op) || b.is_constant())) return corners(op, {a.lo}, {b.lo});
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kShl:  // multiplies by a power of two
    case Op::kShr:
      return corners(op, {a.lo, a.hi}, {b.lo, b.hi});
    case Op::kDiv:
    case Op::kCdiv:
      return quotient_range(op, a, b);
    case Op::kMod:
      return remainder_range(a, b);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return bits_range(op, a, b);
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual:
    case Op::kEqual:
    case Op::kNotEqual:
      return comparison_range(op, a, b);
    case Op::kMin:
      return Range{std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case Op::kMax:
      return Range{std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case Op::kNegate:
    case Op::kComplement:
      return corners(op, {a.lo, a.hi}, {0});
    case Op::kNot:
      return comparison_range(Op::kEqual, a, Range::of(0));
    case Op::kAbs:
      if (a.lo == kMin) return std::nullopt;
      return Range{a.contains(0) ? 0 : std::min(std::abs(a.lo), std::abs(a.hi)),
                   std::max(std::abs(a.lo), std::abs(a.hi))};
    case Op::kIlog2:
      return corners(op, {a.lo, a.hi}, {0});
  }
  return std::nullopt;
}

}  // namespace swizzleperf
