// A five-point stencil over a matrix of halves: out = in / 2 + (above + below + left + right) / 8,
// with zeros outside.
//
// A block of 128 threads computes a tile of 32 x 32, eight neighbours of a row a thread. It reads
// the tile, the row above, the row below and a column on each side into LDS.
//
//     block (m, n), m fastest in dispatch order:
//         in [32 m - 1, 32 m + 33) x [32 n - 1, 32 n + 33)
//         ->  out [32 m, 32 m + 32) x [32 n, 32 n + 32)
//
// Rows of a tile are half a line of 128 bytes, so a block shares every line of the tile with the
// block to its left or right, (m, n - 1) or (m, n + 1), a whole column of tiles away in dispatch
// order, and its rows above and below with (m - 1, n) and (m + 1, n), its neighbours in dispatch
// order and therefore on other dies. How much of that an order can win depends on how many blocks
// run at once: where a die holds many columns of tiles at the same time both halves of a line meet
// anyway.
//
// Usage: stencil2d [ROWS COLUMNS] [--check] [--time N]      (8192 8192)
#include "../common/program.h"

namespace {

constexpr int kTile = 32;
constexpr int kThreads = 128;
constexpr int kChunk = 8;  // halves in a 16-byte access
constexpr int kRowChunks = kTile / kChunk;
constexpr int kHaloRows = kTile + 2;

/// Rows [-1, 32] of the tile from column -1 on; a chunk's first value is in an even place.
struct Tile {
  half rows[kHaloRows][kTile + 2];
  __device__ half& at(int row, int column) { return rows[row + 1][column + 1]; }
};

struct Matrix {
  const half* data;
  int rows;
  int columns;
  __device__ bool has(int row, int column) const {
    return row >= 0 && row < rows && column >= 0 && column < columns;
  }
  __device__ const half* at(int row, int column) const {
    return data + static_cast<std::size_t>(row) * columns + column;
  }
  __device__ half or_zero(int row, int column) const {
    return has(row, column) ? *at(row, column) : half{};
  }
};

/// The tile with its rows above and below: 34 x 4 chunks, and then the two columns beside it.
template <bool kWide>
__device__ void read_tile(Tile& tile, const Matrix& in, int first_row, int first_column) {
  for (int i = threadIdx.x; i < kHaloRows * kRowChunks; i += kThreads) {
    const int r = i / kRowChunks - 1;
    const int c = i % kRowChunks * kChunk;
    const int row = first_row + r;
    const int column = first_column + c;
    if constexpr (kWide) {
      Pack<half, kChunk> chunk = {};
      if (in.has(row, column)) chunk = load<kChunk>(in.at(row, column));
#pragma unroll
      for (int j = 0; j < kChunk; ++j) tile.at(r, c + j) = chunk[j];
    } else {
#pragma unroll
      for (int j = 0; j < kChunk; ++j) tile.at(r, c + j) = in.or_zero(row, column + j);
    }
  }
  if (threadIdx.x < 2 * kTile) {
    const int r = threadIdx.x % kTile;
    const int c = threadIdx.x < kTile ? -1 : kTile;
    tile.at(r, c) = in.or_zero(first_row + r, first_column + c);
  }
}

}  // namespace

/// kWide: the number of columns is a multiple of eight.
template <bool kWide>
__global__ __launch_bounds__(kThreads) void stencil2d(const half* __restrict__ in,
                                                      half* __restrict__ out, int rows,
                                                      int columns) {
  __shared__ Tile tile;
  const int first_row = static_cast<int>(blockIdx.x) * kTile;
  const int first_column = static_cast<int>(blockIdx.y) * kTile;
  read_tile<kWide>(tile, {in, rows, columns}, first_row, first_column);
  __syncthreads();

  const int r = threadIdx.x / kRowChunks;
  const int c = threadIdx.x % kRowChunks * kChunk;
  if (first_row + r >= rows || first_column + c >= columns) return;
  Pack<half, kChunk> results;
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const float around =
        static_cast<float>(tile.at(r - 1, c + i)) + static_cast<float>(tile.at(r + 1, c + i)) +
        static_cast<float>(tile.at(r, c + i - 1)) + static_cast<float>(tile.at(r, c + i + 1));
    results[i] = static_cast<half>(0.5F * static_cast<float>(tile.at(r, c + i)) + 0.125F * around);
  }
  half* const to = out + static_cast<std::size_t>(first_row + r) * columns + first_column + c;
  if constexpr (kWide) {
    store<kChunk>(to, results);
  } else {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (first_column + c + i < columns) to[i] = results[i];
    }
  }
}

int main(int argc, char** argv) {
  int rows = 8192;
  int columns = 8192;
  suite::CommandLine line("stencil2d", "[ROWS COLUMNS]", "a five-point stencil over halves");
  line.size("ROWS", rows, 1 << 20);
  line.size("COLUMNS", columns, 1 << 20);
  line.parse(argc, argv);

  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  suite::DeviceArray<half> in(count);
  suite::DeviceArray<half> out(count);
  const suite::Values<half> values(1, -1, 1, count);
  values.fill(in);

  const auto launch = [&] {
    const dim3 grid(suite::ceil_div(rows, kTile), suite::ceil_div(columns, kTile));
    auto* const kernel = columns % kChunk == 0 ? stencil2d<true> : stencil2d<false>;
    kernel<<<grid, kThreads>>>(in.data(), out.data(), rows, columns);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    const auto at = [&](int row, int column) {
      const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
      return inside ? values[static_cast<std::size_t>(row) * columns + column] : 0.0F;
    };
    suite::Comparison comparison(1.01 * suite::kHalfRounding);
    for (const int row : suite::rows_to_check(rows, columns)) {
      const std::size_t first = static_cast<std::size_t>(row) * columns;
      const std::vector<half> got = out.download(first, columns);
      for (int column = 0; column < columns; ++column) {
        const double around = static_cast<double>(at(row - 1, column)) + at(row + 1, column) +
                              at(row, column - 1) + at(row, column + 1);
        comparison.add(first + column, static_cast<float>(got[column]),
                       0.5 * at(row, column) + 0.125 * around);
      }
    }
    right = comparison.report("out");
  }
  if (line.repetitions > 0) suite::measure("stencil2d", line.repetitions, launch);
  return right ? 0 : 1;
}
