// Integer, bit and conversion intrinsics, single-precision functions, vectors of four.
#include <cuda_runtime.h>
#include <math_constants.h>

#include "check.h"

__global__ void integers(unsigned* out) {
  int k = 0;
  out[k++] = __popc(0xf0f01u) + __popcll(0xff00000000ffull);
  out[k++] = __clz(1) + __clz(0) + __clzll(1);
  out[k++] = __ffs(8) + __ffs(0) + __ffsll(1ll << 40);
  out[k++] = __brev(1u);
  out[k++] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
  out[k++] = __funnelshift_l(0x80000000u, 1u, 4);
  out[k++] = __umulhi(0xffffffffu, 16u) + (unsigned)__mulhi(-1, 5);
  out[k++] = (unsigned)__mul24(-3, 5) + __umul24(0x1000002u, 3u);
  out[k++] = __sad(-3, 4, 10u) + __usad(9u, 2u, 0u);
  out[k++] = (unsigned)__dp4a(0x01020304, 0x01010101, 5);
  out[k++] = __vadd4(0x01ff0203u, 0x01010101u);
  out[k++] = (unsigned)__float2int_rn(2.5f) + (unsigned)__float2int_rz(-2.7f) +
             (unsigned)__float2int_ru(1.1f) + (unsigned)__float2int_rd(-1.1f);
  out[k++] = (unsigned)__float2int_rn(1e20f);
  out[k++] = __float_as_uint(__uint_as_float(0x40490fdbu));
  out[k++] = (unsigned)min(3, 7u) + max(threadIdx.x, 5u) + (unsigned)max(-2, 1);
  out[k++] =
      (unsigned)__double2loint(__hiloint2double(5, 6)) + __double2hiint(__hiloint2double(5, 6));
  out[k++] =
      (unsigned)__dp2a_lo(0x00030002, 0x7f7fff05, 1) + __dp2a_hi(0x00030002u, 0x00ff0000u, 0u);
  out[k++] = __vaddss4(0x7f80017fu, 0x01ff0101u);
  out[k++] = __vsubus2(0x00010005u, 0x00020003u);
  out[k++] = __vsadu4(0x01ff0203u, 0x02000203u) + __vabs4(0xff00fe01u);
  out[k++] = __vseteq4(0x01020304u, 0x01000300u) + __vcmpleu2(0x00020001u, 0x00010001u);
  out[k++] = (unsigned)__vimax3_s32(-5, 7, 3) + (unsigned)__viaddmax_s32_relu(-5, -4, -2) +
             (unsigned)__viaddmin_s32(1, 2, 9) + __vimin3_u32(5u, 0xffffffffu, 4u);
  const float wide = (float)umax(0xffff0000u, 1u);
  out[k++] = wide > 4e9f ? 1 : 0;
  out[k++] = (unsigned)(ullmax(1ull << 40, 2ull) >> 40) + (unsigned)llmin(-1, 4);
}

__global__ void floats(float* out) {
  int k = 0;
  out[k++] = __fmaf_rn(2.0f, 3.0f, 4.0f) + __fadd_rn(1.0f, 2.0f) + __fmul_rn(2.0f, 0.5f);
  out[k++] = rsqrtf(4.0f) + __frcp_rn(4.0f) + __fdividef(1.0f, 4.0f) + __saturatef(7.0f);
  out[k++] = __expf(1.0f) + __logf(CUDART_PI_F) + __powf(2.0f, 3.0f);
  out[k++] = sinf(0.5f) * sinf(0.5f) + cosf(0.5f) * cosf(0.5f) + __sinf(0.0f);
  float s, c;
  sincosf(0.25f, &s, &c);
  out[k++] = atan2f(s, c) + fmodf(7.5f, 2.0f) + copysignf(3.0f, -1.0f);
  out[k++] = (float)(erf(0.5) + tgammaf(5.0f) + cbrtf(27.0f));
  out[k++] = CUDART_INF_F > 1e38f && isnan(CUDART_NAN_F) && !isinf(1.0f);
  const float4 v = __ldg((const float4*)out + 4);
  out[k++] = v.x + v.y + v.z + v.w;
}

int main() {
  unsigned *du, u[24];
  float *df, f[24] = {};
  for (int i = 16; i < 20; ++i) f[i] = (float)i;
  CHECK(cudaMalloc(&du, sizeof u));
  CHECK(cudaMalloc(&df, sizeof f));
  CHECK(cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice));
  integers<<<1, 1>>>(du);
  floats<<<1, 1>>>(df);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(u, du, sizeof u, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost));
  const unsigned wanted[24] = {9 + 16,
                               31 + 32 + 63,
                               4 + 0 + 41,
                               0x80000000u,
                               0x77553311u,
                               0x18u,
                               15u - 1u,
                               (unsigned)-15 + 6u,
                               17 + 7,
                               15,
                               0x02000304u,
                               2u + (unsigned)-2 + 2u + (unsigned)-2,
                               0x7fffffffu,
                               0x40490fdbu,
                               3 + 5 + 1,
                               11,
                               1 + 10 - 3 + 2 * 255,
                               0x7f80027fu,
                               2,
                               256 + 0x01000201u,
                               0x01000100u + 0xffffu,
                               7 + 0 + 3 + 4,
                               1,
                               0};
  for (int i = 0; i < 24; ++i) EXPECT_NEAR(u[i], wanted[i], 0);
  const double exact[8] = {
      10 + 3 + 1, 0.5 + 0.25 + 0.25 + 1, std::exp(1.0) + std::log(CUDART_PI) + 8,
      1,          0.25 + 1.5 - 3,        std::erf(0.5) + 24 + 3,
      1,          16 + 17 + 18 + 19};
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(f[i], exact[i], 1e-4);
  return finish();
}
