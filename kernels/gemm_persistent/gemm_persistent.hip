// C = A * B^T in half precision with float accumulation, by blocks that stay.
//
//   A is M x K, B is N x K (as a linear layer's weights are stored), C is M x N, all row-major.
//
// As many blocks are launched as the GPU has compute units (304 on MI300X), and each goes through
// tiles of C: block b computes tiles b, b + 304, b + 608, ... of 256 x 256, numbered in groups of 8
// tile rows.
//
//     block b:  for tile in b, b + blocks, ...:
//         256 rows of A and 256 rows of B, all of their K  ->  256 x 256 of C
//
// No tail of small waves of blocks is left over, and all blocks are resident from the start. Which
// block has which tiles is still a matter of blockIdx: a swizzle renumbers the blocks, so that
// those of one die (every eighth in dispatch order) get tiles that are neighbours in every round.
//
// On AMD 512 threads form 2 x 4 waves with 128 x 64 sums each; 64 KB of LDS hold one step, and the
// result goes out through LDS in two passes of 128 rows. NVIDIA's warps hold half as much, so there
// the tile is 256 x 128. On AMD another tile may be compiled in: -DTILE_M=192 -DTILE_N=256.
//
// Usage: gemm_persistent [M N K] [--group G] [--blocks B] [--check] [--time N]
//   (8192 8192 8192, group 8, 304 blocks)
#include "../common/matrix_data.h"
#include "../common/matrix_tile.h"

namespace {

using tile::kChunk;
using tile::kDepth;

#if defined(__HIP__)
#if !defined(TILE_M)
#define TILE_M 256
#define TILE_N 256
#endif
using Block = tile::Block<TILE_M, TILE_N, 2, 4, tile::OrderOfB::kAlongK>;
#else
using Block = tile::Block<256, 128, 4, 4, tile::OrderOfB::kAlongK>;
#endif
constexpr int kThreads = Block::kThreads;
constexpr int kTileM = Block::kTileM;
constexpr int kTileN = Block::kTileN;

/// One tile of C from the first step to the last.
template <bool kWide>
__device__ void compute(half* lds, const half* a, const half* b, half* c, int m, int n, int k,
                        tile::Tile where) {
  using RowsOfA = tile::RowFetcher<kTileM, kThreads, kWide>;
  using RowsOfB = tile::RowFetcher<kTileN, kThreads, kWide>;
  const RowsOfA a_rows(a, where.m * kTileM, m, k);
  const RowsOfB b_rows(b, where.n * kTileN, n, k);
  Block::Part part;
  auto a_part = a_rows.fetch(0);
  auto b_part = b_rows.fetch(0);
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    RowsOfA::put(lds, a_part);
    RowsOfB::put(lds + Block::kB, b_part);
    __syncthreads();
    if (k0 + kDepth < k) {
      a_part = a_rows.fetch(k0 + kDepth);
      b_part = b_rows.fetch(k0 + kDepth);
    }
    Block::multiply(part, lds);
    __syncthreads();
  }
  Block::template write<kWide>(part, lds, c, m, n, where);
}

}  // namespace

/// kWide: N and K are multiples of 8, so that rows can be read and written in 16-byte chunks.
template <bool kWide>
__global__ __launch_bounds__(kThreads) void gemm_persistent(const half* __restrict__ a,
                                                            const half* __restrict__ b,
                                                            half* __restrict__ c, int m, int n,
                                                            int k, int group) {
  extern __shared__ __align__(16) half lds[];
  const int tiles_m = (m + kTileM - 1) / kTileM;
  const int tiles_n = (n + kTileN - 1) / kTileN;
  for (int id = blockIdx.x; id < tiles_m * tiles_n; id += gridDim.x) {
    compute<kWide>(lds, a, b, c, m, n, k, tile::tile_of(id, tiles_m, tiles_n, group));
  }
}

int main(int argc, char** argv) {
  int m = 8192;
  int n = 8192;
  int k = 8192;
  int group = 8;
  int blocks = 304;
  suite::CommandLine line("gemm_persistent", "[M N K] [--group G] [--blocks B]",
                          "C = A B^T in halves on matrix cores, by blocks that stay");
  line.size("M", m, 1 << 20);
  line.size("N", n, 1 << 20);
  line.size("K", k, 1 << 20);
  line.number("--group", group, 1 << 20);
  line.number("--blocks", blocks, 1 << 20);
  line.parse(argc, argv);

  const suite::Matrix a_values(1, m, k);
  const suite::Matrix b_values(2, n, k);
  suite::DeviceArray<half> a(a_values.count());
  suite::DeviceArray<half> b(b_values.count());
  suite::DeviceArray<half> c(static_cast<std::size_t>(m) * n);
  a_values.fill(a);
  b_values.fill(b);

  auto* const kernel =
      n % kChunk == 0 && k % kChunk == 0 ? gemm_persistent<true> : gemm_persistent<false>;
  DEVICE_CHECK(allow_dynamic_lds(kernel, Block::kLdsBytes));
  const auto launch = [&] {
    kernel<<<blocks, kThreads, Block::kLdsBytes>>>(a.data(), b.data(), c.data(), m, n, k, group);
  };
  launch();
  suite::finish();

  const auto exact = [&](int row, int column) {
    const float* const a_row = a_values.row(row);
    const float* const b_row = b_values.row(column);
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += static_cast<double>(a_row[i]) * b_row[i];
    return sum;
  };
  const bool right =
      !line.check || suite::check_product(c.download(), m, n, k, kTileM, kTileN, exact);
  if (line.repetitions > 0) suite::measure("gemm_persistent", line.repetitions, launch);
  return right ? 0 : 1;
}
