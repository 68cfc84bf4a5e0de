// Dynamic shared memory carved up by hand, constants and device variables by symbol, managed
// memory, pitched copies.
#include <cuda_runtime.h>

#include <cstring>

#include "check.h"

__constant__ float kTaps[5];
__device__ int counter = 3;
__device__ __managed__ int shared_total = 10;

__global__ void filter(const float* in, float* out, int n) {
  extern __shared__ float tile[];
  float* const taps = tile + blockDim.x + 4;
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x + 2] = i < n ? in[i] : 0.0f;
  if (threadIdx.x < 2) {
    tile[threadIdx.x] = i >= 2 ? in[i - 2] : 0.0f;
    const int after = i + (int)blockDim.x;
    tile[threadIdx.x + 2 + blockDim.x] = after < n ? in[after] : 0.0f;
  }
  if (threadIdx.x < 5) taps[threadIdx.x] = kTaps[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; ++k) sum += taps[k] * tile[threadIdx.x + k];
  if (i < n) out[i] = sum;
  if (i == 0) {
    atomicAdd(&counter, 4);
    shared_total += 5;
  }
}

__global__ void columns(float* base, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((float*)((char*)base + y * pitch))[x] += (float)(y * 1000 + x);
}

int main() {
  constexpr int kN = 700;
  const float taps[5] = {0.5f, 1, 2, 1, -0.5f};
  CHECK(cudaMemcpyToSymbol(kTaps, taps, sizeof taps));
  float *in, *out;
  CHECK(cudaMallocManaged(&in, kN * sizeof(float)));
  CHECK(cudaMallocManaged(&out, kN * sizeof(float)));
  for (int i = 0; i < kN; ++i) in[i] = (float)(i * i % 31);
  CHECK(cudaMemPrefetchAsync(in, kN * sizeof(float), 0));
  cudaMemLocation place;  // as CUDA 13 has it
  place.type = cudaMemLocationTypeDevice;
  place.id = 0;
  CHECK(cudaMemPrefetchAsync(in, kN * sizeof(float), place, 0));
  CHECK(cudaMemAdvise(in, kN * sizeof(float), cudaMemAdviseSetReadMostly, place));
  filter<<<(kN + 127) / 128, 128, (128 + 4 + 5) * sizeof(float)>>>(in, out, kN);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < kN; ++i) {
    float wanted = 0;
    for (int k = 0; k < 5; ++k) {
      const int at = i + k - 2;
      if (at >= 0 && at < kN) wanted += taps[k] * in[at];
    }
    EXPECT_NEAR(out[i], wanted, 1e-4);
  }
  int value = 0;
  CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 7 && shared_total == 15);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counter));
  CHECK(cudaGetSymbolSize(&bytes, kTaps));
  CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 7 && bytes == sizeof taps);

  cudaMemPool_t pool;
  unsigned long long threshold = 1 << 20, told = 0;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &told));
  EXPECT(told == threshold);

  constexpr int kWidth = 50, kHeight = 20;
  static float image[kHeight][kWidth], back[kHeight][kWidth];
  for (auto& row : image) {
    for (float& v : row) v = 0.5f;
  }
  float* d;
  size_t pitch = 0;
  CHECK(cudaMallocPitch((void**)&d, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMemcpy2D(d, pitch, image, sizeof image[0], sizeof image[0], kHeight,
                     cudaMemcpyHostToDevice));
  columns<<<dim3(4, 3), dim3(16, 8)>>>(d, pitch, kWidth, kHeight);
  CHECK(cudaMemcpy2D(back, sizeof back[0], d, pitch, sizeof back[0], kHeight,
                     cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) EXPECT_NEAR(back[y][x], 0.5 + y * 1000 + x, 0);
  }
  return finish();
}
