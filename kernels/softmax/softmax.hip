// Softmax of each row: y = exp(x - greatest) / sum of exp(x - greatest).
//
// One block of 512 threads has one row and keeps all of it in registers, so the row is read once
// and written once. How many chunks of eight halves a thread keeps is chosen by the row's length.
//
//     block b:  x[b, :]  ->  y[b, :]
//
// Blocks share nothing: a swizzle has nothing to win here.
//
// Usage: softmax [ROWS COLUMNS] [--check] [--time N]      (32768 32768; at most 65536 columns)
#include "../common/program.h"

namespace {

constexpr int kThreads = 512;
constexpr int kChunk = 8;  // halves in a 16-byte access
constexpr int kMostChunks = 16;
constexpr int kMostColumns = kThreads * kChunk * kMostChunks;
constexpr float kLog2E = 1.44269504F;

/// Eight values of a row from `column` on; minus infinity, which no sum notices, beyond its end.
template <bool kWide>
__device__ void load_row(float (&values)[kChunk], const half* row, int column, int columns) {
  if (kWide && column < columns) {
    const auto chunk = load<kChunk>(row + column);
#pragma unroll
    for (int i = 0; i < kChunk; ++i) values[i] = static_cast<float>(chunk[i]);
  } else {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      values[i] = column + i < columns ? static_cast<float>(row[column + i]) : -INFINITY;
    }
  }
}

}  // namespace

/// kWide: the number of columns is a multiple of eight. kChunks: what a thread keeps.
template <bool kWide, int kChunks>
__global__ __launch_bounds__(kThreads) void softmax(const half* __restrict__ x,
                                                    half* __restrict__ y, int columns) {
  const std::size_t row = blockIdx.x;
  const half* const from = x + row * columns;
  half* const to = y + row * columns;
  const int first = threadIdx.x * kChunk;
  constexpr int kStep = kThreads * kChunk;

  float values[kChunks][kChunk];
#pragma unroll
  for (int c = 0; c < kChunks; ++c) load_row<kWide>(values[c], from, first + c * kStep, columns);

  float greatest = -INFINITY;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) greatest = fmaxf(greatest, values[c][i]);
  }
  greatest = block_reduce<kThreads>(greatest, Greatest{});

  float sum = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      values[c][i] = exp2f((values[c][i] - greatest) * kLog2E);
      sum += values[c][i];
    }
  }
  const float scale = 1 / block_reduce<kThreads>(sum, Sum{});

#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int column = first + c * kStep;
    Pack<half, kChunk> results;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) results[i] = static_cast<half>(values[c][i] * scale);
    if constexpr (kWide) {
      if (column < columns) store<kChunk>(to + column, results);
    } else {
#pragma unroll
      for (int i = 0; i < kChunk; ++i) {
        if (column + i < columns) to[column + i] = results[i];
      }
    }
  }
}

namespace {

using Kernel = void (*)(const half*, half*, int);

/// The kernel that keeps just enough of a row.
template <bool kWide>
Kernel kernel_for(int columns) {
  const int chunks = suite::ceil_div(columns, kThreads * kChunk);
  if (chunks <= 1) return softmax<kWide, 1>;
  if (chunks <= 2) return softmax<kWide, 2>;
  if (chunks <= 4) return softmax<kWide, 4>;
  if (chunks <= 8) return softmax<kWide, 8>;
  return softmax<kWide, kMostChunks>;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 32768;
  int columns = 32768;
  suite::CommandLine line("softmax", "[ROWS COLUMNS]", "softmax of rows of halves");
  line.size("ROWS", rows, 1 << 24);
  line.size("COLUMNS", columns, kMostColumns);
  line.parse(argc, argv);

  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  suite::DeviceArray<half> x(count);
  suite::DeviceArray<half> y(count);
  const suite::Values<half> x_values(1, -8, 8, count);
  x_values.fill(x);

  const auto launch = [&] {
    const Kernel kernel =
        columns % kChunk == 0 ? kernel_for<true>(columns) : kernel_for<false>(columns);
    kernel<<<rows, kThreads>>>(x.data(), y.data(), columns);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    // Where a result is so small that halves are no longer normal, the error is absolute.
    suite::Comparison comparison(2 * suite::kHalfRounding, 1.0 / 16384);
    for (const int row : suite::rows_to_check(rows, columns)) {
      const std::size_t first = static_cast<std::size_t>(row) * columns;
      const std::vector<half> got = y.download(first, columns);
      double sum = 0;
      for (int i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(x_values[first + i]));
      for (int i = 0; i < columns; ++i) {
        const double expected = std::exp(static_cast<double>(x_values[first + i])) / sum;
        comparison.add(first + i, static_cast<float>(got[i]), expected);
      }
    }
    right = comparison.report("y");
  }
  if (line.repetitions > 0) suite::measure("softmax", line.repetitions, launch);
  return right ? 0 : 1;
}
