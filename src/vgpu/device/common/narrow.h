// What half and bfloat16 share. Included once for each (no guard) with
//   NARROW, NARROW2          the type and the pair of it
//   NARROW_FROM(float), NARROW_TO(NARROW)   conversions, one rounding
//   NARROW_ROUND(double)     one rounding
//   NARROW_FMA(a, b, c)      on NARROW, one rounding
//   NARROW_NAME, NARROW_PREFIX   in the names of conversions: half, __half
// Everything is computed in single precision and rounded once, which for + - * / and sqrt of these
// widths is the correctly rounded result.

#define NARROW_HD static inline __attribute__((host, device, unused))

NARROW_HD NARROW2 __halves2_of(NARROW a, NARROW b) {
  NARROW2 r;
  r.x = a;
  r.y = b;
  return r;
}

#define NARROW_UNARY(name, name2, expression) \
  NARROW_HD NARROW name(NARROW a) {           \
    const float x = NARROW_TO(a);             \
    return NARROW_FROM(expression);           \
  }                                           \
  NARROW_HD NARROW2 name2(NARROW2 a) { return __halves2_of(name(a.x), name(a.y)); }
#define NARROW_BINARY(name, name2, expression)           \
  NARROW_HD NARROW name(NARROW a, NARROW b) {            \
    const float x = NARROW_TO(a), y = NARROW_TO(b);      \
    return NARROW_FROM(expression);                      \
  }                                                      \
  NARROW_HD NARROW2 name2(NARROW2 a, NARROW2 b) {        \
    return __halves2_of(name(a.x, b.x), name(a.y, b.y)); \
  }
NARROW_BINARY(__hadd, __hadd2, x + y)
NARROW_BINARY(__hsub, __hsub2, x - y)
NARROW_BINARY(__hmul, __hmul2, x* y)
NARROW_BINARY(__hdiv, __h2div, x / y)
NARROW_BINARY(__hadd_rn, __hadd2_rn, x + y)
NARROW_BINARY(__hsub_rn, __hsub2_rn, x - y)
NARROW_BINARY(__hmul_rn, __hmul2_rn, x* y)
NARROW_BINARY(__hadd_sat, __hadd2_sat, __swizzleperf_saturated_unit(x + y))
NARROW_BINARY(__hsub_sat, __hsub2_sat, __swizzleperf_saturated_unit(x - y))
NARROW_BINARY(__hmul_sat, __hmul2_sat, __swizzleperf_saturated_unit(x* y))
NARROW_BINARY(__hmax, __hmax2, __swizzleperf_greater(x, y))
NARROW_BINARY(__hmin, __hmin2, __swizzleperf_lesser(x, y))
NARROW_BINARY(__hmax_nan, __hmax2_nan, x != x || y != y ? x + y : __swizzleperf_greater(x, y))
NARROW_BINARY(__hmin_nan, __hmin2_nan, x != x || y != y ? x + y : __swizzleperf_lesser(x, y))
NARROW_UNARY(__hneg, __hneg2, -x)
NARROW_UNARY(__habs, __habs2, __builtin_fabsf(x))

#define NARROW_MATH(name, name2, expression)                               \
  static inline __attribute__((device, unused)) NARROW name(NARROW a) {    \
    const float x = NARROW_TO(a);                                          \
    return NARROW_FROM(expression);                                        \
  }                                                                        \
  static inline __attribute__((device, unused)) NARROW2 name2(NARROW2 a) { \
    return __halves2_of(name(a.x), name(a.y));                             \
  }
NARROW_MATH(hsqrt, h2sqrt, ::sqrtf(x))
NARROW_MATH(hrsqrt, h2rsqrt, ::rsqrtf(x))
NARROW_MATH(hrcp, h2rcp, 1.0f / x)
NARROW_MATH(hexp, h2exp, ::expf(x))
NARROW_MATH(hexp2, h2exp2, ::exp2f(x))
NARROW_MATH(hexp10, h2exp10, ::exp10f(x))
NARROW_MATH(hlog, h2log, ::logf(x))
NARROW_MATH(hlog2, h2log2, ::log2f(x))
NARROW_MATH(hlog10, h2log10, ::log10f(x))
NARROW_MATH(hsin, h2sin, ::sinf(x))
NARROW_MATH(hcos, h2cos, ::cosf(x))
NARROW_MATH(htanh, h2tanh, ::tanhf(x))
NARROW_MATH(hceil, h2ceil, ::ceilf(x))
NARROW_MATH(hfloor, h2floor, ::floorf(x))
NARROW_MATH(htrunc, h2trunc, ::truncf(x))
NARROW_MATH(hrint, h2rint, ::rintf(x))

NARROW_HD NARROW __hfma(NARROW a, NARROW b, NARROW c) { return NARROW_FMA(a, b, c); }
NARROW_HD NARROW2 __hfma2(NARROW2 a, NARROW2 b, NARROW2 c) {
  return __halves2_of(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
NARROW_HD NARROW __hfma_relu(NARROW a, NARROW b, NARROW c) {
  const NARROW r = NARROW_FMA(a, b, c);
  return NARROW_TO(r) > 0.0f ? r : NARROW_FROM(0.0f);
}
NARROW_HD NARROW __hfma_sat(NARROW a, NARROW b, NARROW c) {
  return NARROW_FROM(__swizzleperf_saturated_unit(NARROW_TO(NARROW_FMA(a, b, c))));
}

NARROW_HD NARROW2 __hfma2_relu(NARROW2 a, NARROW2 b, NARROW2 c) {
  return __halves2_of(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
NARROW_HD NARROW2 __hfma2_sat(NARROW2 a, NARROW2 b, NARROW2 c) {
  return __halves2_of(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
/// Of complex numbers: a b + c.
NARROW_HD NARROW2 __hcmadd(NARROW2 a, NARROW2 b, NARROW2 c) {
  const NARROW x = __hfma(a.x, b.x, c.x), y = __hfma(a.x, b.y, c.y);
  return __halves2_of(__hfma(__hneg(a.y), b.y, x), __hfma(a.y, b.x, y));
}

// Comparisons: ordered (false with a NaN) and unordered (true with one); of pairs as numbers, as
// one answer and as masks.
#define NARROW_COMPARE_AS(name)                                                             \
  NARROW_HD NARROW2 __h##name##2(NARROW2 a, NARROW2 b) {                                    \
    return __halves2_of(NARROW_FROM(__h##name(a.x, b.x) ? 1.0f : 0.0f),                     \
                        NARROW_FROM(__h##name(a.y, b.y) ? 1.0f : 0.0f));                    \
  }                                                                                         \
  NARROW_HD bool __hb##name##2(NARROW2 a, NARROW2 b) {                                      \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                      \
  }                                                                                         \
  NARROW_HD unsigned __h##name##2_mask(NARROW2 a, NARROW2 b) {                              \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u); \
  }
#define NARROW_COMPARE(name, op)                    \
  NARROW_HD bool __h##name(NARROW a, NARROW b) {    \
    const float x = NARROW_TO(a), y = NARROW_TO(b); \
    return x == x && y == y && x op y;              \
  }                                                 \
  NARROW_HD bool __h##name##u(NARROW a, NARROW b) { \
    const float x = NARROW_TO(a), y = NARROW_TO(b); \
    return x != x || y != y || x op y;              \
  }                                                 \
  NARROW_COMPARE_AS(name)                           \
  NARROW_COMPARE_AS(name##u)
NARROW_COMPARE(eq, ==)
NARROW_COMPARE(ne, !=)
NARROW_COMPARE(lt, <)
NARROW_COMPARE(le, <=)
NARROW_COMPARE(gt, >)
NARROW_COMPARE(ge, >=)
NARROW_HD bool __hisnan(NARROW a) { return NARROW_TO(a) != NARROW_TO(a); }
NARROW_HD NARROW2 __hisnan2(NARROW2 a) {
  return __halves2_of(NARROW_FROM(__hisnan(a.x) ? 1.0f : 0.0f),
                      NARROW_FROM(__hisnan(a.y) ? 1.0f : 0.0f));
}
NARROW_HD int __hisinf(NARROW a) {
  const float x = NARROW_TO(a);
  return x == __builtin_inff() ? 1 : x == -__builtin_inff() ? -1 : 0;
}

// ---- Directed conversions ----------------------------------------------------------------------

/// The neighbour of `nearest`, or itself, that `exact` is rounded to: downwards (-1), upwards (1),
/// towards zero (0).
NARROW_HD NARROW __swizzleperf_directed(NARROW nearest, double exact, int to) {
  const double value = (double)NARROW_TO(nearest);
  if (exact != exact || value == exact) return nearest;
  const bool up = exact > value;
  if (up != (to > 0 || (to == 0 && exact < 0))) return nearest;
  unsigned short bits;
  __builtin_memcpy(&bits, &nearest, 2);
  if ((bits & 0x7fff) == 0) {
    bits = up ? 0x0001 : 0x8001;
  } else {
    bits = (unsigned short)(((bits & 0x8000) == 0) == up ? bits + 1 : bits - 1);
  }
  __builtin_memcpy(&nearest, &bits, 2);
  return nearest;
}

#define NARROW_TOWARDS(from, From, to, exact)                      \
  NARROW_HD NARROW from##2##to##_rz(From v) {                      \
    return __swizzleperf_directed(NARROW_ROUND(exact), exact, 0);  \
  }                                                                \
  NARROW_HD NARROW from##2##to##_rd(From v) {                      \
    return __swizzleperf_directed(NARROW_ROUND(exact), exact, -1); \
  }                                                                \
  NARROW_HD NARROW from##2##to##_ru(From v) {                      \
    return __swizzleperf_directed(NARROW_ROUND(exact), exact, 1);  \
  }
#define NARROW_NEAREST(from, From, to, exact) \
  NARROW_HD NARROW from##2##to##_rn(From v) { return NARROW_ROUND(exact); }
#define NARROW_FROM_INTEGER(from, From, to, exact) \
  NARROW_NEAREST(from, From, to, exact)            \
  NARROW_TOWARDS(from, From, to, exact)
#define NARROW_INTEGERS(to)                                         \
  NARROW_TOWARDS(__float, float, to, (double)v)                     \
  NARROW_FROM_INTEGER(__short, short, to, (double)v)                \
  NARROW_FROM_INTEGER(__ushort, unsigned short, to, (double)v)      \
  NARROW_FROM_INTEGER(__int, int, to, (double)v)                    \
  NARROW_FROM_INTEGER(__uint, unsigned, to, (double)v)              \
  NARROW_FROM_INTEGER(__ll, long long, to, __swizzleperf_sticky(v)) \
  NARROW_FROM_INTEGER(__ull, unsigned long long, to, __swizzleperf_sticky(v))
NARROW_INTEGERS(NARROW_NAME)

// To integers, saturated; of a NaN 0, or the least 64-bit number.
#define NARROW_ROUNDED(from, to, To, suffix, rounding)                      \
  NARROW_HD To from##2##to##_##suffix(NARROW a) {                           \
    return __swizzleperf_saturated<To>(__builtin_##rounding(NARROW_TO(a))); \
  }
#define NARROW_TO_INTEGER(from, to, To)    \
  NARROW_ROUNDED(from, to, To, rn, rintf)  \
  NARROW_ROUNDED(from, to, To, rz, truncf) \
  NARROW_ROUNDED(from, to, To, rd, floorf) \
  NARROW_ROUNDED(from, to, To, ru, ceilf)
#define NARROW_TO_INTEGERS(from)                         \
  NARROW_ROUNDED(from, char, signed char, rz, truncf)    \
  NARROW_ROUNDED(from, uchar, unsigned char, rz, truncf) \
  NARROW_TO_INTEGER(from, short, short)                  \
  NARROW_TO_INTEGER(from, ushort, unsigned short)        \
  NARROW_TO_INTEGER(from, int, int)                      \
  NARROW_TO_INTEGER(from, uint, unsigned)                \
  NARROW_TO_INTEGER(from, ll, long long)                 \
  NARROW_TO_INTEGER(from, ull, unsigned long long)
NARROW_TO_INTEGERS(NARROW_PREFIX)

#define NARROW_OPERATOR(op, function, function2)                                                 \
  NARROW_HD NARROW operator op(const NARROW& a, const NARROW& b) { return function(a, b); }      \
  NARROW_HD NARROW& operator op## = (NARROW & a, const NARROW& b) { return a = function(a, b); } \
  NARROW_HD NARROW2 operator op(const NARROW2& a, const NARROW2& b) { return function2(a, b); }  \
  NARROW_HD NARROW2& operator op## = (NARROW2 & a, const NARROW2& b) { return a = function2(a, b); }
NARROW_OPERATOR(+, __hadd, __hadd2)
NARROW_OPERATOR(-, __hsub, __hsub2)
NARROW_OPERATOR(*, __hmul, __hmul2)
NARROW_OPERATOR(/, __hdiv, __h2div)
NARROW_HD NARROW operator+(const NARROW& a) { return a; }
NARROW_HD NARROW operator-(const NARROW& a) { return __hneg(a); }
NARROW_HD NARROW2 operator-(const NARROW2& a) { return __hneg2(a); }
NARROW_HD NARROW& operator++(NARROW& a) { return a = __hadd(a, NARROW_FROM(1.0f)); }
NARROW_HD NARROW& operator--(NARROW& a) { return a = __hsub(a, NARROW_FROM(1.0f)); }
#define NARROW_RELATION(op)                                      \
  NARROW_HD bool operator op(const NARROW& a, const NARROW& b) { \
    return NARROW_TO(a) op NARROW_TO(b);                         \
  }
NARROW_RELATION(==)
NARROW_RELATION(!=)
NARROW_RELATION(<)
NARROW_RELATION(<=)
NARROW_RELATION(>)
NARROW_RELATION(>=)

#if defined(SWIZZLEPERF_SHUFFLES)
SWIZZLEPERF_SHUFFLES(NARROW)
SWIZZLEPERF_SHUFFLES(NARROW2)

/// Of two neighbouring values at once: their word is exchanged until nobody came between.
SWIZZLEPERF_DEVICE NARROW2 atomicAdd(NARROW2* p, NARROW2 value) {
  const unsigned old = __swizzleperf_update((unsigned*)p, [=](unsigned word) {
    return __builtin_bit_cast(unsigned, __hadd2(__builtin_bit_cast(NARROW2, word), value));
  });
  return __builtin_bit_cast(NARROW2, old);
}
SWIZZLEPERF_DEVICE NARROW atomicAdd(NARROW* p, NARROW value) {
  const bool high = ((unsigned long)p & 2) != 0;
  unsigned* const word = (unsigned*)((unsigned long)p & ~3ul);
  const unsigned old = __swizzleperf_update(word, [=](unsigned w) {
    NARROW2 pair = __builtin_bit_cast(NARROW2, w);
    (high ? pair.y : pair.x) = __hadd(high ? pair.y : pair.x, value);
    return __builtin_bit_cast(unsigned, pair);
  });
  const NARROW2 pair = __builtin_bit_cast(NARROW2, old);
  return high ? pair.y : pair.x;
}
#endif

#undef NARROW_HD
#undef NARROW_UNARY
#undef NARROW_BINARY
#undef NARROW_MATH
#undef NARROW_COMPARE
#undef NARROW_COMPARE_AS
#undef NARROW_TOWARDS
#undef NARROW_NEAREST
#undef NARROW_FROM_INTEGER
#undef NARROW_INTEGERS
#undef NARROW_ROUNDED
#undef NARROW_TO_INTEGER
#undef NARROW_TO_INTEGERS
#undef NARROW_OPERATOR
#undef NARROW_RELATION
#undef NARROW
#undef NARROW2
#undef NARROW_FROM
#undef NARROW_TO
#undef NARROW_FMA
#undef NARROW_ROUND
#undef NARROW_NAME
#undef NARROW_PREFIX
