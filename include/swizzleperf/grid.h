// Grids and block indices.
//
// Every room counts blocks (workgroups) the way GPUs dispatch them: one linear index, x fastest,
// then y, then z. Two roles of that index must never be confused:
//   dispatch index  - the position in which the hardware starts the block (what blockIdx says);
//   logical block   - the piece of work a block computes (what the kernel used to do at blockIdx).
// A swizzle is a map from the first to the second.
#pragma once

#include <cstdint>

namespace swizzleperf {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(x) * y * z; }
  bool operator==(const Dim3&) const = default;
};

/// The block index of a linear index, x fastest.
inline Dim3 unlinear(std::uint64_t linear, const Dim3& grid) {
  const std::uint64_t row = linear / grid.x;
  return {static_cast<std::uint32_t>(linear % grid.x), static_cast<std::uint32_t>(row % grid.y),
          static_cast<std::uint32_t>(row / grid.y)};
}

/// The linear index of a block index, x fastest.
inline std::uint64_t linear(const Dim3& index, const Dim3& grid) {
  return index.x + static_cast<std::uint64_t>(grid.x) *
                       (index.y + static_cast<std::uint64_t>(grid.y) * index.z);
}

}  // namespace swizzleperf
