// Random numbers in kernels: the mean and spread of uniform and normal ones, and pi.
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include "check.h"

__global__ void setup(curandState* states, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &states[i]);
}
__global__ void count(curandState* states, unsigned* inside, int tries) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState state = states[i];
  unsigned hits = 0;
  for (int k = 0; k < tries; ++k) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    hits += x * x + y * y <= 1.0f;
  }
  atomicAdd(inside, hits);
}
__global__ void moments(double* sums, int tries) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  double sum = 0, squares = 0;
  for (int k = 0; k < tries; ++k) {
    const double x = curand_normal(&state);
    sum += x, squares += x * x;
  }
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
}
__global__ void first_words(unsigned* out) {
  curandStatePhilox4_32_10_t state;
  curand_init(0, 0, 0, &state);
  for (int k = 0; k < 5; ++k) out[k] = curand(&state);
}

int main() {
  constexpr int kThreads = 512, kTries = 100;
  curandState* states;
  unsigned *dinside, inside = 0, *dwords, words[5];
  double *dsums, sums[2];
  CHECK(cudaMalloc(&states, kThreads * sizeof(curandState)));
  CHECK(cudaMalloc(&dinside, sizeof inside));
  CHECK(cudaMalloc(&dsums, sizeof sums));
  CHECK(cudaMalloc(&dwords, sizeof words));
  CHECK(cudaMemset(dinside, 0, sizeof inside));
  CHECK(cudaMemset(dsums, 0, sizeof sums));
  setup<<<4, 128>>>(states, 42);
  count<<<4, 128>>>(states, dinside, kTries);
  moments<<<4, 128>>>(dsums, kTries);
  first_words<<<1, 1>>>(dwords);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&inside, dinside, sizeof inside, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums, dsums, sizeof sums, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(words, dwords, sizeof words, cudaMemcpyDeviceToHost));
  const double n = kThreads * kTries;
  EXPECT_NEAR(4.0 * inside / n, 3.14159, 0.04);
  EXPECT_NEAR(sums[0] / n, 0, 0.02);
  EXPECT_NEAR(sums[1] / n, 1, 0.03);
  // The published first block of Philox 4x32-10 for a zero key and counter.
  EXPECT(words[0] == 0x6627e8d5u && words[1] == 0xe169c58du && words[2] == 0xbc57ac4cu &&
         words[3] == 0x9b00dbd8u);
  return finish();
}
