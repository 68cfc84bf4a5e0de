// Eight-bit floating point: OCP's e4m3 (no infinity, largest 448) and e5m2, and AMD's "fnuz" forms
// of both, whose only zero is positive and whose only NaN is the code of -0. All of them are a
// sign, an exponent and a mantissa; the same few lines convert each, from double, so that there is
// one rounding whatever the source was. Arithmetic is done in wider types.
//
// Included once by either dialect with its names: FP8_CVT(what) of the conversion functions.
#pragma once
#pragma clang system_header

#include "conversions.h"

struct __swizzleperf_fp8 {
  int mantissa;       ///< bits after the point
  int bias;           ///< of the exponent
  unsigned largest;   ///< code of the largest finite number
  unsigned infinity;  ///< code of what lies beyond it
  unsigned nan;
  bool fnuz;
};
SWIZZLEPERF_HD constexpr __swizzleperf_fp8 __swizzleperf_fp8_format(int kind) {
  return kind == 0   ? __swizzleperf_fp8{3, 7, 0x7e, 0x7f, 0x7f, false}
         : kind == 1 ? __swizzleperf_fp8{2, 15, 0x7b, 0x7c, 0x7e, false}
         : kind == 2 ? __swizzleperf_fp8{3, 8, 0x7f, 0x80, 0x80, true}
                     : __swizzleperf_fp8{2, 16, 0x7f, 0x80, 0x80, true};
}

SWIZZLEPERF_HD unsigned char __swizzleperf_to_fp8(double x, __swizzleperf_fp8 format,
                                                  bool saturate) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  const unsigned sign = (unsigned)(bits >> 63) << 7;
  if (x != x) return (unsigned char)(sign | format.nan);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent < 1 - format.bias) exponent = 1 - format.bias;  // denormal: the least one's step
  if (exponent > 17) exponent = 17;                            // all that is larger overflows
  const double step =
      __builtin_bit_cast(double, (unsigned long long)(exponent - format.mantissa + 1023) << 52);
  const double steps = __builtin_rint(__builtin_fabs(x) / step);
  unsigned code = steps < 4096 ? (unsigned)steps : 4096;
  code += (unsigned)(exponent + format.bias - 1) << format.mantissa;  // the hidden bit carries
  if (code > format.largest) code = saturate ? format.largest : format.infinity;
  if (format.fnuz && (code == 0 || code == format.nan)) return (unsigned char)code;
  return (unsigned char)(sign | code);
}
SWIZZLEPERF_HD float __swizzleperf_from_fp8(unsigned char value, __swizzleperf_fp8 format) {
  const unsigned code = value & 0x7f;
  const int exponent = (int)(code >> format.mantissa);
  const unsigned fraction = code & ((1u << format.mantissa) - 1);
  if (format.fnuz ? value == 0x80 : code > format.largest) {
    const bool infinite = !format.fnuz && format.infinity != 0x7f && code == format.infinity;
    if (!infinite) return __builtin_nanf("");
    return (value & 0x80) != 0 ? -__builtin_inff() : __builtin_inff();
  }
  const int scale = (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa;
  const float x = (float)(exponent == 0 ? fraction : fraction | 1u << format.mantissa) *
                  __builtin_bit_cast(float, (unsigned)(scale + 127) << 23);
  return (value & 0x80) != 0 ? -x : x;
}

// ---- Types: one number, two, four --------------------------------------------------------------

#define SWIZZLEPERF_FP8_MEMBER __attribute__((host, device))
#define SWIZZLEPERF_FP8_FROM(name, T, kind, convert) \
  SWIZZLEPERF_FP8_MEMBER explicit name(T x) : __x(convert((double)x, FP8_SATURATE, kind)) {}
#define SWIZZLEPERF_FP8_TO(T) \
  SWIZZLEPERF_FP8_MEMBER explicit operator T() const { return (T)(float)*this; }
#define SWIZZLEPERF_FP8_TO_INTEGER(T)                                  \
  SWIZZLEPERF_FP8_MEMBER explicit operator T() const {                 \
    return __swizzleperf_saturated<T>(__builtin_truncf((float)*this)); \
  }

/// Of numbers that are not in the language the conversion goes by float, which holds them.
#define SWIZZLEPERF_FP8_TYPES(name, name2, name4, kind, HALF, BF16, HALF2, BF162)                 \
  struct __attribute__((aligned(1))) name {                                                       \
    FP8_STORAGE __x;                                                                              \
    name() = default;                                                                             \
    SWIZZLEPERF_FP8_MEMBER explicit name(float x) : __x(FP8_FROM_FLOAT(x, FP8_SATURATE, kind)) {} \
    SWIZZLEPERF_FP8_FROM(name, double, kind, FP8_FROM_DOUBLE)                                     \
    SWIZZLEPERF_FP8_FROM(name, short, kind, FP8_FROM_DOUBLE)                                      \
    SWIZZLEPERF_FP8_FROM(name, unsigned short, kind, FP8_FROM_DOUBLE)                             \
    SWIZZLEPERF_FP8_FROM(name, int, kind, FP8_FROM_DOUBLE)                                        \
    SWIZZLEPERF_FP8_FROM(name, unsigned, kind, FP8_FROM_DOUBLE)                                   \
    SWIZZLEPERF_FP8_FROM(name, long, kind, FP8_FROM_DOUBLE)                                       \
    SWIZZLEPERF_FP8_FROM(name, unsigned long, kind, FP8_FROM_DOUBLE)                              \
    SWIZZLEPERF_FP8_FROM(name, long long, kind, FP8_FROM_DOUBLE)                                  \
    SWIZZLEPERF_FP8_FROM(name, unsigned long long, kind, FP8_FROM_DOUBLE)                         \
    SWIZZLEPERF_FP8_MEMBER explicit name(HALF x) : name((float)x) {}                              \
    SWIZZLEPERF_FP8_MEMBER explicit name(BF16 x) : name((float)x) {}                              \
    SWIZZLEPERF_FP8_MEMBER FP8_TO_FLOAT operator float() const {                                  \
      return __swizzleperf_from_fp8(__x, __swizzleperf_fp8_format(kind));                         \
    }                                                                                             \
    SWIZZLEPERF_FP8_TO(double)                                                                    \
    SWIZZLEPERF_FP8_MEMBER explicit operator HALF() const { return HALF((float)*this); }          \
    SWIZZLEPERF_FP8_MEMBER explicit operator BF16() const { return BF16((float)*this); }          \
    SWIZZLEPERF_FP8_MEMBER explicit operator bool() const { return (float)*this != 0; }           \
    SWIZZLEPERF_FP8_TO_INTEGER(signed char)                                                       \
    SWIZZLEPERF_FP8_TO_INTEGER(unsigned char)                                                     \
    SWIZZLEPERF_FP8_TO_INTEGER(short)                                                             \
    SWIZZLEPERF_FP8_TO_INTEGER(unsigned short)                                                    \
    SWIZZLEPERF_FP8_TO_INTEGER(int)                                                               \
    SWIZZLEPERF_FP8_TO_INTEGER(unsigned)                                                          \
    SWIZZLEPERF_FP8_TO_INTEGER(long)                                                              \
    SWIZZLEPERF_FP8_TO_INTEGER(unsigned long)                                                     \
    SWIZZLEPERF_FP8_TO_INTEGER(long long)                                                         \
    SWIZZLEPERF_FP8_TO_INTEGER(unsigned long long)                                                \
  };                                                                                              \
  struct __attribute__((aligned(2))) name2 {                                                      \
    FP8_STORAGE2 __x;                                                                             \
    name2() = default;                                                                            \
    SWIZZLEPERF_FP8_MEMBER explicit name2(float2 v) : __x(__swizzleperf_pack<name>(v.x, v.y)) {}  \
    SWIZZLEPERF_FP8_MEMBER explicit name2(double2 v) : __x(__swizzleperf_pack<name>(v.x, v.y)) {} \
    SWIZZLEPERF_FP8_MEMBER explicit name2(HALF2 v)                                                \
        : __x(__swizzleperf_pack<name>(FP8_PAIR(v, x), FP8_PAIR(v, y))) {}                        \
    SWIZZLEPERF_FP8_MEMBER explicit name2(BF162 v)                                                \
        : __x(__swizzleperf_pack<name>((float)v.x, (float)v.y)) {}                                \
    SWIZZLEPERF_FP8_MEMBER FP8_TO_FLOAT operator float2() const {                                 \
      return make_float2(                                                                         \
          __swizzleperf_from_fp8((unsigned char)__x, __swizzleperf_fp8_format(kind)),             \
          __swizzleperf_from_fp8((unsigned char)(__x >> 8), __swizzleperf_fp8_format(kind)));     \
    }                                                                                             \
    SWIZZLEPERF_FP8_MEMBER explicit operator HALF2() const {                                      \
      const float2 v = (float2) * this;                                                           \
      return HALF2(HALF(v.x), HALF(v.y));                                                         \
    }                                                                                             \
  };                                                                                              \
  struct __attribute__((aligned(4))) name4 {                                                      \
    FP8_STORAGE4 __x;                                                                             \
    name4() = default;                                                                            \
    SWIZZLEPERF_FP8_MEMBER explicit name4(float4 v)                                               \
        : __x(__swizzleperf_pack<name>(v.x, v.y) | __swizzleperf_pack<name>(v.z, v.w) << 16) {}   \
    SWIZZLEPERF_FP8_MEMBER explicit name4(double4 v)                                              \
        : __x(__swizzleperf_pack<name>(v.x, v.y) | __swizzleperf_pack<name>(v.z, v.w) << 16) {}   \
    SWIZZLEPERF_FP8_MEMBER explicit name4(HALF2 low, HALF2 high)                                  \
        : __x((unsigned)name2(low).__x | (unsigned)name2(high).__x << 16) {}                      \
    SWIZZLEPERF_FP8_MEMBER explicit name4(BF162 low, BF162 high)                                  \
        : __x((unsigned)name2(low).__x | (unsigned)name2(high).__x << 16) {}                      \
    SWIZZLEPERF_FP8_MEMBER FP8_TO_FLOAT operator float4() const {                                 \
      name2 low, high;                                                                            \
      low.__x = (FP8_STORAGE2)__x;                                                                \
      high.__x = (FP8_STORAGE2)(__x >> 16);                                                       \
      const float2 a = (float2)low, b = (float2)high;                                             \
      return make_float4(a.x, a.y, b.x, b.y);                                                     \
    }                                                                                             \
  };

template <class Fp8, class T>
SWIZZLEPERF_HD unsigned __swizzleperf_pack(T low, T high) {
  return (unsigned)Fp8(low).__x | (unsigned)Fp8(high).__x << 8;
}
