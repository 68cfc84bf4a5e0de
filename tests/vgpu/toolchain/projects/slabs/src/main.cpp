#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "slabs.h"

int main() {
  const int count = 64, readers = 32, slab = 4096, threads = 128;
  std::vector<float> in(size_t(count) * slab, 1.0f), out(size_t(count) * readers * threads);
  float *slabs = nullptr, *sums = nullptr;
  cudaMalloc((void**)&slabs, in.size() * sizeof(float));
  cudaMalloc((void**)&sums, out.size() * sizeof(float));
  cudaMemcpy(slabs, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  sum_slabs(slabs, sums, count, readers);
  cudaMemcpy(out.data(), sums, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
  const bool ok = out[0] == 32.0f && out[threads] == 64.0f;
  std::puts(ok ? "PASS" : "FAIL");
  return ok ? 0 : 1;
}
