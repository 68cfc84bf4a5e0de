// Cooperative groups: blocks, tiles, coalesced lanes.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

template <unsigned kSize>
__device__ int tile_sum(cg::thread_block_tile<kSize> tile, int v) {
  for (int step = tile.size() / 2; step > 0; step /= 2) v += tile.shfl_down(v, step);
  return tile.shfl(v, 0);
}

__global__ void groups(int* out) {
  __shared__ int shared[256];
  cg::thread_block block = cg::this_thread_block();
  const int rank = block.thread_rank();
  shared[rank] = rank;
  block.sync();
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(block);
  const int mine = shared[block.size() - 1 - rank];
  out[rank] = tile_sum(tile32, mine);
  out[256 + rank] = tile_sum(tile8, mine);
  out[512 + rank] = tile8.thread_rank() * 100 + tile32.thread_rank();
  out[768 + rank] = tile8.shfl_xor(mine, 1) + tile8.shfl_up(mine, 1);
}

// One atomic for all lanes that come here together.
__device__ int counted(int* counter) {
  cg::coalesced_group active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(active.size()));
  return active.shfl(first, 0) + active.thread_rank();
}

__global__ void filter(const int* in, int* out, int* counter, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 10) out[counted(counter)] = in[i];
}

int main() {
  Array<int> out(1024);
  groups<<<1, 256>>>(out);
  out.download();
  for (int i = 0; i < 256; ++i) {
    int sum32 = 0;
    int sum8 = 0;
    for (int k = 0; k < 32; ++k) sum32 += 255 - (i / 32 * 32 + k);
    for (int k = 0; k < 8; ++k) sum8 += 255 - (i / 8 * 8 + k);
    check_equal("tile 32", i, out.host[i], sum32);
    check_equal("tile 8", i, out.host[256 + i], sum8);
    check_equal("ranks", i, out.host[512 + i], i % 8 * 100 + i % 32);
    const int up = i % 8 == 0 ? i : i - 1;
    check_equal("moves", i, out.host[768 + i], 255 - (i ^ 1) + 255 - up);
  }
  std::vector<int> values(1000);
  long long wanted = 0;
  int count = 0;
  for (int i = 0; i < 1000; ++i) {
    values[i] = i * 7 % 31;
    if (values[i] > 10) {
      wanted += values[i];
      ++count;
    }
  }
  Array<int> in(values);
  Array<int> kept(1000);
  Array<int> counter(1);
  filter<<<4, 256>>>(in, kept, counter, 1000);
  kept.download();
  counter.download();
  CHECK(counter.host[0] == count);
  long long got = 0;
  for (int i = 0; i < count; ++i) got += kept.host[i];
  CHECK(got == wanted);
  return report();
}
