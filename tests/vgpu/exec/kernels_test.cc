// Kernels of every kind a HIP program has, against the same computation on the CPU, bit for bit.
#include <cmath>
#include <numeric>

#include "harness.h"

namespace swizzleperf::vgpu::test {
namespace {

TEST(Kernels, VectorAddWithRaggedTail) {
  Device device(R"(
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})");
  const int n = 1000;
  std::vector<float> a(n);
  std::vector<float> b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.1F * static_cast<float>(i);
    b[i] = 1.0F / static_cast<float>(i + 1);
  }
  float* c = device.buffer(std::vector<float>(n));
  device.launch("add", {8}, {128}, 0, device.buffer(a), device.buffer(b), c, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
}

TEST(Kernels, LdsReductionWithBarriers) {
  Device device(R"(
__global__ void reduce(const float* x, float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = s[0];
})");
  std::vector<float> x(4 * 256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  float* y = device.buffer(std::vector<float>(4));
  device.launch("reduce", {4}, {256}, 0, device.buffer(x), y);
  for (int b = 0; b < 4; ++b) {
    std::vector<float> s(x.begin() + b * 256, x.begin() + (b + 1) * 256);
    for (std::size_t o = 128; o > 0; o >>= 1)
      for (std::size_t t = 0; t < o; ++t) s[t] += s[t + o];
    EXPECT_EQ(y[b], s[0]);
  }
}

}  // namespace
}  // namespace swizzleperf::vgpu::test
