// The arithmetic of a comparison: pure functions over numbers, so that each can be checked by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace swizzleperf {

/// Nothing of nothing; of an even count the mean of the middle two.
std::optional<double> median(std::vector<double> values);

std::optional<double> mean(std::span<const double> values);
std::optional<double> largest(std::span<const double> values);

/// Largest over smallest, minus 1.
std::optional<double> spread(std::span<const double> values);

/// The standard deviation of a sample; nothing of fewer than two.
std::optional<double> deviation(std::span<const double> values);

/// An estimate and the interval that holds the true value with some confidence.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// The median, by the bootstrap: of many samples drawn with replacement, the quantiles of their
/// medians. Nothing of nothing; of one value an interval of no width, which says nothing.
std::optional<Estimate> median_interval(std::span<const double> values, double confidence,
                                        std::uint64_t seed);

/// Each value's place from 1 in ascending order; equal values share the mean of their places.
std::vector<double> ranks(std::span<const double> values);

/// Pearson's correlation. Where one side is constant nothing is ordered, and that is 0; of fewer
/// than two pairs nothing.
std::optional<double> pearson(std::span<const double> a, std::span<const double> b);

/// Spearman's rank correlation: Pearson's of the ranks.
std::optional<double> spearman(std::span<const double> a, std::span<const double> b);

/// Of all pairs that `measured` puts in an order, how many `predicted` does not put in the same one
/// (a tie does not).
int misranked(std::span<const double> measured, std::span<const double> predicted);

}  // namespace swizzleperf
