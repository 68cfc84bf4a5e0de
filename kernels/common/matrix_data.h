// Matrices whose products can be checked exactly, at any size.
//
// Values are k / 16 with 1 <= |k| <= 16: never zero, and products and sums of up to 65536 of them
// are exact in single precision, so the only error that a result may show is its own rounding to
// half. A matrix costs no more than a copy: each row is a window, at a random place, into one pool
// of values.
#pragma once

#include "program.h"

namespace suite {

class Matrix {
 public:
  Matrix(std::uint32_t seed, int rows, int columns)
      : seed_(seed),
        rows_(rows),
        columns_(columns),
        values_(kPlaces + columns),
        halves_(kPlaces + columns) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::uint32_t bits = mix(seed + static_cast<std::uint32_t>(i));
      const float magnitude = static_cast<float>(1 + bits % 16) / 16.0F;
      values_[i] = bits & 0x100 ? -magnitude : magnitude;
      halves_[i] = static_cast<half>(values_[i]);
    }
  }

  const float* row(int index) const { return &values_[place(index)]; }
  std::size_t count() const { return static_cast<std::size_t>(rows_) * columns_; }

  /// A few megabytes at a time.
  void fill(DeviceArray<half>& array) const {
    const std::size_t row_bytes = sizeof(half) * columns_;
    const int at_once = static_cast<int>(std::clamp<std::size_t>((4 << 20) / row_bytes, 1, rows_));
    std::vector<half> stage(static_cast<std::size_t>(at_once) * columns_);
    for (int first = 0; first < rows_; first += at_once) {
      const int count = std::min(at_once, rows_ - first);
      for (int i = 0; i < count; ++i) {
        std::memcpy(&stage[static_cast<std::size_t>(i) * columns_], &halves_[place(first + i)],
                    row_bytes);
      }
      array.upload(stage.data(), static_cast<std::size_t>(count) * columns_,
                   static_cast<std::size_t>(first) * columns_);
    }
  }

 private:
  static constexpr int kPlaces = 1 << 16;

  std::size_t place(int row) const {
    return mix(seed_ ^ (0x9e3779b9U * static_cast<std::uint32_t>(row + 1))) % kPlaces;
  }

  std::uint32_t seed_;
  int rows_;
  int columns_;
  std::vector<float> values_;
  std::vector<half> halves_;  // the same
};

/// Checks C, m x n, against exact(row, column): all of it where that is quick, else samples that
/// include the corners and the edges of tiles.
template <typename Exact>
bool check_product(const std::vector<half>& c, int m, int n, int k, int tile_m, int tile_n,
                   Exact&& exact) {
  Comparison comparison(kHalfRounding, 1.0 / 256);  // the smallest of nonzero sums
  const auto add = [&](int row, int column) {
    const std::size_t at = static_cast<std::size_t>(row) * n + column;
    comparison.add(at, static_cast<float>(c[at]), exact(row, column));
  };
  constexpr double kQuick = 3e8;
  if (static_cast<double>(m) * n * k <= kQuick) {
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < n; ++column) add(row, column);
    }
    return comparison.report("C");
  }
  constexpr std::uint32_t kSamples = 4096;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const int row = static_cast<int>(mix(i) % m);
    const int column = static_cast<int>(mix(~i) % n);
    // Every fourth sample moves to the last row or column of its tile, or of the matrix.
    const int last_row = std::min(row / tile_m * tile_m + tile_m, m) - 1;
    const int last_column = std::min(column / tile_n * tile_n + tile_n, n) - 1;
    if (i % 4 != 0) {
      add(row, column);
    } else {
      add(last_row, last_column);
    }
  }
  for (const int row : {0, m - 1}) {
    for (const int column : {0, n - 1}) add(row, column);
  }
  return comparison.report("C");
}

}  // namespace suite
