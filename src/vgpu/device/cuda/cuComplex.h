// Complex numbers as pairs.
#pragma once

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define SWIZZLEPERF_COMPLEX(C, T, f, root)                                          \
  SWIZZLEPERF_BOTH C make_##C(T re, T im) {                                         \
    C z = {re, im};                                                                 \
    return z;                                                                       \
  }                                                                                 \
  SWIZZLEPERF_BOTH T cuCreal##f(C z) { return z.x; }                                \
  SWIZZLEPERF_BOTH T cuCimag##f(C z) { return z.y; }                                \
  SWIZZLEPERF_BOTH C cuConj##f(C z) { return make_##C(z.x, -z.y); }                 \
  SWIZZLEPERF_BOTH C cuCadd##f(C a, C b) { return make_##C(a.x + b.x, a.y + b.y); } \
  SWIZZLEPERF_BOTH C cuCsub##f(C a, C b) { return make_##C(a.x - b.x, a.y - b.y); } \
  SWIZZLEPERF_BOTH C cuCmul##f(C a, C b) {                                          \
    return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                  \
  }                                                                                 \
  SWIZZLEPERF_BOTH C cuCdiv##f(C a, C b) {                                          \
    const T n = b.x * b.x + b.y * b.y;                                              \
    return make_##C((a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n);      \
  }                                                                                 \
  SWIZZLEPERF_BOTH T cuCabs##f(C z) { return root(z.x * z.x + z.y * z.y); }         \
  SWIZZLEPERF_BOTH C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
SWIZZLEPERF_COMPLEX(cuFloatComplex, float, f, __builtin_sqrtf)
SWIZZLEPERF_COMPLEX(cuDoubleComplex, double, , __builtin_sqrt)
#undef SWIZZLEPERF_COMPLEX
#define make_cuComplex make_cuFloatComplex
