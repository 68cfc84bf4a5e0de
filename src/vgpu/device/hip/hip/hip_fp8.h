// Eight-bit floating point under the names of HIP 6: OCP's formats and the "fnuz" ones of MI300X.
// As there, what is infinite is not saturated, and without saturation all that is larger than the
// largest number overflows, even where rounding would bring it back.
#pragma once
#pragma clang system_header

#include <hip/hip_bf16.h>

#include "../../common/fp8.h"

#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t {
  __HIP_E4M3 = 0,
  __HIP_E5M2 = 1,
  __HIP_E4M3_FNUZ = 2,
  __HIP_E5M2_FNUZ = 3
};

SWIZZLEPERF_HD __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t saturate,
                                                           __hip_fp8_interpretation_t kind) {
  const __swizzleperf_fp8 format = __swizzleperf_fp8_format(kind);
  const unsigned sign = format.fnuz ? 0 : __builtin_signbit(x) ? 0x80 : 0;
  const double size = __builtin_fabs(x);
  const bool infinite = size == __builtin_inf();
  if (x != x || (infinite && kind != __HIP_E5M2)) {
    return (__hip_fp8_storage_t)(format.fnuz ? format.nan : sign | 0x7f);
  }
  const double largest = (double)__swizzleperf_from_fp8((unsigned char)format.largest, format);
  if (infinite || (saturate == __HIP_NOSAT && size > largest)) {
    return (__hip_fp8_storage_t)(sign | format.infinity);
  }
  return __swizzleperf_to_fp8(x, format, true);
}
SWIZZLEPERF_HD __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t saturate,
                                                          __hip_fp8_interpretation_t kind) {
  return __hip_cvt_double_to_fp8((double)x, saturate, kind);
}
SWIZZLEPERF_HD __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw x,
                                                                __hip_saturation_t saturate,
                                                                __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float_to_fp8((float)__hip_bfloat16(x), saturate, kind);
}
SWIZZLEPERF_HD __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw x,
                                                            __hip_saturation_t saturate,
                                                            __hip_fp8_interpretation_t kind) {
  return __hip_cvt_float_to_fp8((float)x.data, saturate, kind);
}
SWIZZLEPERF_HD __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v,
                                                               __hip_saturation_t saturate,
                                                               __hip_fp8_interpretation_t kind) {
  return (__hip_fp8x2_storage_t)(__hip_cvt_float_to_fp8(v.x, saturate, kind) |
                                 __hip_cvt_float_to_fp8(v.y, saturate, kind) << 8);
}
SWIZZLEPERF_HD __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(double2 v,
                                                                __hip_saturation_t saturate,
                                                                __hip_fp8_interpretation_t kind) {
  return (__hip_fp8x2_storage_t)(__hip_cvt_double_to_fp8(v.x, saturate, kind) |
                                 __hip_cvt_double_to_fp8(v.y, saturate, kind) << 8);
}
SWIZZLEPERF_HD __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x,
                                                   __hip_fp8_interpretation_t kind) {
  __half_raw raw;
  raw.data = (_Float16)__swizzleperf_from_fp8(x, __swizzleperf_fp8_format(kind));
  return raw;
}
SWIZZLEPERF_HD __half2_raw __hip_cvt_fp8x2_to_halfraw2(__hip_fp8x2_storage_t x,
                                                       __hip_fp8_interpretation_t kind) {
  __half2_raw raw;
  raw.data.x = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)x, kind).data;
  raw.data.y = __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(x >> 8), kind).data;
  return raw;
}

#define FP8_STORAGE __hip_fp8_storage_t
#define FP8_STORAGE2 __hip_fp8x2_storage_t
#define FP8_STORAGE4 __hip_fp8x4_storage_t
#define FP8_SATURATE __HIP_SATFINITE
#define FP8_FROM_DOUBLE __hip_cvt_double_to_fp8
#define FP8_FROM_FLOAT __hip_cvt_float_to_fp8
#define FP8_TO_FLOAT
#define FP8_PAIR(v, member) (float)static_cast<__half2_raw>(v).data.member
#define SWIZZLEPERF_HIP_FP8(suffix, kind)                                                     \
  SWIZZLEPERF_FP8_TYPES(__hip_fp8_##suffix, __hip_fp8x2_##suffix, __hip_fp8x4_##suffix, kind, \
                        __half, __hip_bfloat16, __half2, __hip_bfloat162)
SWIZZLEPERF_HIP_FP8(e4m3, __HIP_E4M3)
SWIZZLEPERF_HIP_FP8(e5m2, __HIP_E5M2)
SWIZZLEPERF_HIP_FP8(e4m3_fnuz, __HIP_E4M3_FNUZ)
SWIZZLEPERF_HIP_FP8(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef SWIZZLEPERF_HIP_FP8
#undef FP8_STORAGE
#undef FP8_STORAGE2
#undef FP8_STORAGE4
#undef FP8_SATURATE
#undef FP8_FROM_DOUBLE
#undef FP8_FROM_FLOAT
#undef FP8_TO_FLOAT
#undef FP8_PAIR
