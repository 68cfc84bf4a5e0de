// See statistics.h.
#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "base/random.h"

namespace swizzleperf {

namespace {

/// Of at least one value.
double average(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of at least one value.
double middle_value(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  return middle_value(std::move(values));
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return average(values);
}

std::optional<double> largest(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return *std::max_element(values.begin(), values.end());
}

std::optional<double> spread(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high / *low - 1;
}

std::optional<double> deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double middle = average(values);
  double squares = 0;
  for (const double v : values) squares += (v - middle) * (v - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<Estimate> median_interval(std::span<const double> values, double confidence,
                                        std::uint64_t seed) {
  if (values.empty()) return std::nullopt;
  constexpr std::size_t kDraws = 4000;  // the ends of 99 % then rest on twenty each
  Random random(seed);
  std::vector<double> medians;
  medians.reserve(kDraws);
  std::vector<double> drawn(values.size());
  for (std::size_t i = 0; i < kDraws; ++i) {
    for (double& d : drawn) d = values[random.below(values.size())];
    medians.push_back(middle_value(drawn));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2;
  const auto at = [&](double share) {
    return medians[static_cast<std::size_t>(share * static_cast<double>(kDraws - 1))];
  };
  return Estimate{middle_value({values.begin(), values.end()}), at(tail), at(1 - tail)};
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + 1 + end) / 2;  // mean of first + 1 .. end
    for (; first < end; ++first) result[order[first]] = shared;
  }
  return result;
}

std::optional<double> pearson(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2) return std::nullopt;
  const double middle_a = average(a);
  const double middle_b = average(b);
  double together = 0;
  double alone_a = 0;
  double alone_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = a[i] - middle_a;
    const double db = b[i] - middle_b;
    together += da * db;
    alone_a += da * da;
    alone_b += db * db;
  }
  if (alone_a == 0 || alone_b == 0) return 0;
  return together / std::sqrt(alone_a * alone_b);
}

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  return pearson(ranks(a), ranks(b));
}

int misranked(std::span<const double> measured, std::span<const double> predicted) {
  int wrong = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t j = 0; j < measured.size(); ++j) {
      if (measured[i] < measured[j] && !(predicted[i] < predicted[j])) ++wrong;
    }
  }
  return wrong;
}

}  // namespace swizzleperf
