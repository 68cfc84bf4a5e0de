// Numbers of every element type, and the arithmetic that more than one file of operations needs.
//
// Everything is in an unnamed namespace: these files are compiled once per instruction set, and the
// linker must not take one set's copy of a function for the other's.
#pragma once

#include <algorithm>
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

// ---- Eight bits and less ---------------------------------------------------------------------

struct TinyFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  u32 largest;  ///< code of the largest finite number
  u32 nan;      ///< 0 = there is none
};

constexpr TinyFormat format_of(Tiny tiny) {
  switch (tiny) {
    case Tiny::kFp8Fnuz:
      return {4, 3, 8, 0x7f, 0x80};
    case Tiny::kBf8Fnuz:
      return {5, 2, 16, 0x7f, 0x80};
    case Tiny::kFp8:
      return {4, 3, 7, 0x7e, 0x7f};
    case Tiny::kBf8:
      return {5, 2, 15, 0x7b, 0x7f};
    case Tiny::kFp6:
      return {2, 3, 1, 0x1f, 0};
    case Tiny::kBf6:
      return {3, 2, 3, 0x1f, 0};
    case Tiny::kFp4:
      break;
  }
  return {2, 1, 1, 0x7, 0};
}

constexpr u32 tiny_bits(Tiny tiny) {
  const TinyFormat f = format_of(tiny);
  return static_cast<u32>(1 + f.exponent_bits + f.mantissa_bits);
}

inline float tiny_to_float(Tiny tiny, u32 code) {
  const TinyFormat f = format_of(tiny);
  const u32 sign = u32{1} << (tiny_bits(tiny) - 1);
  const bool fnuz = tiny == Tiny::kFp8Fnuz || tiny == Tiny::kBf8Fnuz;
  if (fnuz && code == f.nan) return __builtin_nanf("");
  const u32 magnitude = code & (sign - 1);
  if (!fnuz && f.nan != 0 && magnitude > f.largest) {
    const bool infinite = tiny == Tiny::kBf8 && magnitude == 0x7c;
    const float special = infinite ? __builtin_inff() : __builtin_nanf("");
    return (code & sign) != 0 ? -special : special;
  }
  const u32 mantissa = magnitude & ((u32{1} << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa_bits);
  const u32 digits = exponent == 0 ? mantissa : mantissa | u32{1} << f.mantissa_bits;
  const float value = std::ldexp(static_cast<float>(digits),
                                 (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits);
  return (code & sign) != 0 ? -value : value;
}

/// To the nearest, ties to even, or towards zero. What is too large becomes the NaN (or infinity)
/// that the hardware makes of it, or the largest number where there is neither.
inline u32 float_to_tiny(Tiny tiny, float x, bool truncate = false) {
  const TinyFormat f = format_of(tiny);
  const bool fnuz = tiny == Tiny::kFp8Fnuz || tiny == Tiny::kBf8Fnuz;
  const u32 sign = std::signbit(x) ? u32{1} << (tiny_bits(tiny) - 1) : 0;
  const u32 beyond = fnuz                 ? f.nan
                     : tiny == Tiny::kBf8 ? sign | 0x7c
                     : f.nan != 0         ? sign | f.nan
                                          : sign | f.largest;
  if (x != x) return fnuz ? f.nan : sign | (f.nan != 0 ? f.nan : f.largest);
  const float magnitude = std::fabs(x);
  if (magnitude > 0x1p20F) return beyond;
  const int lowest = 1 - f.bias;
  const int e = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  const float scaled = std::ldexp(magnitude, f.mantissa_bits - e);
  const auto digits = static_cast<u32>(truncate ? std::trunc(scaled) : std::nearbyint(scaled));
  // A carry out of the mantissa runs into the exponent, as it should.
  const u32 code = (static_cast<u32>(e - lowest) << f.mantissa_bits) + digits;
  if (code > f.largest) return beyond;
  return fnuz && code == 0 ? 0 : sign | code;
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
