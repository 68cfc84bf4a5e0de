// Many blocks read one slab: neighbours in x share it, and the dispatcher deals them to all dies.
#include "slabs.h"

__global__ void sum_slab(const float* slabs, float* sums) {
  const float* slab = slabs + (size_t)blockIdx.y * SLAB;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < SLAB; i += blockDim.x) sum += slab[i] * (float)(blockIdx.x + 1);
  sums[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

void sum_slabs(const float* slabs, float* sums, int slabs_count, int readers) {
  sum_slab<<<dim3(readers, slabs_count), 128>>>(slabs, sums);
}
