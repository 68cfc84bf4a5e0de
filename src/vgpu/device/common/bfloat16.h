// bfloat16: the upper half of a float, rounded to nearest even; computed as narrow.h says. Included
// once by either dialect, with its names for the types: BF16, BF16X2, BF16_RAW, BF16X2_RAW.
#pragma once
#pragma clang system_header

#include "conversions.h"

struct BF16_RAW {
  unsigned short x;
};
struct BF16X2_RAW {
  unsigned short x, y;
};

SWIZZLEPERF_HD unsigned short __swizzleperf_bf16_bits(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  if (x != x) return 0x7fff;
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
/// A double is first cut to a float with the lost bits gathered in its last one: then one rounding
/// is left.
SWIZZLEPERF_HD unsigned short __swizzleperf_bf16_bits(double x) {
  const float f = (float)x;
  unsigned bits = __builtin_bit_cast(unsigned, f);
  if ((double)f != x && x == x && __builtin_fabsf(f) != __builtin_inff()) {
    if (__builtin_fabs((double)f) > __builtin_fabs(x)) --bits;
    bits |= 1;
  }
  return __swizzleperf_bf16_bits(__builtin_bit_cast(float, bits));
}

struct __attribute__((aligned(2))) BF16 {
  unsigned short __x;

  BF16() = default;
  __attribute__((host, device)) BF16(float value) : __x(__swizzleperf_bf16_bits(value)) {}
#define SWIZZLEPERF_FROM(T) \
  __attribute__((host, device)) BF16(T value) : __x(__swizzleperf_bf16_bits((double)value)) {}
  SWIZZLEPERF_FROM(double)
  SWIZZLEPERF_FROM(short)
  SWIZZLEPERF_FROM(unsigned short)
  SWIZZLEPERF_FROM(int)
  SWIZZLEPERF_FROM(unsigned)
#undef SWIZZLEPERF_FROM
#define SWIZZLEPERF_FROM(T, Longest)          \
  __attribute__((host, device)) BF16(T value) \
      : __x(__swizzleperf_bf16_bits(__swizzleperf_sticky((Longest)value))) {}
  SWIZZLEPERF_FROM(long, long long)
  SWIZZLEPERF_FROM(unsigned long, unsigned long long)
  SWIZZLEPERF_FROM(long long, long long)
  SWIZZLEPERF_FROM(unsigned long long, unsigned long long)
#undef SWIZZLEPERF_FROM
  __attribute__((host, device)) BF16(BF16_RAW raw) : __x(raw.x) {}
  __attribute__((host, device)) operator float() const {
    return __builtin_bit_cast(float, (unsigned)__x << 16);
  }
  __attribute__((host, device)) operator BF16_RAW() const { return {__x}; }
  __attribute__((host, device)) explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define SWIZZLEPERF_TO(T) \
  __attribute__((host, device)) explicit operator T() const { return (T)(float)*this; }
  SWIZZLEPERF_TO(double)
  SWIZZLEPERF_TO(short)
  SWIZZLEPERF_TO(unsigned short)
  SWIZZLEPERF_TO(int)
  SWIZZLEPERF_TO(unsigned)
  SWIZZLEPERF_TO(long)
  SWIZZLEPERF_TO(unsigned long)
  SWIZZLEPERF_TO(long long)
  SWIZZLEPERF_TO(unsigned long long)
#undef SWIZZLEPERF_TO
};

struct __attribute__((aligned(4))) BF16X2 {
  BF16 x, y;
  BF16X2() = default;
  __attribute__((host, device)) BF16X2(BF16 a, BF16 b) : x(a), y(b) {}
  __attribute__((host, device)) BF16X2(BF16X2_RAW raw) : x(BF16_RAW{raw.x}), y(BF16_RAW{raw.y}) {}
  __attribute__((host, device)) operator BF16X2_RAW() const { return {x.__x, y.__x}; }
};
SWIZZLEPERF_HD BF16 __float2bfloat16(float x) { return x; }
SWIZZLEPERF_HD BF16 __float2bfloat16_rn(float x) { return x; }
SWIZZLEPERF_HD BF16 __double2bfloat16(double x) { return x; }
SWIZZLEPERF_HD float __bfloat162float(BF16 x) { return x; }
SWIZZLEPERF_HD short __bfloat16_as_short(BF16 x) { return (short)x.__x; }
SWIZZLEPERF_HD BF16 __short_as_bfloat16(short x) { return BF16_RAW{(unsigned short)x}; }
SWIZZLEPERF_HD unsigned short __bfloat16_as_ushort(BF16 x) { return x.__x; }
SWIZZLEPERF_HD BF16 __ushort_as_bfloat16(unsigned short x) { return BF16_RAW{x}; }
SWIZZLEPERF_HD BF16X2 make_bfloat162(BF16 a, BF16 b) { return {a, b}; }
SWIZZLEPERF_HD BF16X2 __halves2bfloat162(BF16 a, BF16 b) { return {a, b}; }
SWIZZLEPERF_HD BF16X2 __bfloat162bfloat162(BF16 a) { return {a, a}; }
SWIZZLEPERF_HD BF16X2 __float2bfloat162_rn(float x) { return {x, x}; }
SWIZZLEPERF_HD BF16X2 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
SWIZZLEPERF_HD BF16X2 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
SWIZZLEPERF_HD float2 __bfloat1622float2(BF16X2 v) { return make_float2(v.x, v.y); }
SWIZZLEPERF_HD BF16 __low2bfloat16(BF16X2 v) { return v.x; }
SWIZZLEPERF_HD BF16 __high2bfloat16(BF16X2 v) { return v.y; }
SWIZZLEPERF_HD float __low2float(BF16X2 v) { return v.x; }
SWIZZLEPERF_HD float __high2float(BF16X2 v) { return v.y; }
SWIZZLEPERF_HD BF16X2 __low2bfloat162(BF16X2 v) { return {v.x, v.x}; }
SWIZZLEPERF_HD BF16X2 __high2bfloat162(BF16X2 v) { return {v.y, v.y}; }
SWIZZLEPERF_HD BF16X2 __lows2bfloat162(BF16X2 a, BF16X2 b) { return {a.x, b.x}; }
SWIZZLEPERF_HD BF16X2 __highs2bfloat162(BF16X2 a, BF16X2 b) { return {a.y, b.y}; }
SWIZZLEPERF_HD BF16X2 __lowhigh2highlow(BF16X2 v) { return {v.y, v.x}; }

#define NARROW BF16
#define NARROW2 BF16X2
#define NARROW_FROM(x) BF16((float)(x))
#define NARROW_TO(h) ((float)(h))
#define NARROW_ROUND(x) BF16((double)(x))
// The product is exact, and where the sum is not, what is lost is far below half a bfloat16's step.
#define NARROW_FMA(a, b, c) BF16((double)(float)(a) * (double)(float)(b) + (double)(float)(c))
#define NARROW_NAME bfloat16
#define NARROW_PREFIX __bfloat16
#include "narrow.h"

#undef BF16
#undef BF16X2
#undef BF16_RAW
#undef BF16X2_RAW
