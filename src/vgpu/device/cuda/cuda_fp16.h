// Half precision: two bytes, IEEE binary16, computed as swizzleperf_narrow.h says.
#pragma once

#include "cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)

#define CUDA_NO_HALF 0

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __attribute__((aligned(2))) __half {
  unsigned short __x;

  __half() = default;
#define SWIZZLEPERF_FROM(T)                     \
  __attribute__((host, device)) __half(T value) \
      : __x(value != value ? 0x7fff : __builtin_bit_cast(unsigned short, (_Float16)value)) {}
  SWIZZLEPERF_FROM(float)
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
  __attribute__((host, device)) __half(__half_raw raw) : __x(raw.x) {}
  __attribute__((host, device)) operator float() const {
    return (float)__builtin_bit_cast(_Float16, __x);
  }
  __attribute__((host, device)) operator __half_raw() const { return {__x}; }
  __attribute__((host, device)) explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define SWIZZLEPERF_TO(T) \
  __attribute__((host, device)) explicit operator T() const { return (T)(float)*this; }
  SWIZZLEPERF_TO(double)
  SWIZZLEPERF_TO(signed char)
  SWIZZLEPERF_TO(unsigned char)
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

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __attribute__((host, device)) __half2(__half a, __half b) : x(a), y(b) {}
  __attribute__((host, device)) __half2(__half2_raw raw)
      : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  __attribute__((host, device)) operator __half2_raw() const { return {x.__x, y.__x}; }
};
using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;

SWIZZLEPERF_HD __half __float2half(float x) { return __half(x); }
SWIZZLEPERF_HD __half __float2half_rn(float x) { return __half(x); }
SWIZZLEPERF_HD __half __double2half(double x) { return __half(x); }
SWIZZLEPERF_HD float __half2float(__half x) { return x; }
SWIZZLEPERF_HD unsigned short __half_as_ushort(__half x) { return x.__x; }
SWIZZLEPERF_HD short __half_as_short(__half x) { return (short)x.__x; }
SWIZZLEPERF_HD __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
SWIZZLEPERF_HD __half __short_as_half(short x) { return __half(__half_raw{(unsigned short)x}); }

SWIZZLEPERF_HD __half2 make_half2(__half a, __half b) { return {a, b}; }
SWIZZLEPERF_HD __half2 __halves2half2(__half a, __half b) { return {a, b}; }
SWIZZLEPERF_HD __half2 __half2half2(__half a) { return {a, a}; }
SWIZZLEPERF_HD __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
SWIZZLEPERF_HD __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
SWIZZLEPERF_HD __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
SWIZZLEPERF_HD float2 __half22float2(__half2 v) { return make_float2(v.x, v.y); }
SWIZZLEPERF_HD __half __low2half(__half2 v) { return v.x; }
SWIZZLEPERF_HD __half __high2half(__half2 v) { return v.y; }
SWIZZLEPERF_HD float __low2float(__half2 v) { return v.x; }
SWIZZLEPERF_HD float __high2float(__half2 v) { return v.y; }
SWIZZLEPERF_HD __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
SWIZZLEPERF_HD __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
SWIZZLEPERF_HD __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
SWIZZLEPERF_HD __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
SWIZZLEPERF_HD __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }

#define NARROW __half
#define NARROW2 __half2
#define NARROW_FROM(x) __half((float)(x))
#define NARROW_TO(h) ((float)(h))
#define NARROW_FMA(a, b, c) __half((double)(float)(a) * (double)(float)(b) + (double)(float)(c))
#define NARROW_ROUND(x) __half((double)(x))
#define NARROW_NAME half
#define NARROW_PREFIX __half
#include "../common/narrow.h"

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#endif
