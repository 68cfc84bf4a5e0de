// Integer and conversion intrinsics, and the few functions of CUDA's mathematics that clang's HIP
// headers lack. Directed rounding is there only where it is exact.
#pragma once

#include "../common/conversions.h"

// ---- Bits --------------------------------------------------------------------------------------

SWIZZLEPERF_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
SWIZZLEPERF_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SWIZZLEPERF_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SWIZZLEPERF_DEVICE int __clzll(long long x) {
  return x ? __builtin_clzll((unsigned long long)x) : 64;
}
SWIZZLEPERF_DEVICE int __ffs(int x) { return x ? __builtin_ctz((unsigned)x) + 1 : 0; }
SWIZZLEPERF_DEVICE int __ffsll(long long x) {
  return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0;
}
SWIZZLEPERF_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SWIZZLEPERF_DEVICE unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
SWIZZLEPERF_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) {
    result |= (unsigned)(bytes >> (8 * (selector >> (4 * k) & 7)) & 0xff) << (8 * k);
  }
  return result;
}
SWIZZLEPERF_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
SWIZZLEPERF_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
SWIZZLEPERF_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
SWIZZLEPERF_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
/// The position of the offset-th set bit from `base` on (upwards for a positive offset).
SWIZZLEPERF_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int i = (int)base; i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1) != 0 && --left == 0) return (unsigned)i;
  }
  return ~0u;
}

// ---- Integers ----------------------------------------------------------------------------------

SWIZZLEPERF_DEVICE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SWIZZLEPERF_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
extern "C" __attribute__((device, const)) unsigned long __ockl_mul_hi_u64(unsigned long,
                                                                          unsigned long);
extern "C" __attribute__((device, const)) long __ockl_mul_hi_i64(long, long);
SWIZZLEPERF_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return __ockl_mul_hi_u64(a, b);
}
SWIZZLEPERF_DEVICE long long __mul64hi(long long a, long long b) { return __ockl_mul_hi_i64(a, b); }
SWIZZLEPERF_DEVICE int __mul24(int a, int b) {
  return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
SWIZZLEPERF_DEVICE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffff) * (b & 0xffffff);
}
SWIZZLEPERF_DEVICE unsigned __sad(int a, int b, unsigned c) {
  return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}
SWIZZLEPERF_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a > b ? a - b : b - a) + c;
}
SWIZZLEPERF_DEVICE int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SWIZZLEPERF_DEVICE int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SWIZZLEPERF_DEVICE unsigned __uhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b) >> 1);
}
SWIZZLEPERF_DEVICE unsigned __urhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
SWIZZLEPERF_DEVICE int __dp4a(int a, int b, int c) {
  for (int k = 0; k < 4; ++k) c += (signed char)(a >> (8 * k)) * (signed char)(b >> (8 * k));
  return c;
}
SWIZZLEPERF_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int k = 0; k < 4; ++k) c += (a >> (8 * k) & 0xff) * (b >> (8 * k) & 0xff);
  return c;
}

// Two halves of one word with two bytes of the other.
SWIZZLEPERF_DEVICE int __dp2a_lo(int a, int b, int c) {
  return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
SWIZZLEPERF_DEVICE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
SWIZZLEPERF_DEVICE unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
SWIZZLEPERF_DEVICE unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return __dp2a_lo(a, b >> 16, c);
}

// What dynamic programming asks for: two operations in one, "relu" is never below 0.
#define SWIZZLEPERF_DPX(suffix, T)                      \
  SWIZZLEPERF_HD T __vimax3_##suffix(T a, T b, T c) {   \
    const T m = a > b ? a : b;                          \
    return m > c ? m : c;                               \
  }                                                     \
  SWIZZLEPERF_HD T __vimin3_##suffix(T a, T b, T c) {   \
    const T m = a < b ? a : b;                          \
    return m < c ? m : c;                               \
  }                                                     \
  SWIZZLEPERF_HD T __viaddmax_##suffix(T a, T b, T c) { \
    const T sum = (T)((unsigned)a + (unsigned)b);       \
    return sum > c ? sum : c;                           \
  }                                                     \
  SWIZZLEPERF_HD T __viaddmin_##suffix(T a, T b, T c) { \
    const T sum = (T)((unsigned)a + (unsigned)b);       \
    return sum < c ? sum : c;                           \
  }
SWIZZLEPERF_DPX(s32, int)
SWIZZLEPERF_DPX(u32, unsigned)
#undef SWIZZLEPERF_DPX
SWIZZLEPERF_HD int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
SWIZZLEPERF_HD int __vimin_s32_relu(int a, int b) {
  const int m = a < b ? a : b;
  return m > 0 ? m : 0;
}
SWIZZLEPERF_HD int __vimax3_s32_relu(int a, int b, int c) {
  return __vimax_s32_relu(__vimax3_s32(a, b, c), 0);
}
SWIZZLEPERF_HD int __vimin3_s32_relu(int a, int b, int c) {
  return __vimax_s32_relu(__vimin3_s32(a, b, c), 0);
}
SWIZZLEPERF_HD int __viaddmax_s32_relu(int a, int b, int c) {
  return __vimax_s32_relu(__viaddmax_s32(a, b, c), 0);
}
SWIZZLEPERF_HD int __viaddmin_s32_relu(int a, int b, int c) {
  return __vimax_s32_relu(__viaddmin_s32(a, b, c), 0);
}

// The commonest of the functions on packed bytes and halves of a word.
SWIZZLEPERF_DEVICE int swizzleperf_clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}
#define SWIZZLEPERF_PACKED(name, T, bits, expression)                 \
  SWIZZLEPERF_DEVICE unsigned name(unsigned a, unsigned b) {          \
    unsigned result = 0;                                              \
    for (int k = 0; k < 32; k += bits) {                              \
      const int x = (T)(a >> k), y = (T)(b >> k);                     \
      result |= ((unsigned)(expression) & ((1ull << bits) - 1)) << k; \
    }                                                                 \
    return result;                                                    \
  }
SWIZZLEPERF_DEVICE unsigned swizzleperf_sum2(unsigned a) { return (a & 0xffff) + (a >> 16); }
SWIZZLEPERF_DEVICE unsigned swizzleperf_sum4(unsigned a) { return __dp4a(a, 0x01010101u, 0u); }
#define SWIZZLEPERF_PACKED_SET(signed_type, unsigned_type, bits, n)                       \
  SWIZZLEPERF_PACKED(__vadd##n, unsigned_type, bits, x + y)                               \
  SWIZZLEPERF_PACKED(__vsub##n, unsigned_type, bits, x - y)                               \
  SWIZZLEPERF_PACKED(__vmaxs##n, signed_type, bits, x > y ? x : y)                        \
  SWIZZLEPERF_PACKED(__vmins##n, signed_type, bits, x < y ? x : y)                        \
  SWIZZLEPERF_PACKED(__vmaxu##n, unsigned_type, bits, x > y ? x : y)                      \
  SWIZZLEPERF_PACKED(__vminu##n, unsigned_type, bits, x < y ? x : y)                      \
  SWIZZLEPERF_PACKED(__vabsdiffu##n, unsigned_type, bits, x > y ? x - y : y - x)          \
  SWIZZLEPERF_PACKED(__vabsdiffs##n, signed_type, bits, x > y ? x - y : y - x)            \
  SWIZZLEPERF_PACKED(__vavgu##n, unsigned_type, bits, (x + y + 1) / 2)                    \
  SWIZZLEPERF_PACKED(__vcmpeq##n, unsigned_type, bits, x == y ? -1 : 0)                   \
  SWIZZLEPERF_PACKED(__vcmpne##n, unsigned_type, bits, x != y ? -1 : 0)                   \
  SWIZZLEPERF_PACKED(__vcmpgts##n, signed_type, bits, x > y ? -1 : 0)                     \
  SWIZZLEPERF_PACKED(__vcmpgtu##n, unsigned_type, bits, x > y ? -1 : 0)                   \
  SWIZZLEPERF_PACKED(__vcmplts##n, signed_type, bits, x < y ? -1 : 0)                     \
  SWIZZLEPERF_PACKED(__vcmpltu##n, unsigned_type, bits, x < y ? -1 : 0)                   \
  SWIZZLEPERF_PACKED(__vcmpges##n, signed_type, bits, x >= y ? -1 : 0)                    \
  SWIZZLEPERF_PACKED(__vcmpgeu##n, unsigned_type, bits, x >= y ? -1 : 0)                  \
  SWIZZLEPERF_PACKED(__vcmples##n, signed_type, bits, x <= y ? -1 : 0)                    \
  SWIZZLEPERF_PACKED(__vcmpleu##n, unsigned_type, bits, x <= y ? -1 : 0)                  \
  SWIZZLEPERF_PACKED(__vseteq##n, unsigned_type, bits, x == y)                            \
  SWIZZLEPERF_PACKED(__vsetne##n, unsigned_type, bits, x != y)                            \
  SWIZZLEPERF_PACKED(__vsetgts##n, signed_type, bits, x > y)                              \
  SWIZZLEPERF_PACKED(__vsetgtu##n, unsigned_type, bits, x > y)                            \
  SWIZZLEPERF_PACKED(__vsetlts##n, signed_type, bits, x < y)                              \
  SWIZZLEPERF_PACKED(__vsetltu##n, unsigned_type, bits, x < y)                            \
  SWIZZLEPERF_PACKED(__vaddss##n, signed_type, bits,                                      \
                     swizzleperf_clamp(x + y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)) \
  SWIZZLEPERF_PACKED(__vsubss##n, signed_type, bits,                                      \
                     swizzleperf_clamp(x - y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)) \
  SWIZZLEPERF_PACKED(__vaddus##n, unsigned_type, bits,                                    \
                     swizzleperf_clamp(x + y, 0, (1 << bits) - 1))                        \
  SWIZZLEPERF_PACKED(__vsubus##n, unsigned_type, bits,                                    \
                     swizzleperf_clamp(x - y, 0, (1 << bits) - 1))                        \
  SWIZZLEPERF_DEVICE unsigned __vneg##n(unsigned a) { return __vsub##n(0, a); }           \
  SWIZZLEPERF_DEVICE unsigned __vabs##n(unsigned a) { return __vabsdiffs##n(a, 0); }      \
  SWIZZLEPERF_DEVICE unsigned __vsadu##n(unsigned a, unsigned b) {                        \
    return swizzleperf_sum##n(__vabsdiffu##n(a, b));                                      \
  }                                                                                       \
  SWIZZLEPERF_DEVICE unsigned __vsads##n(unsigned a, unsigned b) {                        \
    return swizzleperf_sum##n(__vabsdiffs##n(a, b));                                      \
  }
SWIZZLEPERF_PACKED_SET(signed char, unsigned char, 8, 4)
SWIZZLEPERF_PACKED_SET(short, unsigned short, 16, 2)
#undef SWIZZLEPERF_PACKED_SET
#undef SWIZZLEPERF_PACKED

// ---- Bits of numbers ---------------------------------------------------------------------------

SWIZZLEPERF_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SWIZZLEPERF_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SWIZZLEPERF_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SWIZZLEPERF_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SWIZZLEPERF_DEVICE long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
SWIZZLEPERF_DEVICE double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}
SWIZZLEPERF_DEVICE int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
SWIZZLEPERF_DEVICE int __double2loint(double x) { return (int)__double_as_longlong(x); }
SWIZZLEPERF_DEVICE double __hiloint2double(int high, int low) {
  return __longlong_as_double(
      (long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// ---- Conversions -------------------------------------------------------------------------------
// From a number to an integer in each direction, saturating as the hardware does.

#define SWIZZLEPERF_TO_INTEGER(from, From, to, To)                          \
  SWIZZLEPERF_DEVICE To __##from##2##to##_rn(From x) {                      \
    return __swizzleperf_saturated<To>(__builtin_elementwise_roundeven(x)); \
  }                                                                         \
  SWIZZLEPERF_DEVICE To __##from##2##to##_rz(From x) {                      \
    return __swizzleperf_saturated<To>(__builtin_elementwise_trunc(x));     \
  }                                                                         \
  SWIZZLEPERF_DEVICE To __##from##2##to##_rd(From x) {                      \
    return __swizzleperf_saturated<To>(__builtin_elementwise_floor(x));     \
  }                                                                         \
  SWIZZLEPERF_DEVICE To __##from##2##to##_ru(From x) {                      \
    return __swizzleperf_saturated<To>(__builtin_elementwise_ceil(x));      \
  }
SWIZZLEPERF_TO_INTEGER(float, float, int, int)
SWIZZLEPERF_TO_INTEGER(float, float, uint, unsigned)
SWIZZLEPERF_TO_INTEGER(float, float, ll, long long)
SWIZZLEPERF_TO_INTEGER(float, float, ull, unsigned long long)
SWIZZLEPERF_TO_INTEGER(double, double, int, int)
SWIZZLEPERF_TO_INTEGER(double, double, uint, unsigned)
SWIZZLEPERF_TO_INTEGER(double, double, ll, long long)
SWIZZLEPERF_TO_INTEGER(double, double, ull, unsigned long long)
#undef SWIZZLEPERF_TO_INTEGER

SWIZZLEPERF_DEVICE float __double2float_rn(double x) { return (float)x; }
/// The nearest float moved by one step if `x` lies on the other side (to = -1 down, 1 up, 0
/// towards zero).
SWIZZLEPERF_DEVICE float __swizzleperf_directed(double x, int to) {
  const float f = (float)x;
  const bool up = x > (double)f;
  if (x != x || (double)f == x || up != (to > 0 || (to == 0 && x < 0))) return f;
  if (f == 0) return __int_as_float(up ? 1 : (int)0x80000001u);
  return __int_as_float(__float_as_int(f) + ((f > 0) == up ? 1 : -1));
}
SWIZZLEPERF_DEVICE float __double2float_rz(double x) { return __swizzleperf_directed(x, 0); }
SWIZZLEPERF_DEVICE float __double2float_rd(double x) { return __swizzleperf_directed(x, -1); }
SWIZZLEPERF_DEVICE float __double2float_ru(double x) { return __swizzleperf_directed(x, 1); }
SWIZZLEPERF_DEVICE float __int2float_rn(int x) { return (float)x; }
SWIZZLEPERF_DEVICE float __uint2float_rn(unsigned x) { return (float)x; }
SWIZZLEPERF_DEVICE float __ll2float_rn(long long x) { return (float)x; }
SWIZZLEPERF_DEVICE float __ull2float_rn(unsigned long long x) { return (float)x; }
#define SWIZZLEPERF_INTEGER_TO(from, From)                      \
  SWIZZLEPERF_DEVICE float __##from##2float_rz(From x) {        \
    return __swizzleperf_directed(__swizzleperf_sticky(x), 0);  \
  }                                                             \
  SWIZZLEPERF_DEVICE float __##from##2float_rd(From x) {        \
    return __swizzleperf_directed(__swizzleperf_sticky(x), -1); \
  }                                                             \
  SWIZZLEPERF_DEVICE float __##from##2float_ru(From x) {        \
    return __swizzleperf_directed(__swizzleperf_sticky(x), 1);  \
  }
SWIZZLEPERF_INTEGER_TO(int, long long)
SWIZZLEPERF_INTEGER_TO(uint, unsigned long long)
SWIZZLEPERF_INTEGER_TO(ll, long long)
SWIZZLEPERF_INTEGER_TO(ull, unsigned long long)
#undef SWIZZLEPERF_INTEGER_TO
// To a double in two halves, of which only the sum is rounded.
#define SWIZZLEPERF_INTEGER_TO_DOUBLE(from, From, High)                      \
  SWIZZLEPERF_DEVICE double __##from##2double_rz(From x) {                   \
    return __dadd_rz((double)(High)(x >> 32) * 0x1p32, (double)(unsigned)x); \
  }                                                                          \
  SWIZZLEPERF_DEVICE double __##from##2double_rd(From x) {                   \
    return __dadd_rd((double)(High)(x >> 32) * 0x1p32, (double)(unsigned)x); \
  }                                                                          \
  SWIZZLEPERF_DEVICE double __##from##2double_ru(From x) {                   \
    return __dadd_ru((double)(High)(x >> 32) * 0x1p32, (double)(unsigned)x); \
  }
SWIZZLEPERF_INTEGER_TO_DOUBLE(ll, long long, int)
SWIZZLEPERF_INTEGER_TO_DOUBLE(ull, unsigned long long, unsigned)
#undef SWIZZLEPERF_INTEGER_TO_DOUBLE
SWIZZLEPERF_DEVICE double __int2double_rn(int x) { return (double)x; }
SWIZZLEPERF_DEVICE double __uint2double_rn(unsigned x) { return (double)x; }
SWIZZLEPERF_DEVICE double __ll2double_rn(long long x) { return (double)x; }
SWIZZLEPERF_DEVICE double __ull2double_rn(unsigned long long x) { return (double)x; }

// ---- Least and greatest of mixed types
// -----------------------------------------------------------

#define SWIZZLEPERF_MIXED(A, B, R)                                         \
  SWIZZLEPERF_DEVICE R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  SWIZZLEPERF_DEVICE R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
SWIZZLEPERF_MIXED(int, unsigned, unsigned)
SWIZZLEPERF_MIXED(unsigned, int, unsigned)
SWIZZLEPERF_MIXED(int, long, long)
SWIZZLEPERF_MIXED(long, int, long)
SWIZZLEPERF_MIXED(int, unsigned long, unsigned long)
SWIZZLEPERF_MIXED(unsigned long, int, unsigned long)
SWIZZLEPERF_MIXED(unsigned, unsigned long, unsigned long)
SWIZZLEPERF_MIXED(unsigned long, unsigned, unsigned long)
SWIZZLEPERF_MIXED(long, unsigned long, unsigned long)
SWIZZLEPERF_MIXED(unsigned long, long, unsigned long)
SWIZZLEPERF_MIXED(long long, unsigned long long, unsigned long long)
SWIZZLEPERF_MIXED(unsigned long long, long long, unsigned long long)
SWIZZLEPERF_MIXED(int, long long, long long)
SWIZZLEPERF_MIXED(long long, int, long long)
SWIZZLEPERF_MIXED(unsigned, unsigned long long, unsigned long long)
SWIZZLEPERF_MIXED(unsigned long long, unsigned, unsigned long long)
#undef SWIZZLEPERF_MIXED

SWIZZLEPERF_HD unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
SWIZZLEPERF_HD unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
SWIZZLEPERF_HD long long llmin(long long a, long long b) { return a < b ? a : b; }
SWIZZLEPERF_HD long long llmax(long long a, long long b) { return a > b ? a : b; }
SWIZZLEPERF_HD unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
SWIZZLEPERF_HD unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}

// ---- On the host too, as CUDA's headers have them ----------------------------------------------

static inline __attribute__((host)) float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
static inline __attribute__((host)) double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
static inline __attribute__((host)) float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
static inline __attribute__((host)) double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
static inline __attribute__((host)) float sinpif(float x) {
  return (float)__builtin_sin(3.14159265358979323846 * (double)x);
}
static inline __attribute__((host)) float cospif(float x) {
  return (float)__builtin_cos(3.14159265358979323846 * (double)x);
}
static inline __attribute__((host)) float normcdff(float x) {
  return (float)(0.5 * __builtin_erfc(-0.70710678118654752440 * (double)x));
}
static inline __attribute__((host)) double normcdf(double x) {
  return 0.5 * __builtin_erfc(-0.70710678118654752440 * x);
}
