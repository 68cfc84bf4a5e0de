// Layer normalisation of each row: y = (x - mean) / sqrt(variance + epsilon) * weight + bias.
//
// One block of 1024 threads has one row. It reads the row twice: once for the sums, once to
// normalise. A row of the default size (20480 halves, 40 KB) is larger than L1, so the second
// reading is to come from L2, where the first has just left it. That is why blocks are large: of
// blocks of 256 threads eight fit on a compute unit, and 8 x 38 rows are three times an MI300X
// die's L2.
//
//     block b:  x[b, :] twice, weight[:], bias[:]  ->  y[b, :]
//
// Blocks share nothing but weight and bias, 80 KB that every L2 keeps in any order: a swizzle has
// nothing to win. Squares are summed of x minus the row's first value, so that a large mean does
// not swallow the variance.
//
// Usage: layernorm [ROWS COLUMNS] [--check] [--time N]      (20480 20480)
#include "../common/program.h"

namespace {

constexpr int kThreads = 1024;
constexpr int kChunk = 8;  // halves in a 16-byte access
constexpr float kEpsilon = 1e-5F;

/// Calls use(column, count) for all of a thread's columns: eight at a time while rows are aligned.
template <bool kWide, typename Use>
__device__ void for_my_columns(int columns, Use use) {
  constexpr int kStep = kWide ? kChunk : 1;
  for (int column = threadIdx.x * kStep; column < columns; column += kThreads * kStep) use(column);
}

}  // namespace

/// kWide: the number of columns is a multiple of eight.
template <bool kWide>
__global__ __launch_bounds__(kThreads) void layernorm(const half* __restrict__ x,
                                                      const half* __restrict__ weight,
                                                      const half* __restrict__ bias,
                                                      half* __restrict__ y, int columns) {
  constexpr int kWidth = kWide ? kChunk : 2;
  const std::size_t row = blockIdx.x;
  const half* const from = x + row * columns;
  half* const to = y + row * columns;

  const float shift = static_cast<float>(from[0]);
  float sum = 0;
  float squares = 0;
  for_my_columns<kWide>(columns, [&](int column) {
    if constexpr (kWide) {
      const auto xs = load<kWidth>(from + column);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        const float d = static_cast<float>(xs[i]) - shift;
        sum += d;
        squares += d * d;
      }
    } else {
      const float d = static_cast<float>(from[column]) - shift;
      sum += d;
      squares += d * d;
    }
  });
  const float mean = block_reduce<kThreads>(sum, Sum{}) / columns;  // of x - shift
  const float variance = block_reduce<kThreads>(squares, Sum{}) / columns - mean * mean;
  const float scale = 1 / sqrtf(fmaxf(variance, 0) + kEpsilon);

  const auto normal = [&](half value, half w, half b) {
    const float centred = static_cast<float>(value) - shift - mean;
    return static_cast<half>(centred * scale * static_cast<float>(w) + static_cast<float>(b));
  };
  for_my_columns<kWide>(columns, [&](int column) {
    if constexpr (kWide) {
      const auto xs = load<kWidth>(from + column);
      const auto weights = load<kWidth>(weight + column);
      const auto biases = load<kWidth>(bias + column);
      Pack<half, kWidth> results;
#pragma unroll
      for (int i = 0; i < kWidth; ++i) results[i] = normal(xs[i], weights[i], biases[i]);
      store<kChunk>(to + column, results);
    } else {
      to[column] = normal(from[column], weight[column], bias[column]);
    }
  });
}

int main(int argc, char** argv) {
  int rows = 20480;
  int columns = 20480;
  suite::CommandLine line("layernorm", "[ROWS COLUMNS]", "layer normalisation of rows of halves");
  line.size("ROWS", rows, 1 << 24);
  line.size("COLUMNS", columns, 1 << 24);
  line.parse(argc, argv);

  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  suite::DeviceArray<half> x(count);
  suite::DeviceArray<half> weight(columns);
  suite::DeviceArray<half> bias(columns);
  suite::DeviceArray<half> y(count);
  const suite::Values<half> x_values(1, 1, 3, count);
  const suite::Values<half> weights(2, 0.5, 1.5, columns);
  const suite::Values<half> biases(3, -1, 1, columns);
  x_values.fill(x);
  weights.fill(weight);
  biases.fill(bias);

  const auto launch = [&] {
    auto* const kernel = columns % kChunk == 0 ? layernorm<true> : layernorm<false>;
    kernel<<<rows, kThreads>>>(x.data(), weight.data(), bias.data(), y.data(), columns);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(2 * suite::kHalfRounding);
    for (const int row : suite::rows_to_check(rows, columns)) {
      const std::size_t first = static_cast<std::size_t>(row) * columns;
      const std::vector<half> got = y.download(first, columns);
      double mean = 0;
      double variance = 0;
      for (int i = 0; i < columns; ++i) mean += x_values[first + i] / columns;
      for (int i = 0; i < columns; ++i) {
        variance += (x_values[first + i] - mean) * (x_values[first + i] - mean) / columns;
      }
      const double scale = 1 / std::sqrt(variance + kEpsilon);
      for (int i = 0; i < columns; ++i) {
        const double expected = (x_values[first + i] - mean) * scale * weights[i] + biases[i];
        comparison.add(first + i, static_cast<float>(got[i]), expected);
      }
    }
    right = comparison.report("y");
  }
  if (line.repetitions > 0) suite::measure("layernorm", line.repetitions, launch);
  return right ? 0 : 1;
}
