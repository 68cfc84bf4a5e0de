// Finding the condition under which a formula that fails somewhere still holds.
//
// People who write `pid % 8 * (n / 8) + pid / 8` have a condition in mind, and it is nearly always
// one of a few dozen: something divides something. So candidates are enumerated, singly and in
// pairs, and tested against the verdicts of all launches of the range, which were computed once.
// The condition is text of the swizzle language and is evaluated by its interpreter: the printers
// print the very text that was tested.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "formula/interpret.h"
#include "formula/verify_launch.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

/// One bit a launch of the range.
using Bits = std::vector<bool>;

struct Launches {
  std::vector<LaunchShape> shapes;
  Bits proved;
};

Launches judge(const Formula& formula, const VerifyRange& range, unsigned threads) {
  Launches launches;
  for (const Dim3& grid : range.grids) {
    for (const std::uint32_t xcds : range.num_xcds) {
      launches.shapes.push_back({grid, xcds, range.cus_per_xcd});
    }
  }
  launches.proved = prove_each(formula, launches.shapes, threads);
  return launches;
}

/// Whole numbers from 2 that the formula itself mentions: chunk sizes, group heights, die counts.
std::set<std::int64_t> numbers_of(const FormulaProgram& program) {
  constexpr std::size_t kMostNumbers = 8;
  std::set<std::int64_t> numbers;
  const auto add = [&numbers](std::int64_t value) {
    if (value >= 2 && value <= 4096 && numbers.size() < kMostNumbers) numbers.insert(value);
  };
  for (const Slot& slot : program.slots) {
    if (slot.kind == Slot::Kind::kParameter) add(slot.value);
  }
  for (const Expr& expr : program.exprs) {
    if (expr.kind == Expr::Kind::kConstant) add(expr.value);
  }
  return numbers;
}

std::vector<std::string> single_conditions(const FormulaProgram& program,
                                           const std::vector<std::uint32_t>& die_counts) {
  std::vector<std::string> all = {"num_blocks % num_xcds == 0",
                                  "num_blocks >= num_xcds",
                                  "num_pid_x % num_xcds == 0",
                                  "num_pid_y % num_xcds == 0",
                                  "num_pid_x == num_pid_y",
                                  "num_pid_y * num_pid_z == 1",
                                  "num_pid_z == 1"};
  for (const std::int64_t k : numbers_of(program)) {
    for (const char* extent : {"num_blocks", "num_pid_x", "num_pid_y"}) {
      all.push_back(fmt::format("{} % {} == 0", extent, k));
    }
    all.push_back(fmt::format("num_blocks % (num_xcds * {}) == 0", k));
    all.push_back(fmt::format("{} % num_xcds == 0", k));
    all.push_back(fmt::format("num_blocks >= {}", k));
    all.push_back(fmt::format("num_blocks <= {}", k));
  }
  for (const std::uint32_t xcds : die_counts) all.push_back(fmt::format("num_xcds == {}", xcds));
  return all;
}

Bits holds_on(const std::string& condition, const std::vector<LaunchShape>& shapes) {
  const FormulaProgram program = parse_condition(condition);
  Bits bits(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    bits[i] = Interpreter(program, shapes[i]).block(0) != 0;
  }
  return bits;
}

/// The launches on which all conditions hold, or 0 if one of them was not proved or none has more
/// than one block (on which a guard would prove nothing).
std::uint64_t covered(const Launches& launches, const Bits& a, const Bits& b) {
  std::uint64_t count = 0;
  bool useful = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i] || !b[i]) continue;
    if (!launches.proved[i]) return 0;
    ++count;
    useful = useful || launches.shapes[i].grid.count() > 1;
  }
  return useful ? count : 0;
}

struct Best {
  std::string condition;
  std::uint64_t covered = 0;

  /// Earlier candidates are the more natural ones and win ties.
  void offer(const std::string& other, std::uint64_t other_covered) {
    if (other_covered > covered) *this = {other, other_covered};
  }
};

Best best_condition(const Launches& launches, const std::vector<std::string>& conditions) {
  std::vector<Bits> holds;
  holds.reserve(conditions.size());
  for (const std::string& condition : conditions) {
    holds.push_back(holds_on(condition, launches.shapes));
  }
  Best best;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    best.offer(conditions[i], covered(launches, holds[i], holds[i]));
  }
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    for (std::size_t j = i + 1; j < conditions.size(); ++j) {
      best.offer(fmt::format("{} && {}", conditions[i], conditions[j]),
                 covered(launches, holds[i], holds[j]));
    }
  }
  return best;
}

}  // namespace

std::optional<GuardVerdict> find_guard(const Formula& formula, const VerifyRange& range,
                                       unsigned threads) {
  const Launches launches = judge(formula, range, threads);
  GuardVerdict verdict;
  verdict.checked = launches.shapes.size();
  const auto failed =
      static_cast<std::uint64_t>(std::count(launches.proved.begin(), launches.proved.end(), false));
  if (failed == 0) return verdict;
  const Best best = best_condition(launches, single_conditions(formula.program(), range.num_xcds));
  if (best.covered == 0) return std::nullopt;
  verdict.guard.condition = best.condition;
  verdict.fallen_back = verdict.checked - best.covered;
  return verdict;
}

}  // namespace swizzleperf
