// Shuffles of every kind and width, of four- and eight-byte values, and a block's sum over them.
#include <cuda_runtime.h>

#include "check.h"

constexpr unsigned kFull = 0xffffffffu;

__global__ void kinds(int* out) {
  const int lane = threadIdx.x % 32;
  const int v = 100 + lane;
  out[0 * 64 + threadIdx.x] = __shfl_sync(kFull, v, 5);
  out[1 * 64 + threadIdx.x] = __shfl_sync(kFull, v, lane + 1, 8);
  out[2 * 64 + threadIdx.x] = __shfl_up_sync(kFull, v, 3);
  out[3 * 64 + threadIdx.x] = __shfl_down_sync(kFull, v, 3, 16);
  out[4 * 64 + threadIdx.x] = __shfl_xor_sync(kFull, v, 6);
  out[5 * 64 + threadIdx.x] = (int)__shfl_xor_sync(kFull, (double)v + 0.5, 1);
  out[6 * 64 + threadIdx.x] = (int)(__shfl_sync(kFull, (long long)v << 33, 31) >> 33);
}

__global__ void sum(const float* in, float* out, int n) {
  __shared__ float partial[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int offset = warpSize / 2; offset > 0; offset >>= 1) v += __shfl_down_sync(kFull, v, offset);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(kFull, v, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

int main() {
  int* d;
  static int h[7 * 64];
  CHECK(cudaMalloc(&d, sizeof h));
  kinds<<<1, 64>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t) {
    const int lane = t % 32;
    EXPECT(h[0 * 64 + t] == 105);
    EXPECT(h[1 * 64 + t] == 100 + lane / 8 * 8 + (lane + 1) % 8);
    EXPECT(h[2 * 64 + t] == 100 + (lane < 3 ? lane : lane - 3));
    EXPECT(h[3 * 64 + t] == 100 + (lane % 16 + 3 < 16 ? lane + 3 : lane));
    EXPECT(h[4 * 64 + t] == 100 + (lane ^ 6));
    EXPECT(h[5 * 64 + t] == 100 + (lane ^ 1));
    EXPECT(h[6 * 64 + t] == 131);
  }
  constexpr int kN = 5000;
  static float in[kN];
  float out[4];
  double wanted = 0;
  for (int i = 0; i < kN; ++i) wanted += in[i] = (float)(i % 17) - 3.0f;
  float *din, *dout;
  CHECK(cudaMalloc(&din, sizeof in));
  CHECK(cudaMalloc(&dout, sizeof out));
  CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
  sum<<<4, 256>>>(din, dout, kN);
  CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
  EXPECT_NEAR(out[0] + out[1] + out[2] + out[3], wanted, 1e-3 * wanted);
  return finish();
}
