// Grids and blocks of three dimensions, launches through a table of arguments, lambdas, and
// templates over types and functions.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "check.h"

__global__ void number(int* out, dim3 size) {
  const dim3 at(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  if (at.x >= size.x || at.y >= size.y || at.z >= size.z) return;
  out[(at.z * size.y + at.y) * size.x + at.x] = (int)(at.z * 10000 + at.y * 100 + at.x);
}

template <typename T, int Unroll, typename F>
__global__ void __launch_bounds__(64) transform(const T* in, T* out, int n, F f) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * Unroll;
#pragma unroll
  for (int k = 0; k < Unroll; ++k) {
    if (first + k < n) out[first + k] = f(in[first + k]);
  }
}

struct Square {
  template <typename T>
  __host__ __device__ T operator()(T x) const {
    return x * x;
  }
};

template <typename T>
void check_transform(T scale) {
  constexpr int kN = 501;
  std::vector<T> in(kN), out(kN);
  for (int i = 0; i < kN; ++i) in[i] = T(i % 40);
  T *din, *dout;
  CHECK(cudaMalloc(&din, kN * sizeof(T)));
  CHECK(cudaMalloc(&dout, kN * sizeof(T)));
  CHECK(cudaMemcpy(din, in.data(), kN * sizeof(T), cudaMemcpyHostToDevice));
  transform<T, 4><<<2, 64>>>(din, dout, kN, Square());
  CHECK(cudaMemcpy(out.data(), dout, kN * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) EXPECT(out[i] == in[i] * in[i]);
  transform<T, 2><<<4, 64>>>(din, dout, kN, [=] __device__(T x) { return x * scale + T(1); });
  CHECK(cudaMemcpy(out.data(), dout, kN * sizeof(T), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) EXPECT(out[i] == in[i] * scale + T(1));
  CHECK(cudaFree(din));
  CHECK(cudaFree(dout));
}

int main() {
  dim3 size(21, 10, 5);
  const int count = (int)(size.x * size.y * size.z);
  std::vector<int> h(count);
  int* d;
  CHECK(cudaMalloc(&d, count * sizeof(int)));
  void* arguments[] = {&d, &size};
  CHECK(cudaLaunchKernel((void*)number, dim3(3, 3, 2), dim3(8, 4, 3), arguments, 0, 0));
  CHECK(cudaMemcpy(h.data(), d, count * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) EXPECT(h[i] == i / 210 * 10000 + i / 21 % 10 * 100 + i % 21);
  check_transform<float>(2.0f);
  check_transform<double>(0.5);
  check_transform<int>(3);
  int blocks = 0, threads = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, number));
  EXPECT(blocks > 0 && threads >= 32 && threads <= 1024);
  number<<<1, 2048>>>(d, size);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  return finish();
}
