// Eight-bit floating point, e4m3 (no infinity, largest 448) and e5m2: storage and conversions,
// which round to nearest even and saturate. The formats are OCP's; arithmetic is done in wider
// types.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(SWIZZLEPERF_DEVICE)

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/// `mantissa` bits after the point, exponents biased by `bias`; `largest` is the code of the
/// largest finite number.
SWIZZLEPERF_HD unsigned char __swizzleperf_to_fp8(float x, int mantissa, int bias, unsigned largest,
                                                  bool saturate, unsigned infinity) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const unsigned sign = bits >> 24 & 0x80;
  if (x != x) return (unsigned char)(sign | 0x7f);
  const float a = __builtin_fabsf(x);
  int exponent = (int)(bits >> 23 & 0xff) - 127;
  if (exponent < 1 - bias) exponent = 1 - bias;  // denormal: the least exponent's step
  const float step = __builtin_bit_cast(float, (unsigned)(exponent - mantissa + 127) << 23);
  const float steps = __builtin_rintf(a / step);
  unsigned code = (unsigned)__builtin_fminf(steps, 65536.0f);
  code += (unsigned)(exponent + bias - 1) << mantissa;  // the hidden bit carries into the exponent
  if (a == __builtin_inff() || code > largest) code = saturate ? largest : infinity;
  return (unsigned char)(sign | code);
}
SWIZZLEPERF_HD float __swizzleperf_from_fp8(unsigned char value, int mantissa, int bias) {
  const unsigned code = value & 0x7f;
  const unsigned exponent = code >> mantissa;
  const unsigned fraction = code & ((1u << mantissa) - 1);
  const unsigned top = 0x7fu >> mantissa;
  float x =
      (float)(exponent == 0 ? fraction : fraction | 1u << mantissa) *
      __builtin_bit_cast(
          float, (unsigned)((int)(exponent == 0 ? 1 : exponent) - bias - mantissa + 127) << 23);
  if (mantissa == 3 && code == 0x7f) x = __builtin_nanf("");
  if (mantissa == 2 && exponent == top) x = fraction == 0 ? __builtin_inff() : __builtin_nanf("");
  return (value & 0x80) != 0 ? -x : x;
}

SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind) {
  const bool finite = saturate == __NV_SATFINITE;
  return kind == __NV_E4M3 ? __swizzleperf_to_fp8(x, 3, 7, 0x7e, finite, 0x7f)
                           : __swizzleperf_to_fp8(x, 2, 15, 0x7b, finite, 0x7c);
}
SWIZZLEPERF_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}
SWIZZLEPERF_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                                  __nv_fp8_interpretation_t kind) {
  return __half(kind == __NV_E4M3 ? __swizzleperf_from_fp8(x, 3, 7)
                                  : __swizzleperf_from_fp8(x, 2, 15));
}

#define SWIZZLEPERF_FP8(name, kind, mantissa, bias)                                                \
  struct name {                                                                                    \
    __nv_fp8_storage_t __x;                                                                        \
    name() = default;                                                                              \
    __attribute__((host, device)) explicit name(float x)                                           \
        : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) {}                                   \
    __attribute__((host, device)) explicit name(double x) : name((float)x) {}                      \
    __attribute__((host, device)) explicit name(int x) : name((float)x) {}                         \
    __attribute__((host, device)) explicit name(__half x) : name((float)x) {}                      \
    __attribute__((host, device)) explicit name(__nv_bfloat16 x) : name((float)x) {}               \
    __attribute__((host, device)) explicit operator float() const {                                \
      return __swizzleperf_from_fp8(__x, mantissa, bias);                                          \
    }                                                                                              \
    __attribute__((host, device)) explicit operator double() const { return (float)*this; }        \
    __attribute__((host, device)) explicit operator __half() const { return (float)*this; }        \
    __attribute__((host, device)) explicit operator __nv_bfloat16() const { return (float)*this; } \
  };
SWIZZLEPERF_FP8(__nv_fp8_e4m3, __NV_E4M3, 3, 7)
SWIZZLEPERF_FP8(__nv_fp8_e5m2, __NV_E5M2, 2, 15)
#undef SWIZZLEPERF_FP8

#endif
