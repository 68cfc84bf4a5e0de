// Proof by exhaustion. A launch of N blocks is a bijection exactly if all N targets lie in [0, N)
// and every block is hit; so the fast check is two passes without a branch, over bytes. Only when
// it fails are witnesses collected, with the slow and readable code below it.
//
// The default range costs a few tens of millions of block evaluations. Launches are dealt to
// threads round robin; each thread remembers its own smallest counterexample and the smallest of
// those wins, so the verdict does not depend on the number of threads.

#include "swizzleperf/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <tuple>

#include "formula/verify_launch.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace swizzleperf {
namespace {

constexpr std::size_t kMaxWitnesses = 4;

/// Whether `targets` is a permutation of 0 .. N - 1. `seen` is scratch.
bool is_permutation(const std::vector<std::int64_t>& targets, std::vector<std::uint8_t>& seen) {
  const auto n = static_cast<std::int64_t>(targets.size());
  std::uint64_t outside = 0;
  for (const std::int64_t target : targets) outside |= (target < 0 || target >= n) ? 1U : 0U;
  if (outside != 0) return false;
  seen.assign(targets.size(), 0);
  for (const std::int64_t target : targets) seen[static_cast<std::size_t>(target)] = 1;
  return std::find(seen.begin(), seen.end(), 0) == seen.end();
}

void find_out_of_range(const std::vector<std::int64_t>& targets, Counterexample& found) {
  const auto n = static_cast<std::int64_t>(targets.size());
  for (std::size_t p = 0; p < targets.size(); ++p) {
    if (targets[p] >= 0 && targets[p] < n) continue;
    if (found.num_out_of_range++ < kMaxWitnesses) found.out_of_range.push_back({p, targets[p]});
  }
}

void find_duplicates_and_missing(const std::vector<std::int64_t>& targets, Counterexample& found) {
  const auto n = static_cast<std::int64_t>(targets.size());
  std::vector<std::uint32_t> hits(targets.size(), 0);
  for (const std::int64_t target : targets) {
    if (target >= 0 && target < n) ++hits[static_cast<std::size_t>(target)];
  }
  for (std::size_t block = 0; block < hits.size(); ++block) {
    if (hits[block] == 0 && found.num_missing++ < kMaxWitnesses) found.missing.push_back(block);
    if (hits[block] > 1 && found.num_duplicate++ < kMaxWitnesses) {
      found.duplicate.push_back({static_cast<std::int64_t>(block), {}});
    }
  }
  for (Counterexample::Duplicate& duplicate : found.duplicate) {
    for (std::size_t p = 0; p < targets.size(); ++p) {
      if (targets[p] != duplicate.block) continue;
      duplicate.from.push_back(p);
      if (duplicate.from.size() == kMaxWitnesses) break;
    }
  }
}

Counterexample witnesses(const LaunchShape& shape, const std::vector<std::int64_t>& targets) {
  Counterexample found;
  found.shape = shape;
  find_out_of_range(targets, found);
  find_duplicates_and_missing(targets, found);
  return found;
}

/// Counterexample of a launch, or nothing if it is proved.
std::optional<Counterexample> refute(const Formula& formula, const LaunchShape& shape,
                                     std::vector<std::uint8_t>& seen, bool& endless) {
  try {
    const std::vector<std::int64_t> targets = formula.evaluate(shape);
    if (is_permutation(targets, seen)) return std::nullopt;
    return witnesses(shape, targets);
  } catch (const FormulaError& error) {
    Counterexample found;
    found.shape = shape;
    found.error = error.what();
    endless = dynamic_cast<const EndlessFormula*>(&error) != nullptr;
    return found;
  }
}

/// Fewest blocks first, then fewest dies, then the most one-dimensional grid.
bool smaller(const LaunchShape& a, const LaunchShape& b) {
  const auto key = [](const LaunchShape& s) {
    return std::tuple(s.grid.count(), s.num_xcds, s.grid.z, s.grid.y);
  };
  return key(a) < key(b);
}

void keep_smallest(std::optional<Counterexample>& smallest, std::optional<Counterexample> found) {
  if (found && (!smallest || smaller(found->shape, smallest->shape))) smallest = std::move(found);
}

/// Runs part(0) ... part(n - 1), the first of them on this thread.
template <class Part>
void on_threads(std::size_t n, Part part) {
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < n; ++i) workers.emplace_back(part, i);
  part(0);
  for (std::thread& worker : workers) worker.join();
}

/// Every `stride`-th launch of the range, from `first` on.
RangeVerdict verify_part(const Formula& formula, const VerifyRange& range, std::size_t first,
                         std::size_t stride) {
  RangeVerdict verdict;
  std::vector<std::uint8_t> seen;
  for (std::size_t i = first; i < range.grids.size(); i += stride) {
    for (const std::uint32_t xcds : range.num_xcds) {
      std::optional<Counterexample> found =
          refute(formula, {range.grids[i], xcds, range.cus_per_xcd}, seen, verdict.endless);
      ++verdict.checked;
      verdict.failed += found ? 1 : 0;
      keep_smallest(verdict.smallest, std::move(found));
      if (verdict.endless) return verdict;
    }
  }
  return verdict;
}

}  // namespace

std::uint64_t permutation_hash(const std::vector<std::uint32_t>& permutation) {
  const std::uint64_t hash =
      XXH3_64bits(permutation.data(), permutation.size() * sizeof(std::uint32_t));
  return hash == 0 ? 1 : hash;  // 0 means "not a bijection"
}

GridVerdict verify_grid(const Formula& formula, const LaunchShape& shape) {
  GridVerdict verdict;
  try {
    const std::vector<std::int64_t> targets = formula.evaluate(shape);
    std::vector<std::uint8_t> seen;
    if (!is_permutation(targets, seen)) {
      verdict.counterexample = witnesses(shape, targets);
      return verdict;
    }
    verdict.permutation.assign(targets.begin(), targets.end());
  } catch (const FormulaError& error) {
    verdict.counterexample.emplace();
    verdict.counterexample->shape = shape;
    verdict.counterexample->error = error.what();
    return verdict;
  }
  verdict.bijective = true;
  verdict.identity = std::is_sorted(verdict.permutation.begin(), verdict.permutation.end());
  verdict.hash = permutation_hash(verdict.permutation);
  return verdict;
}

namespace {

/// Side lengths around which remaps break: primes, powers of two and their neighbours, multiples
/// and non-multiples of 6 and 8.
constexpr std::array<std::uint32_t, 34> kSides = {
    1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,  15,  16,  17,   19,
    23, 24, 31, 32, 33, 48, 61, 63, 64, 65, 97, 127, 128, 251, 512, 1021, 2039};

constexpr std::uint32_t kMostBlocks = 4096;

VerifyRange make_default_range() {
  VerifyRange range;
  for (std::uint32_t n = 1; n <= kMostBlocks; ++n) range.grids.push_back({n, 1, 1});
  for (const std::uint32_t n : {4093U, 4095U, 4096U}) range.grids.push_back({1, n, 1});
  for (const std::uint32_t y : kSides) {
    for (const std::uint32_t x : kSides) {
      if (y > 1 && x * y <= kMostBlocks) range.grids.push_back({x, y, 1});
    }
  }
  for (const std::uint32_t z : {2U, 3U, 5U, 8U, 13U, 16U}) {
    for (const std::uint32_t y : {1U, 2U, 3U, 4U, 7U, 8U, 16U, 17U, 31U}) {
      for (const std::uint32_t x : {1U, 2U, 3U, 5U, 8U, 12U, 13U, 32U, 37U}) {
        if (x * y * z <= kMostBlocks) range.grids.push_back({x, y, z});
      }
    }
  }
  return range;
}

}  // namespace

const VerifyRange& default_verify_range() {
  static const VerifyRange range = make_default_range();
  return range;
}

RangeVerdict verify_range(const Formula& formula, const VerifyRange& range, unsigned threads) {
  std::vector<RangeVerdict> verdicts(std::max(1U, threads));
  on_threads(verdicts.size(), [&](std::size_t part) {
    verdicts[part] = verify_part(formula, range, part, verdicts.size());
  });
  RangeVerdict total = std::move(verdicts[0]);
  for (std::size_t part = 1; part < verdicts.size(); ++part) {
    total.checked += verdicts[part].checked;
    total.failed += verdicts[part].failed;
    total.endless |= verdicts[part].endless;
    keep_smallest(total.smallest, std::move(verdicts[part].smallest));
  }
  return total;
}

std::vector<bool> prove_each(const Formula& formula, const std::vector<LaunchShape>& shapes,
                             unsigned threads) {
  std::vector<std::uint8_t> proved(shapes.size());  // bytes: threads must not share a word
  const std::size_t stride = std::max(1U, threads);
  on_threads(stride, [&](std::size_t part) {
    std::vector<std::uint8_t> seen;
    bool endless = false;
    for (std::size_t i = part; i < shapes.size() && !endless; i += stride) {
      proved[i] = refute(formula, shapes[i], seen, endless) ? 0 : 1;
    }
  });
  return {proved.begin(), proved.end()};
}

std::string describe_failures(const Counterexample& counterexample) {
  if (!counterexample.error.empty()) return "the formula fails: " + counterexample.error;
  std::vector<std::string> parts;
  for (const auto& out : counterexample.out_of_range) {
    parts.push_back(out.target == -1
                        ? fmt::format("dispatch index {} is sent outside the grid", out.from)
                        : fmt::format("dispatch index {} is sent to block {}, outside the grid",
                                      out.from, out.target));
    break;
  }
  for (const auto& duplicate : counterexample.duplicate) {
    parts.push_back(fmt::format("block {} is computed by dispatch indices {}", duplicate.block,
                                fmt::join(duplicate.from, " and ")));
    break;
  }
  if (!counterexample.missing.empty()) {
    parts.push_back(fmt::format("block {} is never computed", counterexample.missing.front()));
  }
  return fmt::format(
      "{} (in all {} outside the grid, {} computed more than once, {} never computed)",
      fmt::join(parts, ", "), counterexample.num_out_of_range, counterexample.num_duplicate,
      counterexample.num_missing);
}

std::string describe(const Counterexample& counterexample) {
  const Dim3& grid = counterexample.shape.grid;
  const std::uint32_t dies = counterexample.shape.num_xcds;
  return fmt::format("On a grid of {} x {} x {} ({} block{}) with {} die{} {}.", grid.x, grid.y,
                     grid.z, grid.count(), grid.count() == 1 ? "" : "s", dies, dies == 1 ? "" : "s",
                     describe_failures(counterexample));
}

}  // namespace swizzleperf
