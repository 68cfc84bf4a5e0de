// The gravitational potential of point masses over a plane: -sum of mass / distance at each point.
//
// A block of 256 threads has a tile of 32 x 32 points, four a thread (one column, rows 8 apart),
// and goes through all masses, staged 256 at a time in LDS.
//
//     block (m, n), m (rows) fastest in dispatch order:
//         all masses and their places  ->  potential [32 m, 32 m + 32) x [32 n, 32 n + 32)
//
// All blocks read the same 24 KB, and each writes lines of its own: every order is as good.
//
// Usage: gravity [ROWS COLUMNS MASSES] [--check] [--time N]      (2048 2048 2048)
#include "../common/program.h"

namespace {

constexpr int kTile = 32;
constexpr int kThreads = 256;
constexpr int kPoints = kTile * kTile / kThreads;
constexpr int kRowsApart = kTile / kPoints;
constexpr float kSoftening = 1e-6F;

struct Masses {
  const float* mass;
  const float* row;
  const float* column;
  int count;
};

}  // namespace

__global__ __launch_bounds__(kThreads) void gravity(Masses masses, float* __restrict__ potential,
                                                    int rows, int columns) {
  __shared__ float mass[kThreads];
  __shared__ float row_of[kThreads];
  __shared__ float column_of[kThreads];
  const int row = static_cast<int>(blockIdx.x * kTile + threadIdx.x / kTile);
  const int column = static_cast<int>(blockIdx.y * kTile + threadIdx.x % kTile);
  float sums[kPoints] = {};
  for (int first = 0; first < masses.count; first += kThreads) {
    const int mine = first + static_cast<int>(threadIdx.x);
    __syncthreads();
    if (mine < masses.count) {
      mass[threadIdx.x] = masses.mass[mine];
      row_of[threadIdx.x] = masses.row[mine];
      column_of[threadIdx.x] = masses.column[mine];
    }
    __syncthreads();
    for (int i = 0; i < min(kThreads, masses.count - first); ++i) {
      const float across = static_cast<float>(column) - column_of[i];
#pragma unroll
      for (int p = 0; p < kPoints; ++p) {
        const float along = static_cast<float>(row + p * kRowsApart) - row_of[i];
        sums[p] -= mass[i] / sqrtf(across * across + along * along + kSoftening);
      }
    }
  }
#pragma unroll
  for (int p = 0; p < kPoints; ++p) {
    const int r = row + p * kRowsApart;
    if (r < rows && column < columns) {
      potential[static_cast<std::size_t>(r) * columns + column] = sums[p];
    }
  }
}

int main(int argc, char** argv) {
  int rows = 2048;
  int columns = 2048;
  int count = 2048;
  suite::CommandLine line("gravity", "[ROWS COLUMNS MASSES]", "the potential of masses, in floats");
  line.size("ROWS", rows, 1 << 16);
  line.size("COLUMNS", columns, 1 << 16);
  line.size("MASSES", count, 1 << 20);
  line.parse(argc, argv);

  const std::size_t points = static_cast<std::size_t>(rows) * columns;
  suite::DeviceArray<float> mass(count);
  suite::DeviceArray<float> row(count);
  suite::DeviceArray<float> column(count);
  suite::DeviceArray<float> potential(points);
  const suite::Values<float> masses(1, 0, 100, count);
  const suite::Values<float> mass_rows(2, 0, static_cast<float>(rows), count);
  const suite::Values<float> mass_columns(3, 0, static_cast<float>(columns), count);
  masses.fill(mass);
  mass_rows.fill(row);
  mass_columns.fill(column);

  const auto launch = [&] {
    const dim3 grid(suite::ceil_div(rows, kTile), suite::ceil_div(columns, kTile));
    gravity<<<grid, kThreads>>>({mass.data(), row.data(), column.data(), count}, potential.data(),
                                rows, columns);
  };
  launch();
  suite::finish();

  bool right = true;
  if (line.check) {
    suite::Comparison comparison(1e-4);
    for (const int r : suite::rows_to_check(rows, static_cast<double>(columns) * count)) {
      const std::size_t first = static_cast<std::size_t>(r) * columns;
      const std::vector<float> got = potential.download(first, columns);
      for (int c = 0; c < columns; ++c) {
        double expected = 0;
        for (int i = 0; i < count; ++i) {
          const double along = r - static_cast<double>(mass_rows[i]);
          const double across = c - static_cast<double>(mass_columns[i]);
          expected -= masses[i] / std::sqrt(along * along + across * across + kSoftening);
        }
        comparison.add(first + c, got[c], expected);
      }
    }
    right = comparison.report("the potential");
  }
  if (line.repetitions > 0) suite::measure("gravity", line.repetitions, launch);
  return right ? 0 : 1;
}
