#include "kernels.h"

static __device__ float mine = 1.0f;
__constant__ float table[4];

__global__ void first(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = scaled((float)i) + table[i % 4] + mine;
}

void run_first(float* data, int n) {
  const float values[4] = {10, 20, 30, 40};
  const float own = 5.0f;
  (void)hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof values);
  (void)hipMemcpyToSymbol(HIP_SYMBOL(mine), &own, sizeof own);
  first<<<(n + 255) / 256, 256>>>(data, n);
}
