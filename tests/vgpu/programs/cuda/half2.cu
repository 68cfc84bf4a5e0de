// Half precision: conversions both ways, pairs, functions, and atomic additions of pairs.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "check.h"

__global__ void axpy(const half2* x, half2* y, half a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

__global__ void odds(float* out, half2* total) {
  const half a = __float2half(1.5f), b = __float2half(-0.25f);
  if (threadIdx.x == 0) {
    out[0] = __half2float(a + b);
    out[1] = __half2float(__hmul(a, b));
    out[2] = __half2float(hsqrt(__float2half(2.25f)));
    out[3] = __low2float(__floats2half2_rn(3.0f, 4.0f)) * 10 +
             __high2float(__lowhigh2highlow(__floats2half2_rn(3.0f, 4.0f)));
    out[4] = __hgt(a, b) && !__heq(a, b) && (a > b);
    out[5] = __half2float(__float2half(65519.0f));  // rounds to the largest half
    out[6] = __half2float(__hmax(a, b)) + __half2float(__habs(b));
    out[7] = (float)__half_as_ushort(__float2half(1.0f));
  }
  atomicAdd(total, __floats2half2_rn(1.0f, 0.5f));
  const half next = __shfl_down_sync(0xffffffffu, __float2half((float)threadIdx.x), 1);
  if (threadIdx.x == 3) out[8] = __half2float(next);
}

int main() {
  constexpr int kN = 300;
  static half2 x[kN], y[kN];
  for (int i = 0; i < kN; ++i) {
    x[i] = __floats2half2_rn((float)(i % 50), 1.0f);
    y[i] = __floats2half2_rn(1.0f, (float)(i % 20));
  }
  half2 *dx, *dy, *dtotal;
  float *dout, out[9];
  CHECK(cudaMalloc(&dx, sizeof x));
  CHECK(cudaMalloc(&dy, sizeof y));
  CHECK(cudaMalloc(&dtotal, sizeof(half2)));
  CHECK(cudaMalloc(&dout, sizeof out));
  CHECK(cudaMemset(dtotal, 0, sizeof(half2)));
  CHECK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y, sizeof y, cudaMemcpyHostToDevice));
  axpy<<<3, 128>>>(dx, dy, __float2half(2.0f), kN);
  odds<<<1, 64>>>(dout, dtotal);
  CHECK(cudaGetLastError());
  static half2 r[kN];
  half2 total;
  CHECK(cudaMemcpy(r, dy, sizeof r, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&total, dtotal, sizeof total, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kN; ++i) {
    EXPECT_NEAR(__half2float(r[i].x), 2.0f * (float)(i % 50) + 1.0f, 0);
    EXPECT_NEAR(__half2float(r[i].y), 2.0f + (float)(i % 20), 0);
  }
  const float wanted[9] = {1.25f, -0.375f, 1.5f, 33.0f, 1.0f, 65504.0f, 1.75f, 15360.0f, 4.0f};
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(out[i], wanted[i], 0);
  EXPECT_NEAR(__half2float(total.x), 64, 0);
  EXPECT_NEAR(__half2float(total.y), 32, 0);
  return finish();
}
