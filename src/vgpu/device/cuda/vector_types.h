// The short vectors of CUDA: plain structures, aligned as loads of them want to be. No operators:
// programs bring their own.
#pragma once

#if defined(__HIP__)
#define SWIZZLEPERF_BOTH __attribute__((host)) __attribute__((device)) inline
#else
#define SWIZZLEPERF_BOTH static inline
#endif

#define SWIZZLEPERF_VECTORS(T, name, two, four)                           \
  typedef struct name##1 { T x; }                                         \
  name##1;                                                                \
  typedef struct __attribute__((aligned(two))) name##2 { T x, y; }        \
  name##2;                                                                \
  typedef struct name##3 { T x, y, z; }                                   \
  name##3;                                                                \
  typedef struct __attribute__((aligned(four))) name##4 { T x, y, z, w; } \
  name##4;                                                                \
  SWIZZLEPERF_BOTH name##1 make_##name##1(T x) {                          \
    name##1 v = {x};                                                      \
    return v;                                                             \
  }                                                                       \
  SWIZZLEPERF_BOTH name##2 make_##name##2(T x, T y) {                     \
    name##2 v = {x, y};                                                   \
    return v;                                                             \
  }                                                                       \
  SWIZZLEPERF_BOTH name##3 make_##name##3(T x, T y, T z) {                \
    name##3 v = {x, y, z};                                                \
    return v;                                                             \
  }                                                                       \
  SWIZZLEPERF_BOTH name##4 make_##name##4(T x, T y, T z, T w) {           \
    name##4 v = {x, y, z, w};                                             \
    return v;                                                             \
  }
SWIZZLEPERF_VECTORS(signed char, char, 2, 4)
SWIZZLEPERF_VECTORS(unsigned char, uchar, 2, 4)
SWIZZLEPERF_VECTORS(short, short, 4, 8)
SWIZZLEPERF_VECTORS(unsigned short, ushort, 4, 8)
SWIZZLEPERF_VECTORS(int, int, 8, 16)
SWIZZLEPERF_VECTORS(unsigned int, uint, 8, 16)
SWIZZLEPERF_VECTORS(long, long, 16, 16)
SWIZZLEPERF_VECTORS(unsigned long, ulong, 16, 16)
SWIZZLEPERF_VECTORS(long long, longlong, 16, 16)
SWIZZLEPERF_VECTORS(unsigned long long, ulonglong, 16, 16)
SWIZZLEPERF_VECTORS(float, float, 8, 16)
SWIZZLEPERF_VECTORS(double, double, 16, 16)
#undef SWIZZLEPERF_VECTORS
