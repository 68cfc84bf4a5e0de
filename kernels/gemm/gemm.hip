// C = A * B in half precision with float accumulation, for matrix cores.
//
//   A is M x K, B is K x N, C is M x N, all row-major; any M, N, K.
//
// One block computes a 128 x 128 tile of C in steps of 64 along K, in 4 waves on AMD and 16 warps
// on NVIDIA.
//
//        n ->
//     +----+----+----+     block (m, n) reads 128 rows of A, all of their K,
//   m | 00 | 01 | 02 |     and 128 columns of B, all of their K;
//   | +----+----+----+     tiles in a row share the rows of A,
//   v | 10 | 11 | 12 |     tiles in a column share the columns of B.
//     +----+----+----+
//
// Blocks that run at the same time are at about the same k, so what counts is how many different
// rows and columns the tiles that share an L2 need at once: a square of tiles needs fewest. Which
// tile a block computes is decided in one place, tile::tile_of(): by default in groups of 8 tile
// rows, so that blocks that run together share columns of B as well as rows of A. On a chiplet GPU
// neighbours in that order are on different dies, which is what a swizzle can repair.
//
// Global memory is read in 16-byte chunks (8 halves). AMD's matrix cores want both tiles with k
// contiguous, so there B is transposed on its way into LDS: a thread fetches 4 (k) x 8 (n) and
// stores eight columns of 4. The rest is in common/matrix_tile.h.
//
// Usage: gemm [M N K] [--group G] [--check] [--time N]      (8192 8192 8192, group 8)
#include "../common/matrix_data.h"
#include "../common/matrix_tile.h"

namespace {

using tile::kChunk;
using tile::kDepth;

#if defined(__HIP__)
using Block = tile::Block<128, 128, 2, 2, tile::OrderOfB::kAlongN>;
constexpr int kOccupancy = 2;  // waves a SIMD: 256 registers a lane
#else
using Block = tile::Block<128, 128, 4, 4, tile::OrderOfB::kAlongN>;
constexpr int kOccupancy = 1;  // blocks an SM
#endif
constexpr int kThreads = Block::kThreads;
constexpr int kTileN = Block::kTileN;
constexpr int kFetches = kDepth * kTileN / kChunk / kThreads;  // rows of B a thread, along k

static_assert(kTileN == 16 * kChunk);

/// Brings a step's 64 x 128 of B. Thread t has the rows from t / 16 * kFetches on, at chunk t % 16:
/// sixteen threads read 256 bytes. Beyond the last column it is read again, for columns of C that
/// do not exist; beyond the end of k there are zeros, since k is summed.
template <bool kWide>
class ColumnFetcher {
 public:
  struct Carried {
    Pack<half, kChunk> rows[kFetches];
  };

  __device__ ColumnFetcher(const half* b, int first_column, int n, int k)
      : b_(b),
        n_(n),
        k_(k),
        my_k_(threadIdx.x / 16 * kFetches),
        column_(first_column + threadIdx.x % 16 * kChunk) {}

  __device__ Carried fetch(int k0) const {
    Carried carried;
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      const int row = min(k0 + my_k_ + i, k_ - 1);
      carried.rows[i] =
          tile::load_chunk<kWide>(b_ + static_cast<std::size_t>(row) * n_, column_, n_);
    }
    if (k0 + kDepth > k_) {
#pragma unroll
      for (int i = 0; i < kFetches; ++i) {
        if (k0 + my_k_ + i >= k_) carried.rows[i] = Pack<half, kChunk>{};
      }
    }
    return carried;
  }

  __device__ static void put(half* lds, const Carried& carried) {
    const int k = threadIdx.x / 16 * kFetches;
#if !defined(__HIP__)
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      store<kChunk>(&lds[(k + i) * Block::kPitchOfB + threadIdx.x % 16 * kChunk], carried.rows[i]);
    }
#else
    const int first = tile::place(threadIdx.x % 16 * kChunk, k / kChunk) + k % kChunk;
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const Pack<half, kFetches> four = {carried.rows[0][j], carried.rows[1][j], carried.rows[2][j],
                                         carried.rows[3][j]};
      store<kFetches>(&lds[tile::advance(first, j, 0)], four);
    }
#endif
  }

 private:
  const half* b_;
  int n_;
  int k_;
  int my_k_;
  int column_;
};

}  // namespace

/// kWide: N and K are multiples of 8, so that rows can be read and written in 16-byte chunks.
template <bool kWide>
__global__ __launch_bounds__(kThreads, kOccupancy) void gemm(const half* __restrict__ a,
                                                             const half* __restrict__ b,
                                                             half* __restrict__ c, int m, int n,
                                                             int k, int group) {
  alignas(16) __shared__ half lds[Block::kLdsBytes / sizeof(half)];
  const int id = blockIdx.y * gridDim.x + blockIdx.x;
  const tile::Tile where = tile::tile_of(id, gridDim.y, gridDim.x, group);

  using Rows = tile::RowFetcher<Block::kTileM, kThreads, kWide>;
  using Columns = ColumnFetcher<kWide>;
  const Rows rows(a, where.m * Block::kTileM, m, k);
  const Columns columns(b, where.n * kTileN, n, k);
  Block::Part part;
  auto a_part = rows.fetch(0);
  auto b_part = columns.fetch(0);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    Rows::put(lds, a_part);
    Columns::put(lds + Block::kB, b_part);
    __syncthreads();
    if (k0 + kDepth < k) {
      a_part = rows.fetch(k0 + kDepth);
      b_part = columns.fetch(k0 + kDepth);
    }
    Block::multiply(part, lds);
    __syncthreads();
  }
  Block::template write<kWide>(part, lds, c, m, n, where);
}

int main(int argc, char** argv) {
  int m = 8192;
  int n = 8192;
  int k = 8192;
  int group = 8;
  suite::CommandLine line("gemm", "[M N K] [--group G]", "C = A B in halves on matrix cores");
  line.size("M", m, 1 << 20);
  line.size("N", n, 1 << 20);
  line.size("K", k, 1 << 20);
  line.number("--group", group, 1 << 20);
  line.parse(argc, argv);

  const suite::Matrix a_values(1, m, k);
  const suite::Matrix b_values(2, k, n);
  suite::DeviceArray<half> a(a_values.count());
  suite::DeviceArray<half> b(b_values.count());
  suite::DeviceArray<half> c(static_cast<std::size_t>(m) * n);
  a_values.fill(a);
  b_values.fill(b);

  const auto launch = [&] {
    const dim3 grid(suite::ceil_div(n, kTileN), suite::ceil_div(m, Block::kTileM));
    auto* const kernel = n % kChunk == 0 && k % kChunk == 0 ? gemm<true> : gemm<false>;
    kernel<<<grid, kThreads>>>(a.data(), b.data(), c.data(), m, n, k, group);
  };
  launch();
  suite::finish();

  const auto exact = [&](int row, int column) {
    double sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += static_cast<double>(a_values.row(row)[i]) * b_values.row(i)[column];
    }
    return sum;
  };
  const bool right =
      !line.check || suite::check_product(c.download(), m, n, k, Block::kTileM, kTileN, exact);
  if (line.repetitions > 0) suite::measure("gemm", line.repetitions, launch);
  return right ? 0 : 1;
}
