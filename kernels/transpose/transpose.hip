// Transposition of a matrix of halves through tiles in LDS: out[n, m] = in[m, n].
//
// A block of 128 threads moves a tile of 32 x 32, eight halves a thread: it reads 32 pieces of rows
// of `in`, 64 bytes each, and writes 32 pieces of rows of `out`.
//
//     block (m, n), m fastest in dispatch order:
//         in [32 m, 32 m + 32) x [32 n, 32 n + 32)  ->  out [32 n, 32 n + 32) x [32 m, 32 m + 32)
//
//        in  n ->                 out  m ->
//       +----+----+--            +----+----+--
//     m | A0 | B0 |            n | A0 | A1 |         A piece is half a line of 128 bytes. The other
//       +----+----+              +----+----+         half of a line of `in` is read by block
//     | | A1 | B1 |            | | B0 | B1 |         (m, n + 1), of `out` written by (m + 1, n).
//       +----+----+              +----+----+
//
// In dispatch order (m, n) and (m + 1, n) are neighbours, but on a chiplet GPU they are on
// different dies, so both their L2s fetch what each uses half of; and (m, n + 1) comes a whole
// column of tiles later. An order that brings both halves of a line to one die while it is cached
// halves the traffic. At powers of two all rows of a tile fall into the same sets of the cache.
//
// Usage: transpose [ROWS COLUMNS] [--check] [--time N]      (32768 32768)
#include "../common/program.h"

namespace {

constexpr int kTile = 32;
constexpr int kThreads = 128;
constexpr int kChunk = 8;  // halves in a 16-byte access
constexpr int kRowChunks = kTile / kChunk;
constexpr int kPitch = kTile + 2;  // of a row in LDS: columns are read from different banks

/// Calls move(row, column) for a thread's part of a tile: one chunk of eight, or eight values.
template <bool kWide, typename Move>
__device__ void for_my_part(Move move) {
  if constexpr (kWide) {
    move(static_cast<int>(threadIdx.x) / kRowChunks, threadIdx.x % kRowChunks * kChunk);
  } else {
    for (int i = threadIdx.x; i < kTile * kTile; i += kThreads) move(i / kTile, i % kTile);
  }
}

}  // namespace

/// kWide: the numbers of rows and of columns are multiples of eight.
template <bool kWide>
__global__ __launch_bounds__(kThreads) void transpose(const half* __restrict__ in,
                                                      half* __restrict__ out, int rows,
                                                      int columns) {
  __shared__ half tile[kTile][kPitch];
  const int first_row = static_cast<int>(blockIdx.x) * kTile;
  const int first_column = static_cast<int>(blockIdx.y) * kTile;

  for_my_part<kWide>([&](int r, int c) {
    const int row = first_row + r;
    const int column = first_column + c;
    if (row >= rows || column >= columns) return;
    const half* const from = in + static_cast<std::size_t>(row) * columns + column;
    if constexpr (kWide) {
      const auto chunk = load<kChunk>(from);
#pragma unroll
      for (int i = 0; i < kChunk; ++i) tile[r][c + i] = chunk[i];
    } else {
      tile[r][c] = *from;
    }
  });
  __syncthreads();
  for_my_part<kWide>([&](int r, int c) {
    const int row = first_column + r;  // of `out`
    const int column = first_row + c;
    if (row >= columns || column >= rows) return;
    half* const to = out + static_cast<std::size_t>(row) * rows + column;
    if constexpr (kWide) {
      Pack<half, kChunk> chunk;
#pragma unroll
      for (int i = 0; i < kChunk; ++i) chunk[i] = tile[c + i][r];
      store<kChunk>(to, chunk);
    } else {
      *to = tile[c][r];
    }
  });
}

int main(int argc, char** argv) {
  int rows = 32768;
  int columns = 32768;
  suite::CommandLine line("transpose", "[ROWS COLUMNS]", "transposition of a matrix of halves");
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
    auto* const kernel =
        rows % kChunk == 0 && columns % kChunk == 0 ? transpose<true> : transpose<false>;
    kernel<<<grid, kThreads>>>(in.data(), out.data(), rows, columns);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(0);
    for (const int column : suite::rows_to_check(columns, rows)) {
      const std::size_t first = static_cast<std::size_t>(column) * rows;
      const std::vector<half> got = out.download(first, rows);
      for (int row = 0; row < rows; ++row) {
        const std::size_t from = static_cast<std::size_t>(row) * columns + column;
        comparison.add(first + row, static_cast<float>(got[row]), values[from]);
      }
    }
    right = comparison.report("out");
  }
  if (line.repetitions > 0) suite::measure("transpose", line.repetitions, launch);
  return right ? 0 : 1;
}
