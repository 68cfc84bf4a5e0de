// What both dialects' small types are made of: conversions, and updates of memory.
#pragma once

#if !defined(SWIZZLEPERF_HD)
#define SWIZZLEPERF_HD static inline __attribute__((host, device, unused))
#endif
#if !defined(SWIZZLEPERF_DEVICE)
#define SWIZZLEPERF_DEVICE static inline __attribute__((device, always_inline, unused))
#endif

/// To an integer, saturated; of a NaN 0, or with 64 bits on either side the bit that stands for it.
template <class To, class From>
SWIZZLEPERF_HD To __swizzleperf_saturated(From x) {
  constexpr bool kSigned = To(-1) < To(0);
  constexpr int kDigits = 8 * (int)sizeof(To) - (kSigned ? 1 : 0);
  constexpr To kMost = (To)(~0ull >> (64 - kDigits));
  constexpr To kLeast = kSigned ? (To)(-kMost - 1) : (To)0;
  const From limit = (From)2 * (From)(1ull << (kDigits - 1));
  if (x != x) return sizeof(From) == 8 || sizeof(To) == 8 ? (To)(1ull << (8 * sizeof(To) - 1)) : 0;
  if (x >= limit) return kMost;
  if (x <= (kSigned ? -limit : (From)0)) return kLeast;
  return (To)x;
}

/// A double on the same side of every narrower number as the integer: the last of its 53 bits
/// stands for all that are lost.
SWIZZLEPERF_HD double __swizzleperf_sticky(unsigned long long x) {
  if (x >> 53 != 0) x = (x & ~0x7ffull) | ((x & 0x7ff) != 0 ? 0x800 : 0);
  return (double)x;
}
SWIZZLEPERF_HD double __swizzleperf_sticky(long long x) {
  return x < 0 ? -__swizzleperf_sticky(0ull - (unsigned long long)x)
               : __swizzleperf_sticky((unsigned long long)x);
}

/// The number if one is a NaN; of zeros +0 is the greater.
SWIZZLEPERF_HD float __swizzleperf_greater(float x, float y) {
  if (x != x) return y;
  return y != y || x > y || (x == y && !__builtin_signbit(x)) ? x : y;
}
SWIZZLEPERF_HD float __swizzleperf_lesser(float x, float y) {
  if (x != x) return y;
  return y != y || x < y || (x == y && __builtin_signbit(x)) ? x : y;
}
/// Within 0 and 1; of a NaN +0.
SWIZZLEPERF_HD float __swizzleperf_saturated_unit(float x) {
  return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
}

/// Functions of a value and the memory that no instruction has: a loop of compare-and-swap.
template <class T, class F>
SWIZZLEPERF_DEVICE T __swizzleperf_update(T* p, F next) {
  T old = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    T seen = old;
    if (__hip_atomic_compare_exchange_strong(p, &seen, next(old), __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
      return old;
    }
    old = seen;
  }
}
