// Atomic functions: each at three scopes (device, _block, _system), on clang's scoped atomics.
#pragma once

#include "../common/conversions.h"

#define SWIZZLEPERF_ATOMIC_AT(suffix, scope, T, name, operation)              \
  SWIZZLEPERF_DEVICE T atomic##name##suffix(T* p, T value) {                  \
    return __hip_atomic_fetch_##operation(p, value, __ATOMIC_RELAXED, scope); \
  }
#define SWIZZLEPERF_ATOMIC(T, name, operation)                                    \
  SWIZZLEPERF_ATOMIC_AT(, __HIP_MEMORY_SCOPE_AGENT, T, name, operation)           \
  SWIZZLEPERF_ATOMIC_AT(_block, __HIP_MEMORY_SCOPE_WORKGROUP, T, name, operation) \
  SWIZZLEPERF_ATOMIC_AT(_system, __HIP_MEMORY_SCOPE_SYSTEM, T, name, operation)
#define SWIZZLEPERF_INTEGER_ATOMICS(T) \
  SWIZZLEPERF_ATOMIC(T, Add, add)      \
  SWIZZLEPERF_ATOMIC(T, Min, min)      \
  SWIZZLEPERF_ATOMIC(T, Max, max)      \
  SWIZZLEPERF_ATOMIC(T, And, and)      \
  SWIZZLEPERF_ATOMIC(T, Or, or)        \
  SWIZZLEPERF_ATOMIC(T, Xor, xor)      \
  SWIZZLEPERF_EXCHANGES(T)
#define SWIZZLEPERF_EXCHANGE_AT(suffix, scope, T)                    \
  SWIZZLEPERF_DEVICE T atomicExch##suffix(T* p, T value) {           \
    return __hip_atomic_exchange(p, value, __ATOMIC_RELAXED, scope); \
  }
#define SWIZZLEPERF_CAS_AT(suffix, scope, T)                                                     \
  SWIZZLEPERF_DEVICE T atomicCAS##suffix(T* p, T compare, T value) {                             \
    __hip_atomic_compare_exchange_strong(p, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
                                         scope);                                                 \
    return compare;                                                                              \
  }
#define SWIZZLEPERF_EXCHANGES(T)                                   \
  SWIZZLEPERF_EXCHANGE_AT(, __HIP_MEMORY_SCOPE_AGENT, T)           \
  SWIZZLEPERF_EXCHANGE_AT(_block, __HIP_MEMORY_SCOPE_WORKGROUP, T) \
  SWIZZLEPERF_EXCHANGE_AT(_system, __HIP_MEMORY_SCOPE_SYSTEM, T)   \
  SWIZZLEPERF_CAS_AT(, __HIP_MEMORY_SCOPE_AGENT, T)                \
  SWIZZLEPERF_CAS_AT(_block, __HIP_MEMORY_SCOPE_WORKGROUP, T)      \
  SWIZZLEPERF_CAS_AT(_system, __HIP_MEMORY_SCOPE_SYSTEM, T)

SWIZZLEPERF_INTEGER_ATOMICS(int)
SWIZZLEPERF_INTEGER_ATOMICS(unsigned)
SWIZZLEPERF_INTEGER_ATOMICS(unsigned long)
SWIZZLEPERF_INTEGER_ATOMICS(unsigned long long)
SWIZZLEPERF_ATOMIC(long long, Min, min)
SWIZZLEPERF_ATOMIC(long long, Max, max)
SWIZZLEPERF_ATOMIC(long long, And, and)
SWIZZLEPERF_ATOMIC(long long, Or, or)
SWIZZLEPERF_ATOMIC(long long, Xor, xor)
SWIZZLEPERF_ATOMIC(float, Add, add)
SWIZZLEPERF_ATOMIC(double, Add, add)
SWIZZLEPERF_EXCHANGE_AT(, __HIP_MEMORY_SCOPE_AGENT, float)
SWIZZLEPERF_EXCHANGE_AT(_block, __HIP_MEMORY_SCOPE_WORKGROUP, float)
SWIZZLEPERF_EXCHANGE_AT(_system, __HIP_MEMORY_SCOPE_SYSTEM, float)

SWIZZLEPERF_DEVICE int atomicSub(int* p, int value) { return atomicAdd(p, -value); }
SWIZZLEPERF_DEVICE unsigned atomicSub(unsigned* p, unsigned value) {
  return atomicAdd(p, 0u - value);
}

SWIZZLEPERF_DEVICE unsigned atomicInc(unsigned* p, unsigned limit) {
  return __swizzleperf_update(p, [=](unsigned v) { return v >= limit ? 0u : v + 1; });
}
SWIZZLEPERF_DEVICE unsigned atomicDec(unsigned* p, unsigned limit) {
  return __swizzleperf_update(p, [=](unsigned v) { return v == 0 || v > limit ? limit : v - 1; });
}
SWIZZLEPERF_DEVICE unsigned short atomicCAS(unsigned short* p, unsigned short compare,
                                            unsigned short value) {
  // The word around it: no machine here swaps less.
  const bool high = ((unsigned long)p & 2) != 0;
  unsigned* const word = (unsigned*)((unsigned long)p & ~3ul);
  const unsigned shift = high ? 16 : 0;
  const unsigned old = __swizzleperf_update(word, [=](unsigned v) {
    const bool equal = (unsigned short)(v >> shift) == compare;
    return equal ? (v & ~(0xffffu << shift)) | (unsigned)value << shift : v;
  });
  return (unsigned short)(old >> shift);
}
