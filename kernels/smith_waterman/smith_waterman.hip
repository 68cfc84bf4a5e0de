// Smith-Waterman: the best local alignment of two sequences, by the whole matrix of scores.
//
//     score[i, j] = max(0, score[i-1, j-1] + (a[i] == b[j] ? 3 : -3), score[i-1, j] - 2,
//                       score[i, j-1] - 2)                      with zeros outside
//
// A score needs the one to the left, the one above and the one between them, so a tile needs its
// neighbours' rims. Tiles on one antidiagonal need nothing of each other: each antidiagonal of
// tiles is one launch, and inside a tile of 64 x 64 the 64 threads, one a column, do the same in
// LDS.
//
//      launch d, block b: the tile in row first + b and column d - first - b
//
//       d=0  1  2  3
//      +--+--+--+--+     reads   64 values of each sequence, the last row of the tile above,
//      | 0| 1| 2| 3|             the last column of the tile to the left (of 64 lines 4 bytes
//      +--+--+--+--+             each), the corner between them
//      | 1| 2| 3| 4|     writes  64 x 64 scores and the tile's greatest
//      +--+--+--+--+
//
// Two blocks of a launch share one line at most, so the order within a launch wins little; what a
// block reads was written by the launch before. The widest launches are the middle ones: trace one
// of them with --launch.
//
// Usage: smith_waterman [LENGTH_A LENGTH_B] [--check] [--time N]      (8192 8192)
#include "../common/program.h"

namespace {

constexpr int kTile = 64;
constexpr int kThreads = kTile;
constexpr int kMatch = 3;
constexpr int kMismatch = -3;
constexpr int kGap = -2;

__host__ __device__ int greater(int a, int b) { return a > b ? a : b; }

__host__ __device__ int score_of(bool equal, int before, int above, int left) {
  const int aligned = before + (equal ? kMatch : kMismatch);
  return greater(greater(0, aligned), greater(above, left) + kGap);
}

/// A tile's scores with the row above and the column to the left of it.
struct Tile {
  int scores[kTile + 1][kTile + 1];
  __device__ int& at(int row, int column) { return scores[row + 1][column + 1]; }
};

struct Matrix {
  int* scores;
  int rows;
  int columns;
  __device__ int* at(int row, int column) const {
    return scores + static_cast<std::size_t>(row) * columns + column;
  }
  __device__ int or_zero(int row, int column) const {
    return row >= 0 && column >= 0 && row < rows && column < columns ? *at(row, column) : 0;
  }
};

}  // namespace

/// Computes the tiles (first + b, diagonal - first - b) for the blocks b of the grid.
__global__ __launch_bounds__(kThreads) void align_diagonal(const signed char* __restrict__ a,
                                                           const signed char* __restrict__ b,
                                                           Matrix matrix,
                                                           int* __restrict__ greatest, int diagonal,
                                                           int first) {
  __shared__ Tile tile;
  __shared__ signed char letters[kTile];
  const int tile_row = first + static_cast<int>(blockIdx.x);
  const int tile_column = diagonal - tile_row;
  const int row = tile_row * kTile;
  const int column = tile_column * kTile;
  const int t = threadIdx.x;

  tile.at(-1, t) = matrix.or_zero(row - 1, column + t);
  tile.at(t, -1) = matrix.or_zero(row + t, column - 1);
  if (t == 0) tile.at(-1, -1) = matrix.or_zero(row - 1, column - 1);
  if (row + t < matrix.rows) letters[t] = a[row + t];
  const signed char letter = column + t < matrix.columns ? b[column + t] : 0;
  __syncthreads();

  // In step s thread t is at row s - t of its column. Beyond the ends of the sequences the scores
  // are computed from leftovers and neither stored nor counted.
  int most = 0;
  for (int step = 0; step < 2 * kTile - 1; ++step) {
    const int r = step - t;
    if (r >= 0 && r < kTile) {
      const int score = score_of(letters[r] == letter, tile.at(r - 1, t - 1), tile.at(r - 1, t),
                                 tile.at(r, t - 1));
      tile.at(r, t) = score;
      if (row + r < matrix.rows && column + t < matrix.columns) most = greater(most, score);
    }
    __syncthreads();
  }

  const float block_most = block_reduce<kThreads>(static_cast<float>(most), Greatest{});
  const int tile_columns = (matrix.columns + kTile - 1) / kTile;
  if (t == 0) greatest[tile_row * tile_columns + tile_column] = static_cast<int>(block_most);
  if (column + t < matrix.columns) {
    for (int r = 0; r < kTile && row + r < matrix.rows; ++r) {
      *matrix.at(row + r, column + t) = tile.at(r, t);
    }
  }
}

namespace {

/// Letters 1 to 4 at random; the second sequence repeats stretches of the first.
std::vector<signed char> letters(std::uint32_t seed, int length) {
  std::vector<signed char> sequence(length);
  for (int i = 0; i < length; ++i) {
    const bool common = i / 40 % 3 == 1;
    sequence[i] = static_cast<signed char>(1 + suite::mix(i * 7919U + (common ? 0 : seed)) % 4);
  }
  return sequence;
}

bool check(const suite::DeviceArray<int>& scores, const suite::DeviceArray<int>& greatest,
           const std::vector<signed char>& a, const std::vector<signed char>& b) {
  suite::Comparison comparison(0);
  std::vector<int> above(b.size() + 1, 0);
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<int> got = scores.download(i * b.size(), b.size());
    std::vector<int> row(b.size() + 1, 0);
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = score_of(a[i] == b[j], above[j], above[j + 1], row[j]);
      most = greater(most, row[j + 1]);
      comparison.add(i * b.size() + j, got[j], row[j + 1]);
    }
    above = std::move(row);
  }
  const std::vector<int> of_tiles = greatest.download();
  suite::Comparison best(0);
  best.add(0, *std::max_element(of_tiles.begin(), of_tiles.end()), most);
  const bool right = comparison.report("the scores");
  return best.report("the greatest score") && right;
}

}  // namespace

int main(int argc, char** argv) {
  int rows = 8192;
  int columns = 8192;
  suite::CommandLine line("smith_waterman", "[LENGTH_A LENGTH_B]",
                          "scores of all local alignments of two sequences");
  line.size("LENGTH_A", rows, 1 << 17);
  line.size("LENGTH_B", columns, 1 << 17);
  line.parse(argc, argv);

  const std::vector<signed char> a_letters = letters(1, rows);
  const std::vector<signed char> b_letters = letters(2, columns);
  const int tile_rows = suite::ceil_div(rows, kTile);
  const int tile_columns = suite::ceil_div(columns, kTile);
  suite::DeviceArray<signed char> a(rows);
  suite::DeviceArray<signed char> b(columns);
  suite::DeviceArray<int> scores(static_cast<std::size_t>(rows) * columns);
  suite::DeviceArray<int> greatest(static_cast<std::size_t>(tile_rows) * tile_columns);
  a.upload(a_letters.data(), a_letters.size());
  b.upload(b_letters.data(), b_letters.size());

  const auto align = [&] {
    for (int diagonal = 0; diagonal < tile_rows + tile_columns - 1; ++diagonal) {
      const int first = std::max(0, diagonal - tile_columns + 1);
      const int blocks = std::min(diagonal, tile_rows - 1) - first + 1;
      align_diagonal<<<blocks, kThreads>>>(a.data(), b.data(), {scores.data(), rows, columns},
                                           greatest.data(), diagonal, first);
    }
  };
  align();
  suite::finish();

  const bool right = !line.check || check(scores, greatest, a_letters, b_letters);
  if (line.repetitions > 0) suite::measure("smith_waterman, all launches", line.repetitions, align);
  return right ? 0 : 1;
}
