#include "kernels.h"

static __device__ float mine = 7.0f;  // another one than first.hip's

__global__ void second(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = shifted(data[i]) + scaled(mine);
}

void run_second(float* data, int n) { second<<<(n + 255) / 256, 256>>>(data, n); }
