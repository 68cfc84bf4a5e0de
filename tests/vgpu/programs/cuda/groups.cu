// Cooperative groups: block, tiles, coalesced lanes, reductions and scans over them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include "check.h"

namespace cg = cooperative_groups;

template <int Size>
__device__ int tile_sum(cg::thread_block_tile<Size> tile, int v) {
  for (int i = (int)tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
  return tile.shfl(v, 0);
}

__global__ void groups(int* out) {
  cg::thread_block block = cg::this_thread_block();
  const int rank = (int)block.thread_rank();
  int* mine = out + 10 * rank;
  auto tile = cg::tiled_partition<8>(block);
  mine[0] = tile_sum<8>(tile, rank);
  mine[1] = (int)(tile.meta_group_rank() * 100 + tile.thread_rank());
  mine[2] = cg::reduce(tile, rank, cg::greater<int>());
  auto warp = cg::tiled_partition<32>(block);
  mine[3] = cg::reduce(warp, 1, cg::plus<int>());
  mine[4] = (int)tile.ballot(rank % 2);
  mine[5] = cg::inclusive_scan(warp, 2, cg::plus<int>());
  mine[6] = 0;
  if (rank % 5 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    mine[6] = (int)(some.size() * 100 + some.thread_rank());
    mine[7] = some.shfl(rank, 0);
  }
  block.sync();
  mine[8] = (int)block.size();
  mine[9] = block.group_index().x == 0 && block.thread_index().x == threadIdx.x;
}

int main() {
  constexpr int kThreads = 96;
  int* d;
  static int h[10 * kThreads];
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMemset(d, 0, sizeof h));
  groups<<<1, kThreads>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int t = 0; t < kThreads; ++t) {
    const int* mine = h + 10 * t;
    const int first = t / 8 * 8;
    EXPECT(mine[0] == 8 * first + 28);
    EXPECT(mine[1] == t / 8 * 100 + t % 8);
    EXPECT(mine[2] == first + 7);
    EXPECT(mine[3] == 32);
    EXPECT(mine[4] == 0xaa);
    EXPECT(mine[5] == 2 * (t % 32 + 1));
    if (t % 5 == 0) {
      int size = 0, rank = 0, leader = -1;
      for (int other = t / 32 * 32; other < t / 32 * 32 + 32; ++other) {
        if (other % 5 != 0) continue;
        if (leader < 0) leader = other;
        ++size;
        rank += other < t;
      }
      EXPECT(mine[6] == size * 100 + rank && mine[7] == leader);
    }
    EXPECT(mine[8] == kThreads && mine[9] == 1);
  }
  return finish();
}
