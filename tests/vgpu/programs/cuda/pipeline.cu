// Asynchronous copies into shared memory by the primitives of cuda_pipeline.h, in two stages; and
// the toolkit's small headers are all there.
#include <cooperative_groups/reduce.h>
#include <crt/host_defines.h>
#include <cuda_pipeline.h>
#include <device_launch_parameters.h>
#include <sm_32_intrinsics.h>
#include <surface_types.h>

#include "check.h"

constexpr int kTile = 64, kTiles = 5;

/// Sums of tiles; of the last bytes of each tile only three are taken.
__global__ void sums(const int4* in, int* out) {
  __shared__ int4 stage[2][kTile];
  const unsigned t = threadIdx.x;
  const auto fetch = [&](int tile) {
    __pipeline_memcpy_async(&stage[tile % 2][t], in + tile * kTile + t, 16,
                            t == kTile - 1 ? 13 : 0);
    __pipeline_commit();
  };
  fetch(0);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) fetch(tile + 1);
    __pipeline_wait_prior(tile + 1 < kTiles ? 1 : 0);
    __syncthreads();
    int sum = 0;
    if (t == 0) {
      for (const int4& v : stage[tile % 2]) sum += v.x + v.y + v.z + v.w;
      out[tile] = sum;
    }
    __syncthreads();
  }
}

int main() {
  int4 in[kTile * kTiles];
  int out[kTiles], wanted[kTiles] = {};
  for (int i = 0; i < kTile * kTiles; ++i) {
    in[i] = make_int4(i, -1, 0x01020304 + i, 7);
    wanted[i / kTile] += i % kTile == kTile - 1 ? i & 0xffffff : i - 1 + 0x01020304 + i + 7;
  }
  int4* d;
  int* sum;
  CHECK(cudaMalloc(&d, sizeof in));
  CHECK(cudaMalloc(&sum, sizeof out));
  CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
  sums<<<1, kTile>>>(d, sum);
  CHECK(cudaMemcpy(out, sum, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kTiles; ++i) EXPECT(out[i] == wanted[i]);
  return finish();
}
