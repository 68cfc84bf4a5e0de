// Numbers of every element type, and the arithmetic that more than one file of operations needs.
//
// Everything is in an unnamed namespace: these files are compiled once per instruction set, and the
// linker must not take one set's copy of a function for the other's.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "vgpu/exec/ops.h"

namespace swizzleperf::vgpu {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// ---- Numbers ---------------------------------------------------------------------------------

struct BFloat {
  u16 bits;
};

inline float wide(BFloat x) { return bits_as<float>(static_cast<u32>(x.bits) << 16); }
inline float wide(_Float16 x) { return static_cast<float>(x); }
inline float wide(float x) { return x; }
inline double wide(double x) { return x; }

/// Rounds to the nearest even.
template <class T, class W>
inline T narrow(W x) {
  if constexpr (std::is_same_v<T, BFloat>) {
    const u32 u = bits_as<u32>(static_cast<float>(x));
    const u32 rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    const u32 quiet = (u >> 16) | 0x40;
    return BFloat{static_cast<u16>((u & 0x7fffffff) > 0x7f800000 ? quiet : rounded)};
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
using Wide = decltype(wide(T{}));

template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, u8,
    std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;
template <class T>
constexpr T kSignBit = static_cast<T>(T{1} << (sizeof(T) * 8 - 1));

template <class T>
using Signed = std::make_signed_t<T>;

/// a * b + c of half precision, rounded once: the sum in single precision is rounded to odd (the
/// product is exact), after which rounding to half is as good as from the exact sum.
inline _Float16 fma_half(_Float16 a, _Float16 b, _Float16 c) {
  const float product = static_cast<float>(a) * static_cast<float>(b);
  const float addend = static_cast<float>(c);
  const float sum = product + addend;
  const float back = sum - product;
  const float error = (product - (sum - back)) + (addend - back);
  u32 u = bits_as<u32>(sum);
  const bool finite = (u & 0x7f800000) != 0x7f800000;
  const bool inexact = error != 0.0f;
  // The exact sum lies beyond `sum`, away from zero, if the error has its sign.
  const bool outward = ((bits_as<u32>(error) ^ u) >> 31) == 0;
  const u32 odd = (u & 1) != 0 ? u : (outward ? u + 1 : u - 1);
  u = finite && inexact ? odd : u;
  return static_cast<_Float16>(bits_as<float>(u));
}

template <class T>
inline T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, _Float16>) {
    return fma_half(a, b, c);
  } else if constexpr (std::is_same_v<T, double>) {
    return __builtin_fma(a, b, c);
  } else {
    return narrow<T>(__builtin_fmaf(wide(a), wide(b), wide(c)));
  }
}

template <class T>
constexpr bool kIsInt = std::is_integral_v<T>;

// Function objects by element type: BINARY(Add, a + b) is Add<T>{}(a, b).
#define BINARY(name, expression)                          \
  template <class T>                                      \
  struct name {                                           \
    T operator()(T a, T b) const {                        \
      using S [[maybe_unused]] = Signed<T>;               \
      constexpr T kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                  \
    }                                                     \
  }

#define UNARY(name, expression)                             \
  template <class T>                                        \
  struct name {                                             \
    T operator()(T a) const {                               \
      constexpr int kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                    \
    }                                                       \
  }

#define TERNARY(name, expression)                         \
  template <class T>                                      \
  struct name {                                           \
    T operator()(T a, T b, T c) const {                   \
      constexpr T kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                  \
    }                                                     \
  }

#define COMPARE(name, expression)                          \
  template <class T>                                       \
  struct name {                                            \
    bool operator()(T a, T b) const { return expression; } \
  }
#define FLOAT2(name, expression)     \
  template <class T>                 \
  struct name {                      \
    T operator()(T ta, T tb) const { \
      const Wide<T> a = wide(ta);    \
      const Wide<T> b = wide(tb);    \
      return narrow<T>(expression);  \
    }                                \
  }

#define FLOAT1(name, expression)          \
  template <class T>                      \
  struct name {                           \
    T operator()(T ta) const {            \
      const Wide<T> a = wide(ta);         \
      using W [[maybe_unused]] = Wide<T>; \
      return narrow<T>(expression);       \
    }                                     \
  }

BINARY(UMin, a < b ? a : b);
BINARY(UMax, a > b ? a : b);
BINARY(SMin, static_cast<S>(a) < static_cast<S>(b) ? a : b);
BINARY(SMax, static_cast<S>(a) > static_cast<S>(b) ? a : b);
BINARY(USubSat, a > b ? static_cast<T>(a - b) : T{0});

FLOAT2(FAdd, a + b);
FLOAT2(FSub, a - b);
// A quiet NaN loses; -0 is below +0, as on the hardware.
template <class W>
inline bool below(W a, W b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
FLOAT2(FMin, a != a ? b : (b != b ? a : (below(a, b) ? a : b)));
FLOAT2(FMax, a != a ? b : (b != b ? a : (below(a, b) ? b : a)));
FLOAT2(FMinimum, a != a ? a : (b != b ? b : (below(a, b) ? a : b)));
FLOAT2(FMaximum, a != a ? a : (b != b ? b : (below(a, b) ? b : a)));

}  // namespace
}  // namespace swizzleperf::vgpu
