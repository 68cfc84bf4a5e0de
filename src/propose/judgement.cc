// See judgement.h.
#include "propose/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "formula/interpret.h"

namespace swizzleperf {
namespace {

/// A block pays for its formula before it begins its work; a walk along a Hilbert curve takes some
/// hundred steps.
constexpr std::uint64_t kMostSteps = 4000;

constexpr double kRangeSeconds = 10;

/// Whether some of the launch's blocks take more steps than a swizzle may.
std::optional<std::uint64_t> most_steps(const Formula& formula, const LaunchShape& shape) {
  constexpr std::uint64_t kLookedAt = 64;
  const std::uint64_t blocks = shape.grid.count();
  Interpreter interpreter(formula.program(), shape);
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < std::min(kLookedAt, blocks); ++i) {
    interpreter.block(i * blocks / std::min(kLookedAt, blocks));
    most = std::max(most, interpreter.steps());
  }
  return most > kMostSteps ? std::optional(most) : std::nullopt;
}

/// Why the formula is too slow to be looked at; empty if it is not.
std::string too_slow(const Formula& formula, const LaunchShape& shape) {
  try {
    const auto steps = most_steps(formula, shape);
    if (!steps) return {};
    return fmt::format(
        "the formula takes {} steps for one block; each block would pay for that, so at most {} "
        "are allowed: use a closed form in place of the loop",
        *steps, kMostSteps);
  } catch (const FormulaError&) {
    return {};  // the verdict on the whole launch says it better
  }
}

std::string refutation(const Counterexample& c) {
  if (!c.error.empty()) return "it cannot be evaluated: " + c.error;
  const std::uint64_t blocks = c.shape.grid.count();
  return fmt::format("it is not a bijection: it reaches {} of {} blocks; {}",
                     blocks - c.num_missing, blocks, describe_failures(c));
}

std::string elsewhere(const std::optional<RangeVerdict>& range) {
  if (!range) {
    return fmt::format(
        "each block is computed once on this launch; whether that holds on others was not seen in "
        "{} s, so the code would be the identity on all others",
        kRangeSeconds);
  }
  if (range->failed == 0) {
    return fmt::format("each block is computed once here and on all {} launches looked at",
                       range->checked);
  }
  return fmt::format(
      "each block is computed once on this launch, but not on {} of {} others looked at, where a "
      "guard would make it the identity; the smallest: {}",
      range->failed, range->checked, describe(range->smallest.value_or(Counterexample{})));
}

void add(RangeVerdict& total, RangeVerdict part) {
  total.checked += part.checked;
  total.failed += part.failed;
  total.endless |= part.endless;
  const auto blocks = [](const RangeVerdict& v) { return v.smallest->shape.grid.count(); };
  if (part.smallest && (!total.smallest || blocks(part) < blocks(total))) {
    total.smallest = std::move(part.smallest);
  }
}

Judgement refused(AttemptOutcome outcome, std::string report, Judgement rest = {}) {
  rest.outcome = outcome;
  rest.report = std::move(report);
  return rest;
}

}  // namespace

std::optional<RangeVerdict> verify_range_within(const Formula& formula, unsigned threads,
                                                double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto elapsed = [start = Clock::now()] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const VerifyRange& all = default_verify_range();
  RangeVerdict total;
  std::size_t chunk = 1;  // grids; grows while they are quick
  for (std::size_t first = 0; first < all.grids.size() && !total.endless;) {
    const double before = elapsed();
    if (before > seconds) return std::nullopt;
    const std::size_t last = std::min(first + chunk, all.grids.size());
    VerifyRange part = all;
    part.grids = {all.grids.begin() + static_cast<std::ptrdiff_t>(first),
                  all.grids.begin() + static_cast<std::ptrdiff_t>(last)};
    add(total, verify_range(formula, part, threads));
    first = last;
    if (elapsed() - before < 0.05) chunk *= 2;
  }
  return total;
}

Judgement judge_formula(const std::string& text, const LaunchShape& shape, const KnownOrders& known,
                        unsigned threads) {
  Judgement j;
  try {
    j.formula = Formula::parse(text);
  } catch (const FormulaError& error) {
    return refused(AttemptOutcome::kSyntax,
                   fmt::format("the formula cannot be read, at line:column {}", error.what()));
  }
  if (std::string slow = too_slow(*j.formula, shape); !slow.empty()) {
    return refused(AttemptOutcome::kSyntax, std::move(slow), std::move(j));
  }
  j.on_launch = verify_grid(*j.formula, shape);
  if (!j.on_launch.bijective) {
    std::string report = refutation(j.on_launch.counterexample.value_or(Counterexample{}));
    return refused(AttemptOutcome::kNotABijection, std::move(report), std::move(j));
  }
  if (j.on_launch.identity) {
    return refused(AttemptOutcome::kIdentity,
                   "on this launch the formula is the identity: every block stays where it is",
                   std::move(j));
  }
  if (const auto it = known.find(j.on_launch.hash); it != known.end()) {
    return refused(
        AttemptOutcome::kRepeat,
        fmt::format("the formula gives the very order of {}; propose another", it->second),
        std::move(j));
  }
  j.report = elsewhere(verify_range_within(*j.formula, threads, kRangeSeconds));
  return j;
}

}  // namespace swizzleperf
