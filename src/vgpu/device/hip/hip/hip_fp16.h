// HIP 5.2's half precision and what later versions add: least and greatest, masks of comparisons,
// shuffles.
#pragma once
#pragma clang system_header

#include_next <hip/hip_fp16.h>

#if defined(__HIP__) && defined(__cplusplus)
#include <hip/hip_runtime.h>

#include "../../common/conversions.h"

#define SWIZZLEPERF_HALVES(name, expression)                     \
  SWIZZLEPERF_DEVICE __half name(__half a, __half b) {           \
    const float x = __half2float(a), y = __half2float(b);        \
    return __float2half(expression);                             \
  }                                                              \
  SWIZZLEPERF_DEVICE __half2 name##2(__half2 a, __half2 b) {     \
    return __halves2half2(name(__low2half(a), __low2half(b)),    \
                          name(__high2half(a), __high2half(b))); \
  }
SWIZZLEPERF_HALVES(__hmax, __swizzleperf_greater(x, y))
SWIZZLEPERF_HALVES(__hmin, __swizzleperf_lesser(x, y))
#undef SWIZZLEPERF_HALVES
SWIZZLEPERF_DEVICE __half __hmax_nan(__half a, __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b);
}
SWIZZLEPERF_DEVICE __half __hmin_nan(__half a, __half b) {
  return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b);
}

#define SWIZZLEPERF_MASK(name, op)                                       \
  SWIZZLEPERF_DEVICE unsigned __h##name##2_mask(__half2 a, __half2 b) {  \
    return (__low2float(a) op __low2float(b) ? 0xffffu : 0u) |           \
           (__high2float(a) op __high2float(b) ? 0xffff0000u : 0u);      \
  }                                                                      \
  SWIZZLEPERF_DEVICE unsigned __h##name##u2_mask(__half2 a, __half2 b) { \
    const float x = __low2float(a), y = __high2float(a);                 \
    const float z = __low2float(b), w = __high2float(b);                 \
    return (x != x || z != z || x op z ? 0xffffu : 0u) |                 \
           (y != y || w != w || y op w ? 0xffff0000u : 0u);              \
  }
SWIZZLEPERF_MASK(eq, ==)
SWIZZLEPERF_MASK(lt, <)
SWIZZLEPERF_MASK(le, <=)
SWIZZLEPERF_MASK(gt, >)
SWIZZLEPERF_MASK(ge, >=)
#undef SWIZZLEPERF_MASK
/// With a NaN not even this is so.
SWIZZLEPERF_DEVICE unsigned __hne2_mask(__half2 a, __half2 b) { return ~__hequ2_mask(a, b); }
SWIZZLEPERF_DEVICE unsigned __hneu2_mask(__half2 a, __half2 b) { return ~__heq2_mask(a, b); }

#define SWIZZLEPERF_PLAIN_SHUFFLES(T)                                                    \
  SWIZZLEPERF_SYNC_SHUFFLES(T)                                                           \
  SWIZZLEPERF_DEVICE T __shfl(T v, int source, int width = SWIZZLEPERF_LANES) {          \
    return __shfl_sync(~0ull, v, source, width);                                         \
  }                                                                                      \
  SWIZZLEPERF_DEVICE T __shfl_up(T v, unsigned delta, int width = SWIZZLEPERF_LANES) {   \
    return __shfl_up_sync(~0ull, v, delta, width);                                       \
  }                                                                                      \
  SWIZZLEPERF_DEVICE T __shfl_down(T v, unsigned delta, int width = SWIZZLEPERF_LANES) { \
    return __shfl_down_sync(~0ull, v, delta, width);                                     \
  }                                                                                      \
  SWIZZLEPERF_DEVICE T __shfl_xor(T v, int lanes, int width = SWIZZLEPERF_LANES) {       \
    return __shfl_xor_sync(~0ull, v, lanes, width);                                      \
  }
SWIZZLEPERF_PLAIN_SHUFFLES(__half)
SWIZZLEPERF_PLAIN_SHUFFLES(__half2)
#undef SWIZZLEPERF_PLAIN_SHUFFLES
#endif
