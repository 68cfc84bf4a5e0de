// See statistics.h.
#include "validate/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace swizzleperf::validate {

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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

std::optional<double> spearman(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2) return std::nullopt;
  const std::vector<double> ranks_a = ranks(a);
  const std::vector<double> ranks_b = ranks(b);
  const double middle = static_cast<double>(a.size() + 1) / 2;
  double together = 0;
  double alone_a = 0;
  double alone_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = ranks_a[i] - middle;
    const double db = ranks_b[i] - middle;
    together += da * db;
    alone_a += da * da;
    alone_b += db * db;
  }
  if (alone_a == 0 || alone_b == 0) return 0;
  return together / std::sqrt(alone_a * alone_b);
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

}  // namespace swizzleperf::validate
