#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "reference.h"

#define TILE 16
#define CHECK(call)                                                     \
  do {                                                                  \
    cudaError_t error = (call);                                         \
    if (error != cudaSuccess) {                                         \
      std::cerr << #call << ": " << cudaGetErrorString(error) << "\n";  \
      std::exit(1);                                                     \
    }                                                                   \
  } while (0)

extern __device__ float scale(float x);

__global__ void __launch_bounds__(TILE* TILE)
    multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
             int n, int k) {
  __shared__ float ta[TILE][TILE], tb[TILE][TILE];
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < k; i += TILE) {
    ta[threadIdx.y][threadIdx.x] = y < m && i + threadIdx.x < k ? a[y * k + i + threadIdx.x] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = x < n && i + threadIdx.y < k ? b[(i + threadIdx.y) * n + x] : 0.0f;
    __syncthreads();
    for (int j = 0; j < TILE; ++j) sum += ta[threadIdx.y][j] * tb[j][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < m) c[y * n + x] = scale(sum);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "Usage: " << argv[0] << " <m> <n> <k>\n";
    return 1;
  }
  const int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
  std::vector<float> a(size_t(m) * k), b(size_t(k) * n), c(size_t(m) * n), r(c.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i % 10) * 0.25f;
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(i % 7) - 3.0f;
  float *da, *db, *dc;
  CHECK(cudaMalloc((void**)&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  const auto start = std::chrono::steady_clock::now();
  multiply<<<grid, block>>>(da, db, dc, m, n, k);
  CHECK(cudaDeviceSynchronize());
  const auto end = std::chrono::steady_clock::now();
  std::cout << "Kernel time " << std::chrono::duration<double>(end - start).count() << " (s)\n";
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  reference(a.data(), b.data(), r.data(), m, n, k);
  double worst = 0;
  for (size_t i = 0; i < c.size(); ++i) worst = std::fmax(worst, std::fabs(c[i] - r[i]));
  std::cout << (worst < 1e-2 ? "PASS" : "FAIL") << std::endl;
  return worst < 1e-2 ? 0 : 1;
}
