// bfloat16: rounding to nearest even, arithmetic, pairs.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstring>

#include "check.h"

__global__ void scale(const __nv_bfloat16* x, __nv_bfloat16* y, float f, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2bfloat16(__bfloat162float(x[i]) * f);
}
__global__ void pairs(const __nv_bfloat162* x, __nv_bfloat162* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hadd2(__hmul2(x[i], x[i]), __floats2bfloat162_rn(1.0f, -1.0f));
}

/// Rounding by the definition: the upper half, one more if the lower half is more than a half, or
/// exactly a half and the upper one odd.
float rounded(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof bits);
  const unsigned low = bits & 0xffff;
  bits &= 0xffff0000u;
  if (low > 0x8000 || (low == 0x8000 && (bits >> 16 & 1) != 0)) bits += 0x10000;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

int main() {
  constexpr int kN = 512;
  static __nv_bfloat16 x[kN], y[kN], z[kN];
  for (int i = 0; i < kN; ++i) x[i] = __float2bfloat16((float)(i - 200) * 0.37f);
  __nv_bfloat16 *dx, *dy;
  CHECK(cudaMalloc(&dx, sizeof x));
  CHECK(cudaMalloc(&dy, sizeof y));
  CHECK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
  scale<<<4, 128>>>(dx, dy, 1.7f, kN);
  CHECK(cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost));
  pairs<<<2, 128>>>((const __nv_bfloat162*)dx, (__nv_bfloat162*)dy, kN / 2);
  CHECK(cudaMemcpy(z, dy, sizeof z, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) {
    const float v = __bfloat162float(x[i]);
    EXPECT_NEAR(v, rounded((float)(i - 200) * 0.37f), 0);
    EXPECT_NEAR(__bfloat162float(y[i]), rounded(v * 1.7f), 0);
    EXPECT_NEAR(__bfloat162float(z[i]), rounded(rounded(v * v) + (i % 2 ? -1.0f : 1.0f)), 0);
  }
  return finish();
}
