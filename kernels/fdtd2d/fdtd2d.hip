// Finite differences in the time domain: Maxwell's equations in two dimensions on a staggered grid.
//
// A step is two launches, since the magnetic field needs its neighbours' finished electric field:
//     update_e:  ex[i, j] -= (hz[i, j] - hz[i, j - 1]) / 2     j > 0
//                ey[i, j] += (hz[i, j] - hz[i - 1, j]) / 2     i > 0
//     update_h:  hz[i, j] -= (ey[i + 1, j] - ey[i, j] - ex[i, j + 1] + ex[i, j]) / 2
// with the last row and column of hz left as they are (a wall).
//
// A block of 256 threads updates a tile of 32 x 32 floats, four neighbours of a row a thread in
// 16-byte accesses; a row of a tile is one line of 128 bytes.
//
//     block (m, n), m (rows) fastest in dispatch order, T = [32 m, 32 m + 32) x [32 n, 32 n + 32):
//         update_e:  hz on T, the row above, the column to the left;   ex, ey on T
//         update_h:  ey on T and the row below, ex on T and the column to the right;   hz on T
//
// All that blocks share is the rim: the row belongs to the neighbour in dispatch order, on another
// die; the column costs a line a row, all of them of the tile beside it, a column of tiles away. A
// square of tiles on one die has the shortest rim.
//
// Usage: fdtd2d [ROWS COLUMNS] [--steps N] [--check] [--time N]      (8192 8192, one step)
#include "../common/program.h"

namespace {

constexpr int kTile = 32;
constexpr int kThreads = 256;
constexpr int kChunk = 4;  // floats in a 16-byte access
constexpr int kRowChunks = kTile / kChunk;

static_assert(kTile * kRowChunks == kThreads);

struct Grid {
  int rows;
  int columns;
  __device__ std::size_t at(int row, int column) const {
    return static_cast<std::size_t>(row) * columns + column;
  }
};

/// Four floats, or as many as the row has left, with zeros behind them.
template <bool kWide>
__device__ Pack<float, kChunk> load_some(const float* from, int left) {
  Pack<float, kChunk> values = {};
  if constexpr (kWide) {
    values = load<kChunk>(from);
  } else {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (i < left) values[i] = from[i];
    }
  }
  return values;
}

template <bool kWide>
__device__ void store_some(float* to, const Pack<float, kChunk>& values, int left) {
  if constexpr (kWide) {
    store<kChunk>(to, values);
  } else {
#pragma unroll
    for (int i = 0; i < kChunk; ++i) {
      if (i < left) to[i] = values[i];
    }
  }
}

}  // namespace

/// kWide, here and below: the number of columns is a multiple of four.
template <bool kWide>
__global__ __launch_bounds__(kThreads) void update_e(float* __restrict__ ex, float* __restrict__ ey,
                                                     const float* __restrict__ hz, Grid grid) {
  const int row = static_cast<int>(blockIdx.x * kTile + threadIdx.x / kRowChunks);
  const int column = static_cast<int>(blockIdx.y * kTile + threadIdx.x % kRowChunks * kChunk);
  if (row >= grid.rows || column >= grid.columns) return;
  const std::size_t here = grid.at(row, column);
  const int left = grid.columns - column;
  const auto h = load_some<kWide>(hz + here, left);

  auto x = load_some<kWide>(ex + here, left);
  const float beside = column > 0 ? hz[here - 1] : h[0];
#pragma unroll
  for (int i = 0; i < kChunk; ++i) x[i] -= 0.5F * (h[i] - (i > 0 ? h[i - 1] : beside));
  store_some<kWide>(ex + here, x, left);

  if (row == 0) return;
  auto y = load_some<kWide>(ey + here, left);
  const auto above = load_some<kWide>(hz + here - grid.columns, left);
#pragma unroll
  for (int i = 0; i < kChunk; ++i) y[i] += 0.5F * (h[i] - above[i]);
  store_some<kWide>(ey + here, y, left);
}

template <bool kWide>
__global__ __launch_bounds__(kThreads) void update_h(const float* __restrict__ ex,
                                                     const float* __restrict__ ey,
                                                     float* __restrict__ hz, Grid grid) {
  const int row = static_cast<int>(blockIdx.x * kTile + threadIdx.x / kRowChunks);
  const int column = static_cast<int>(blockIdx.y * kTile + threadIdx.x % kRowChunks * kChunk);
  if (row + 1 >= grid.rows || column >= grid.columns) return;
  const std::size_t here = grid.at(row, column);
  const int left = grid.columns - column;
  const auto x = load_some<kWide>(ex + here, left);
  const auto y = load_some<kWide>(ey + here, left);
  const auto below = load_some<kWide>(ey + here + grid.columns, left);
  const float beside = left > kChunk ? ex[here + kChunk] : 0;

  auto h = load_some<kWide>(hz + here, left);
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    const float right = i + 1 < kChunk ? x[i + 1] : beside;
    if (i + 1 < left) h[i] -= 0.5F * (below[i] - y[i] - right + x[i]);
  }
  store_some<kWide>(hz + here, h, left);
}

namespace {

/// The same two updates on the CPU.
struct Fields {
  int rows;
  int columns;
  std::vector<float> ex;
  std::vector<float> ey;
  std::vector<float> hz;

  void step() {
    const std::size_t pitch = columns;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const std::size_t here = i * pitch + j;
        if (j > 0) ex[here] -= 0.5F * (hz[here] - hz[here - 1]);
        if (i > 0) ey[here] += 0.5F * (hz[here] - hz[here - pitch]);
      }
    }
    for (int i = 0; i + 1 < rows; ++i) {
      for (int j = 0; j + 1 < columns; ++j) {
        const std::size_t here = i * pitch + j;
        hz[here] -= 0.5F * (ey[here + pitch] - ey[here] - ex[here + 1] + ex[here]);
      }
    }
  }
};

std::vector<float> start(std::uint32_t seed, std::size_t count) {
  const suite::Values<float> values(seed, -1, 1, count);
  std::vector<float> field(count);
  for (std::size_t i = 0; i < count; ++i) field[i] = values[i];
  return field;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 8192;
  int columns = 8192;
  int steps = 1;
  suite::CommandLine line("fdtd2d", "[ROWS COLUMNS] [--steps N]",
                          "Maxwell's equations in two dimensions, in floats");
  line.size("ROWS", rows, 1 << 20);
  line.size("COLUMNS", columns, 1 << 20);
  line.number("--steps", steps, 1 << 20);
  line.parse(argc, argv);

  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  suite::DeviceArray<float> ex(count);
  suite::DeviceArray<float> ey(count);
  suite::DeviceArray<float> hz(count);
  Fields fields = {rows, columns, {}, {}, {}};
  fields.ex = start(1, count);
  fields.ey = start(2, count);
  fields.hz = start(3, count);
  ex.upload(fields.ex.data(), count);
  ey.upload(fields.ey.data(), count);
  hz.upload(fields.hz.data(), count);

  const auto step = [&] {
    const dim3 blocks(suite::ceil_div(rows, kTile), suite::ceil_div(columns, kTile));
    const Grid grid = {rows, columns};
    const bool wide = columns % kChunk == 0;
    auto* const electric = wide ? update_e<true> : update_e<false>;
    auto* const magnetic = wide ? update_h<true> : update_h<false>;
    electric<<<blocks, kThreads>>>(ex.data(), ey.data(), hz.data(), grid);
    magnetic<<<blocks, kThreads>>>(ex.data(), ey.data(), hz.data(), grid);
  };
  for (int i = 0; i < steps; ++i) step();
  suite::finish();

  bool right = true;
  if (line.check) {
    for (int i = 0; i < steps; ++i) fields.step();
    const auto compare = [&](const char* what, const suite::DeviceArray<float>& field,
                             const std::vector<float>& expected) {
      suite::Comparison comparison(1e-5 * steps);
      const std::vector<float> got = field.download();
      for (std::size_t i = 0; i < count; ++i) comparison.add(i, got[i], expected[i]);
      right = comparison.report(what) && right;
    };
    compare("ex", ex, fields.ex);
    compare("ey", ey, fields.ey);
    compare("hz", hz, fields.hz);
  }
  if (line.repetitions > 0) suite::measure("fdtd2d, one step", line.repetitions, step);
  return right ? 0 : 1;
}
