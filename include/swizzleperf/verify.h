// The proof that no block is lost: a formula is evaluated for every block of a grid, and for every
// grid of a declared range, and each logical block must come out exactly once.
//
// Three failures are kept apart because they mean different things to a kernel: a block computed
// twice (a race, or wasted work), a block never computed (wrong results, often silent because
// outputs start as zeros), and a target outside the grid (a memory fault).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "swizzleperf/formula.h"

namespace swizzleperf {

/// A condition under which a formula is a bijection, as an expression of the swizzle language over
/// num_pid_*, num_blocks, num_xcds; empty = always. Printed code is the identity elsewhere.
struct Guard {
  std::string condition;
};

/// The first few witnesses of each kind of failure on one grid.
struct Counterexample {
  struct Duplicate {
    std::int64_t block;               ///< logical block computed more than once
    std::vector<std::uint64_t> from;  ///< dispatch indices that compute it (the first few)
  };
  struct OutOfRange {
    std::uint64_t from;   ///< dispatch index
    std::int64_t target;  ///< what the formula gave
  };
  LaunchShape shape;
  std::vector<Duplicate> duplicate;
  std::vector<std::uint64_t> missing;
  std::vector<OutOfRange> out_of_range;
  std::uint64_t num_duplicate = 0;  ///< totals, of which the vectors hold the first
  std::uint64_t num_missing = 0;
  std::uint64_t num_out_of_range = 0;
  std::string error;  ///< an evaluation error ("line:column: ..."), else empty
};

/// The verdict on one grid.
struct GridVerdict {
  bool bijective = false;
  bool identity = false;
  std::uint64_t hash = 0;  ///< of the permutation; equal hashes = one candidate. 0 if not bijective
  std::vector<std::uint32_t> permutation;  ///< empty if not bijective
  std::optional<Counterexample> counterexample;
};

/// Equal for equal permutations; never 0.
std::uint64_t permutation_hash(const std::vector<std::uint32_t>& permutation);

GridVerdict verify_grid(const Formula& formula, const LaunchShape& shape);

/// Which launches a formula is proved for. The default is the project's declared range.
struct VerifyRange {
  std::vector<Dim3> grids;
  std::vector<std::uint32_t> num_xcds = {1, 2, 4, 6, 8};
  std::uint32_t cus_per_xcd = 38;
};

/// 1- to 3-dimensional grids of up to 4,096 blocks: every 1-D size, and 2-D and 3-D grids that
/// include primes, non-multiples of the die counts, non-square and degenerate shapes.
const VerifyRange& default_verify_range();

struct RangeVerdict {
  std::uint64_t checked = 0;  ///< launches (grid x die count)
  std::uint64_t failed = 0;
  std::optional<Counterexample> smallest;  ///< of the failing launch with fewest blocks
  /// A block did not end within its steps, so that the rest of the range was not looked at.
  bool endless = false;
};

/// The verdict is the same for any number of threads, but for the counts of an endless formula.
RangeVerdict verify_range(const Formula& formula, const VerifyRange& range, unsigned threads);

/// The counterexample as one short paragraph: the launch, a witness of each kind, the totals.
std::string describe(const Counterexample& counterexample);

/// What goes wrong in it, without the launch and without a full stop.
std::string describe_failures(const Counterexample& counterexample);

/// For a formula that fails on part of a range: the weakest of the natural conditions (divisibility
/// of the grid or the block count by the die count and by numbers the formula itself uses, a given
/// die count, one dimension, ...) under which no launch of the range fails.
struct GuardVerdict {
  Guard guard;                    ///< empty if the formula holds everywhere
  std::uint64_t checked = 0;      ///< launches of the range
  std::uint64_t fallen_back = 0;  ///< of them, those on which guarded code is the identity
};

/// Nothing if no condition tried keeps a single launch of more than one block.
std::optional<GuardVerdict> find_guard(const Formula& formula, const VerifyRange& range,
                                       unsigned threads);

}  // namespace swizzleperf
