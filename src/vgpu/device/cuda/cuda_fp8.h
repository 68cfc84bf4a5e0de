// Eight-bit floating point under CUDA's names.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(SWIZZLEPERF_DEVICE)
#include "../common/fp8.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t kind) {
  return __swizzleperf_to_fp8(x, __swizzleperf_fp8_format(kind), saturate == __NV_SATFINITE);
}
SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind) {
  // A NaN of a float is first made the canonical one.
  return x != x ? 0x7f : __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}
SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                              __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
#define SWIZZLEPERF_FP8_PAIR(name, T, one)                                                   \
  SWIZZLEPERF_HD __nv_fp8x2_storage_t name(T v, __nv_saturation_t saturate,                  \
                                           __nv_fp8_interpretation_t kind) {                 \
    return (__nv_fp8x2_storage_t)(one(v.x, saturate, kind) | one(v.y, saturate, kind) << 8); \
  }
SWIZZLEPERF_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8)
SWIZZLEPERF_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8)
#undef SWIZZLEPERF_FP8_PAIR
SWIZZLEPERF_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v,
                                                               __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t kind) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_halfraw_to_fp8(__half_raw{v.x}, saturate, kind) |
                                __nv_cvt_halfraw_to_fp8(__half_raw{v.y}, saturate, kind) << 8);
}
SWIZZLEPERF_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                                  __nv_fp8_interpretation_t kind) {
  const float value = __swizzleperf_from_fp8(x, __swizzleperf_fp8_format(kind));
  return value != value ? __half_raw{0x7fff} : (__half_raw)__half(value);
}
SWIZZLEPERF_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                      __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
          __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

#define FP8_STORAGE __nv_fp8_storage_t
#define FP8_STORAGE2 __nv_fp8x2_storage_t
#define FP8_STORAGE4 __nv_fp8x4_storage_t
#define FP8_SATURATE __NV_SATFINITE
#define FP8_FROM_DOUBLE __nv_cvt_double_to_fp8
#define FP8_FROM_FLOAT __nv_cvt_float_to_fp8
#define FP8_TO_FLOAT explicit
#define FP8_PAIR(v, member) (float)v.member
SWIZZLEPERF_FP8_TYPES(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3, __half,
                      __nv_bfloat16, __half2, __nv_bfloat162)
SWIZZLEPERF_FP8_TYPES(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2, __half,
                      __nv_bfloat16, __half2, __nv_bfloat162)
#undef FP8_STORAGE
#undef FP8_STORAGE2
#undef FP8_STORAGE4
#undef FP8_SATURATE
#undef FP8_FROM_DOUBLE
#undef FP8_FROM_FLOAT
#undef FP8_TO_FLOAT
#undef FP8_PAIR

#endif
