// A cooperative launch: the whole grid meets between the passes of a reduction and a scan.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sum_and_spread(const int* in, int* partial, int* out, int n) {
  cg::grid_group grid = cg::this_grid();
  __shared__ int mine;
  if (threadIdx.x == 0) mine = 0;
  __syncthreads();
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) atomicAdd(&mine, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = mine;
  grid.sync();
  if (grid.thread_rank() == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    partial[0] = total;
  }
  cg::sync(grid);
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) out[i] = partial[0] + i;
}

int main() {
  int n = 3000, wanted = 0;
  static int h[3000];
  for (int i = 0; i < n; ++i) wanted += h[i] = i % 11;
  int *in, *partial, *out;
  CHECK(cudaMalloc(&in, sizeof h));
  CHECK(cudaMalloc(&out, sizeof h));
  CHECK(cudaMalloc(&partial, 6 * sizeof(int)));
  CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
  int cooperative = 0;
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  EXPECT(cooperative == 1);
  void* arguments[] = {&in, &partial, &out, &n};
  CHECK(cudaLaunchCooperativeKernel((void*)sum_and_spread, dim3(6), dim3(128), arguments, 0, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(h[i] == wanted + i);
  return finish();
}
