// bfloat16: the upper half of a float, rounded to nearest even; computed as swizzleperf_narrow.h
// says.
#pragma once

#include "cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)

struct __nv_bfloat16_raw {
  unsigned short x;
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

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  __attribute__((host, device)) __nv_bfloat16(float value) : __x(__swizzleperf_bf16_bits(value)) {}
#define SWIZZLEPERF_FROM(T)                            \
  __attribute__((host, device)) __nv_bfloat16(T value) \
      : __x(__swizzleperf_bf16_bits((double)value)) {}
  SWIZZLEPERF_FROM(double)
  SWIZZLEPERF_FROM(short)
  SWIZZLEPERF_FROM(unsigned short)
  SWIZZLEPERF_FROM(int)
  SWIZZLEPERF_FROM(unsigned)
  SWIZZLEPERF_FROM(long)
  SWIZZLEPERF_FROM(unsigned long)
  SWIZZLEPERF_FROM(long long)
  SWIZZLEPERF_FROM(unsigned long long)
#undef SWIZZLEPERF_FROM
  __attribute__((host, device)) __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
  __attribute__((host, device)) operator float() const {
    return __builtin_bit_cast(float, (unsigned)__x << 16);
  }
  __attribute__((host, device)) operator __nv_bfloat16_raw() const { return {__x}; }
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

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __attribute__((host, device)) __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SWIZZLEPERF_HD __nv_bfloat16 __float2bfloat16(float x) { return x; }
SWIZZLEPERF_HD __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
SWIZZLEPERF_HD __nv_bfloat16 __double2bfloat16(double x) { return x; }
SWIZZLEPERF_HD __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
SWIZZLEPERF_HD float __bfloat162float(__nv_bfloat16 x) { return x; }
SWIZZLEPERF_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
SWIZZLEPERF_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
SWIZZLEPERF_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
SWIZZLEPERF_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return {a, b};
}
SWIZZLEPERF_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
SWIZZLEPERF_HD __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
SWIZZLEPERF_HD __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
SWIZZLEPERF_HD __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
SWIZZLEPERF_HD float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2(v.x, v.y); }
SWIZZLEPERF_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
SWIZZLEPERF_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
SWIZZLEPERF_HD float __low2float(__nv_bfloat162 v) { return v.x; }
SWIZZLEPERF_HD float __high2float(__nv_bfloat162 v) { return v.y; }

#define NARROW __nv_bfloat16
#define NARROW2 __nv_bfloat162
#define NARROW_FROM(x) __nv_bfloat16((float)(x))
#define NARROW_TO(h) ((float)(h))
#define NARROW_FMA(a, b, c) \
  __nv_bfloat16((double)(float)(a) * (double)(float)(b) + (double)(float)(c))
#include "swizzleperf_narrow.h"

#endif
