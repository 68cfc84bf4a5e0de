// Three kernels; later ones need what earlier ones computed, and one of them moves far more data.
// With the argument "index" the last kernel reads through indices that the first one made.
#include <vector>

#include "check.h"

constexpr int kCount = 4096;

__global__ void make_indices(int* indices) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) indices[i] = (i * 17 + 5) % kCount;
}

__global__ void fill(float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) values[i] = static_cast<float>(i);
}

__global__ void gather_many(const int* indices, const float* values, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 16; ++j) sum += values[indices[(i + j) % kCount]];
  out[i] = sum;
}

int main() {
  int* indices = nullptr;
  float* values = nullptr;
  float* out = nullptr;
  OK(hipMalloc(&indices, kCount * sizeof(int)));
  OK(hipMalloc(&values, kCount * sizeof(float)));
  OK(hipMalloc(&out, kCount * sizeof(float)));
  make_indices<<<kCount / 256, 256>>>(indices);
  fill<<<kCount / 256, 256>>>(values);
  gather_many<<<kCount / 256, 256>>>(indices, values, out);
  OK(hipGetLastError());
  fill<<<kCount / 256, 256>>>(values);
  OK(hipDeviceSynchronize());

  std::vector<float> host(kCount);
  OK(hipMemcpy(host.data(), out, kCount * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += static_cast<float>((((i + j) % kCount) * 17 + 5) % kCount);
    CHECK(host[i] == sum);
  }
  OK(hipFree(indices));
  OK(hipFree(values));
  OK(hipFree(out));
}
