// Text from kernels, and an assertion that holds.
#include <cuda_runtime.h>

#include <cassert>

#include "check.h"

__global__ void speak(int n) {
  assert(n == 3);
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) printf("thread %d of %s: %.2f\n", i, "three", 0.5 * i);
}

int main() {
  speak<<<2, 32>>>(3);
  CHECK(cudaDeviceSynchronize());
  return finish();
}
