// Sparse matrix times vector, y = A x, with A in compressed rows (CSR) of half precision.
//
// One block of 128 threads has one row: it reads the row's bounds, then its values and column
// numbers, neighbours in memory, and gathers x wherever those numbers point. Sums are single
// precision.
//
//     block b:  starts[b .. b + 1], values and columns [starts[b], starts[b + 1]), x[columns]
//               ->  y[b]
//
// Rows are read once, in order; neighbouring rows share the line in which one ends and the next
// begins, and 64 rows share a line of y. All share x. While x fits in every L2 (16 KB by default)
// the order of blocks decides no more than those shared lines.
//
// The addresses depend on data, so the virtual GPU runs every block.
//
// Usage: spmv [ROWS COLUMNS PER_ROW] [--check] [--time N]      (8192 8192 82: a density of 1 %)
//   Rows have PER_ROW entries on average, from half to one and a half of it; every 64th is empty.
#include "../common/program.h"

namespace {

constexpr int kThreads = 128;

}  // namespace

__global__ __launch_bounds__(kThreads) void spmv(const int* __restrict__ starts,
                                                 const int* __restrict__ columns,
                                                 const half* __restrict__ values,
                                                 const half* __restrict__ x, half* __restrict__ y) {
  const int row = blockIdx.x;
  const int end = starts[row + 1];
  float sum = 0;
  for (int i = starts[row] + static_cast<int>(threadIdx.x); i < end; i += kThreads) {
    sum += static_cast<float>(values[i]) * static_cast<float>(x[columns[i]]);
  }
  sum = block_reduce<kThreads>(sum, Sum{});
  if (threadIdx.x == 0) y[row] = static_cast<half>(sum);
}

namespace {

struct Pattern {
  std::vector<int> starts = {0};
  std::vector<int> columns;
};

/// Each row's columns ascend: one at random in each of as many equal stretches as it has entries.
Pattern random_pattern(int rows, int columns, int per_row) {
  Pattern pattern;
  for (int row = 0; row < rows; ++row) {
    const float share = row % 64 == 63 ? 0 : 0.5F + suite::random_unit(4, row);
    const int entries = std::min(columns, static_cast<int>(std::lround(share * per_row)));
    const double stretch = entries > 0 ? static_cast<double>(columns) / entries : 0;
    for (int i = 0; i < entries; ++i) {
      const double at = (i + suite::random_unit(5, row * 4099U + i)) * stretch;
      pattern.columns.push_back(std::min(static_cast<int>(at), columns - 1));
    }
    pattern.starts.push_back(static_cast<int>(pattern.columns.size()));
  }
  return pattern;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 8192;
  int columns = 8192;
  int per_row = 82;
  suite::CommandLine line("spmv", "[ROWS COLUMNS PER_ROW]", "y = A x with A in compressed rows");
  line.size("ROWS", rows, 1 << 20);
  line.size("COLUMNS", columns, 1 << 24);
  line.size("PER_ROW", per_row, 1024);
  line.parse(argc, argv);

  const Pattern pattern = random_pattern(rows, columns, per_row);
  const std::size_t entries = std::max<std::size_t>(pattern.columns.size(), 1);
  suite::DeviceArray<int> starts(pattern.starts.size());
  suite::DeviceArray<int> column_numbers(entries);
  suite::DeviceArray<half> values(entries);
  suite::DeviceArray<half> x(columns);
  suite::DeviceArray<half> y(rows);
  starts.upload(pattern.starts.data(), pattern.starts.size());
  column_numbers.upload(pattern.columns.data(), pattern.columns.size());
  const suite::Values<half> entry_values(1, -1, 1, entries);
  const suite::Values<half> x_values(2, -1, 1, columns);
  entry_values.fill(values);
  x_values.fill(x);

  const auto launch = [&] {
    spmv<<<rows, kThreads>>>(starts.data(), column_numbers.data(), values.data(), x.data(),
                             y.data());
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(1.1 * suite::kHalfRounding);
    const std::vector<half> got = y.download();
    for (int row = 0; row < rows; ++row) {
      double expected = 0;
      for (int i = pattern.starts[row]; i < pattern.starts[row + 1]; ++i) {
        expected += static_cast<double>(entry_values[i]) * x_values[pattern.columns[i]];
      }
      comparison.add(row, static_cast<float>(got[row]), expected);
    }
    right = comparison.report("y");
  }
  if (line.repetitions > 0) suite::measure("spmv", line.repetitions, launch);
  return right ? 0 : 1;
}
