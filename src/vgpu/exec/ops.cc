// What the operations do. Compiled twice, with and without AVX2 (ISA_NAME tells them apart), and
// therefore all in an unnamed namespace and with no inline function of a library in the hot loops.
//
// The loops run over all 64 lanes, active or not: the compiler turns them into vector code, and a
// lane outside the mask computes something nobody reads. So nothing here may trap: divisions and
// conversions are defined for every input. Destination and operand registers of one size either
// coincide or are disjoint, which is what LANES promises to the vectoriser.
#include "vgpu/exec/ops.h"

#include <immintrin.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "vgpu/exec/wave.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)

#ifdef __clang__
#define LANES \
  _Pragma("clang loop vectorize(assume_safety)") for (std::uint32_t i = 0; i < kLanes; ++i)
#else
#define LANES _Pragma("GCC ivdep") for (std::uint32_t i = 0; i < kLanes; ++i)
#endif

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

// ---- Registers -------------------------------------------------------------------------------

template <class T>
inline T* lanes(Wave& w, u32 operand) {
  return static_cast<T*>(__builtin_assume_aligned(w.registers + (operand & ~kUniformBit), 8));
}

template <class T>
struct Divergent {
  const T* p;
  T operator[](u32 i) const { return p[i]; }
};
template <class T>
struct Uniform {
  T v;
  T operator[](u32) const { return v; }
};

template <class T>
inline T scalar(Wave& w, u32 operand) {
  return *lanes<T>(w, operand);
}

/// The operand's lanes; a uniform one is spread into `scratch`.
template <class T>
inline const T* spread(Wave& w, u32 operand, T* scratch) {
  if (!is_uniform(operand)) return lanes<T>(w, operand);
  const T v = scalar<T>(w, operand);
  LANES scratch[i] = v;
  return scratch;
}

inline u64 mask_of(Wave& w, u32 operand) { return *lanes<u64>(w, operand); }

/// 64 bytes of 0 or 1 to 64 bits.
inline u64 pack_mask(const u8* bytes) {
  u64 mask = 0;
  for (int q = 0; q < 4; ++q) {
    const __m128i v = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes + 16 * q));
    const __m128i m = _mm_sub_epi8(_mm_setzero_si128(), v);
    mask |= static_cast<u64>(static_cast<u32>(_mm_movemask_epi8(m))) << (16 * q);
  }
  return mask;
}

template <class F>
inline void for_each(u64 mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<u32>(__builtin_ctzll(mask)));
}

// ---- Elementwise forms -----------------------------------------------------------------------

template <class D, class A, class F>
void unary(Wave& w, const Op& op) {
  const A* a = lanes<A>(w, op.a);
  D* d = lanes<D>(w, op.d);
  LANES d[i] = F{}(a[i]);
}
template <class D, class A, class F>
void unary_uniform(Wave& w, const Op& op) {
  *lanes<D>(w, op.d) = F{}(scalar<A>(w, op.a));
}

template <class D, class A, class B, class F>
void binary(Wave& w, const Op& op) {
  D* d = lanes<D>(w, op.d);
  if (is_uniform(op.a)) {
    const A a = scalar<A>(w, op.a);
    const B* b = lanes<B>(w, op.b);
    LANES d[i] = F{}(a, b[i]);
  } else if (is_uniform(op.b)) {
    const A* a = lanes<A>(w, op.a);
    const B b = scalar<B>(w, op.b);
    LANES d[i] = F{}(a[i], b);
  } else {
    const A* a = lanes<A>(w, op.a);
    const B* b = lanes<B>(w, op.b);
    LANES d[i] = F{}(a[i], b[i]);
  }
}
template <class D, class A, class B, class F>
void binary_uniform(Wave& w, const Op& op) {
  *lanes<D>(w, op.d) = F{}(scalar<A>(w, op.a), scalar<B>(w, op.b));
}

template <class T, class F>
void ternary(Wave& w, const Op& op) {
  alignas(64) T sa[kLanes];
  alignas(64) T sb[kLanes];
  alignas(64) T sc[kLanes];
  const T* a = spread(w, op.a, sa);
  const T* b = spread(w, op.b, sb);
  const T* c = spread(w, op.c, sc);
  T* d = lanes<T>(w, op.d);
  LANES d[i] = F{}(a[i], b[i], c[i]);
}
template <class T, class F>
void ternary_uniform(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = F{}(scalar<T>(w, op.a), scalar<T>(w, op.b), scalar<T>(w, op.c));
}

template <class T, class F>
void compare(Wave& w, const Op& op) {
  alignas(64) u8 r[kLanes];
  const u64 invert = op.imm != 0 ? ~u64{0} : 0;
  if (is_uniform(op.a)) {
    const T a = scalar<T>(w, op.a);
    const T* b = lanes<T>(w, op.b);
    LANES r[i] = F{}(a, b[i]);
  } else if (is_uniform(op.b)) {
    const T* a = lanes<T>(w, op.a);
    const T b = scalar<T>(w, op.b);
    LANES r[i] = F{}(a[i], b);
  } else {
    const T* a = lanes<T>(w, op.a);
    const T* b = lanes<T>(w, op.b);
    LANES r[i] = F{}(a[i], b[i]);
  }
  *lanes<u64>(w, op.d) = pack_mask(r) ^ invert;
}
template <class T, class F>
void compare_uniform(Wave& w, const Op& op) {
  const bool r = F{}(scalar<T>(w, op.a), scalar<T>(w, op.b)) != (op.imm != 0);
  *lanes<u64>(w, op.d) = r ? ~u64{0} : 0;
}

template <class T>
void select(Wave& w, const Op& op) {
  const u64 mask = mask_of(w, op.a);
  alignas(64) T sb[kLanes];
  alignas(64) T sc[kLanes];
  const T* b = spread(w, op.b, sb);
  const T* c = spread(w, op.c, sc);
  T* d = lanes<T>(w, op.d);
  for (u32 half = 0; half < 2; ++half) {
    const u32 m = static_cast<u32>(mask >> (32 * half));
    const u32 base = half * 32;
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#endif
    for (u32 i = 0; i < 32; ++i) d[base + i] = (m >> i & 1) != 0 ? b[base + i] : c[base + i];
  }
}
template <class T>
void select_uniform(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = scalar<T>(w, mask_of(w, op.a) != 0 ? op.b : op.c);
}
void select_mask(Wave& w, const Op& op) {
  const u64 m = mask_of(w, op.a);
  *lanes<u64>(w, op.d) = (m & mask_of(w, op.b)) | (~m & mask_of(w, op.c));
}

template <class T>
void move(Wave& w, const Op& op) {
  T* d = lanes<T>(w, op.d);
  if (is_uniform(op.a)) {
    const T v = scalar<T>(w, op.a);
    LANES d[i] = v;
  } else {
    __builtin_memcpy(d, lanes<T>(w, op.a), sizeof(T) * kLanes);
  }
}
template <class T>
void move_uniform(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = scalar<T>(w, op.a);
}
template <class T>
void move_masked(Wave& w, const Op& op) {
  if (w.exec == w.all) {
    move<T>(w, op);
    return;
  }
  alignas(64) T sa[kLanes];
  const T* a = spread(w, op.a, sa);
  T* d = lanes<T>(w, op.d);
  for (u32 half = 0; half < 2; ++half) {
    const u32 m = static_cast<u32>(w.exec >> (32 * half));
    const u32 base = half * 32;
#ifdef __clang__
#pragma clang loop vectorize(assume_safety)
#endif
    for (u32 i = 0; i < 32; ++i) d[base + i] = (m >> i & 1) != 0 ? a[base + i] : d[base + i];
  }
}
void move_masked_mask(Wave& w, const Op& op) {
  u64* d = lanes<u64>(w, op.d);
  *d = (mask_of(w, op.a) & w.exec) | (*d & ~w.exec);
}

// ---- Integers --------------------------------------------------------------------------------

#define BINARY(name, expression)                          \
  template <class T>                                      \
  struct name {                                           \
    T operator()(T a, T b) const {                        \
      using S [[maybe_unused]] = Signed<T>;               \
      constexpr T kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                  \
    }                                                     \
  }
BINARY(Add, a + b);
BINARY(Sub, a - b);
BINARY(Mul, static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b)));
BINARY(And, a& b);
BINARY(Or, a | b);
BINARY(Xor, a ^ b);
BINARY(Shl, static_cast<u64>(a) << (b & (kBits - 1)));
BINARY(LShr, a >> (b & (kBits - 1)));
BINARY(AShr, static_cast<S>(a) >> (b & (kBits - 1)));
BINARY(UDiv, b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / (b == 0 ? 1 : b)));
BINARY(URem, b == 0 ? a : static_cast<T>(a % (b == 0 ? 1 : b)));
BINARY(UMin, a < b ? a : b);
BINARY(UMax, a > b ? a : b);
BINARY(SMin, static_cast<S>(a) < static_cast<S>(b) ? a : b);
BINARY(SMax, static_cast<S>(a) > static_cast<S>(b) ? a : b);
BINARY(UAddSat, static_cast<T>(a + b) < a ? static_cast<T>(~T{0}) : static_cast<T>(a + b));
BINARY(USubSat, a > b ? static_cast<T>(a - b) : T{0});

template <class T>
struct SDiv {
  T operator()(T a, T b) const {
    const auto x = static_cast<Signed<T>>(a);
    const auto y = static_cast<Signed<T>>(b);
    if (y == 0) return static_cast<T>(~T{0});
    if (y == -1) return static_cast<T>(T{0} - a);
    return static_cast<T>(x / y);
  }
};
template <class T>
struct SRem {
  T operator()(T a, T b) const {
    const auto x = static_cast<Signed<T>>(a);
    const auto y = static_cast<Signed<T>>(b);
    if (y == 0) return a;
    if (y == -1) return 0;
    return static_cast<T>(x % y);
  }
};
template <class T>
struct SAddSat {
  T operator()(T a, T b) const {
    const T r = static_cast<T>(a + b);
    const bool overflow = (~(a ^ b) & (a ^ r) & kSignBit<T>) != 0;
    const T limit = static_cast<T>((a & kSignBit<T>) != 0 ? kSignBit<T> : kSignBit<T> - 1);
    return overflow ? limit : r;
  }
};
template <class T>
struct SSubSat {
  T operator()(T a, T b) const {
    const T r = static_cast<T>(a - b);
    const bool overflow = ((a ^ b) & (a ^ r) & kSignBit<T>) != 0;
    const T limit = static_cast<T>((a & kSignBit<T>) != 0 ? kSignBit<T> : kSignBit<T> - 1);
    return overflow ? limit : r;
  }
};

#define UNARY(name, expression)                             \
  template <class T>                                        \
  struct name {                                             \
    T operator()(T a) const {                               \
      constexpr int kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                    \
    }                                                       \
  }
UNARY(CtPop, __builtin_popcountll(a));
UNARY(CtLz, a == 0 ? kBits : __builtin_clzll(a) - (64 - kBits));
UNARY(CtTz, a == 0 ? kBits : __builtin_ctzll(a));
UNARY(BSwap, __builtin_bswap64(a) >> (64 - kBits));
UNARY(Abs, static_cast<Signed<T>>(a) < 0 ? T{0} - a : a);
template <class T>
struct BitReverse {
  T operator()(T a) const {
    u64 x = __builtin_bswap64(a);
    x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
    x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
    x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
    return static_cast<T>(x >> (64 - sizeof(T) * 8));
  }
};

#define TERNARY(name, expression)                         \
  template <class T>                                      \
  struct name {                                           \
    T operator()(T a, T b, T c) const {                   \
      constexpr T kBits [[maybe_unused]] = sizeof(T) * 8; \
      return static_cast<T>(expression);                  \
    }                                                     \
  }
TERNARY(Fshl, (c & (kBits - 1)) == 0
                  ? a
                  : static_cast<T>(static_cast<T>(static_cast<u64>(a) << (c & (kBits - 1))) |
                                   b >> (kBits - (c & (kBits - 1)))));
TERNARY(Fshr,
        (c & (kBits - 1)) == 0
            ? b
            : static_cast<T>(static_cast<T>(static_cast<u64>(a) << (kBits - (c & (kBits - 1)))) |
                             b >> (c & (kBits - 1))));
TERNARY(SMed3, SMax<T>{}(SMin<T>{}(a, b), SMin<T>{}(SMax<T>{}(a, b), c)));
TERNARY(UMed3, UMax<T>{}(UMin<T>{}(a, b), UMin<T>{}(UMax<T>{}(a, b), c)));

// Of 32 bits only.
struct BfeU {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 width = c & 31;
    return (a >> (b & 31)) & ((1U << width) - 1);
  }
};
struct BfeS {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 width = c & 31;
    if (width == 0) return 0;
    const u32 field = (a >> (b & 31)) << (32 - width);
    return static_cast<u32>(static_cast<i32>(field) >> (32 - width));
  }
};
/// v_perm_b32: each byte of the selector picks one of the eight bytes of {a, b}, or a constant.
struct Perm {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u64 bytes = static_cast<u64>(a) << 32 | b;
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i) {
      const u32 s = c >> (8 * i) & 0xff;
      u32 v = 0;
      if (s < 8) {
        v = static_cast<u32>(bytes >> (8 * s)) & 0xff;
      } else if (s < 12) {
        v = (bytes >> (16 * (s - 8) + 15) & 1) != 0 ? 0xff : 0;
      } else if (s > 12) {
        v = 0xff;
      }
      r |= v << (8 * i);
    }
    return r;
  }
};
struct SadU8 {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 i = 0; i < 4; ++i) {
      const u32 x = a >> (8 * i) & 0xff;
      const u32 y = b >> (8 * i) & 0xff;
      c += x > y ? x - y : y - x;
    }
    return c;
  }
};
struct AlignByte {
  u32 operator()(u32 a, u32 b, u32 c) const {
    return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (8 * (c & 3)));
  }
};
inline i64 sext24(u32 x) { return static_cast<i32>(x << 8) >> 8; }
struct Mul24U {
  u32 operator()(u32 a, u32 b) const { return (a & 0xffffff) * (b & 0xffffff); }
};
struct Mul24S {
  u32 operator()(u32 a, u32 b) const { return static_cast<u32>(sext24(a) * sext24(b)); }
};
struct MulHi24U {
  u32 operator()(u32 a, u32 b) const {
    return static_cast<u32>(static_cast<u64>(a & 0xffffff) * (b & 0xffffff) >> 32);
  }
};
struct MulHi24S {
  u32 operator()(u32 a, u32 b) const { return static_cast<u32>((sext24(a) * sext24(b)) >> 32); }
};
template <bool kSigned>
struct Dot4 {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 i = 0; i < 4; ++i) {
      const u32 x = a >> (8 * i) & 0xff;
      const u32 y = b >> (8 * i) & 0xff;
      c += kSigned ? static_cast<u32>(static_cast<i8>(x) * static_cast<i8>(y)) : x * y;
    }
    return c;
  }
};

#define COMPARE(name, expression)                          \
  template <class T>                                       \
  struct name {                                            \
    bool operator()(T a, T b) const { return expression; } \
  }
COMPARE(Eq, a == b);
COMPARE(ULt, a < b);
COMPARE(SLt, static_cast<Signed<T>>(a) < static_cast<Signed<T>>(b));
COMPARE(FOeq, wide(a) == wide(b));
COMPARE(FOlt, wide(a) < wide(b));
COMPARE(FOle, wide(a) <= wide(b));
COMPARE(FOne, (wide(a) < wide(b)) | (wide(a) > wide(b)));
COMPARE(FUno, (wide(a) != wide(a)) | (wide(b) != wide(b)));

// ---- Floating point --------------------------------------------------------------------------

#define FLOAT2(name, expression)     \
  template <class T>                 \
  struct name {                      \
    T operator()(T ta, T tb) const { \
      const Wide<T> a = wide(ta);    \
      const Wide<T> b = wide(tb);    \
      return narrow<T>(expression);  \
    }                                \
  }
FLOAT2(FAdd, a + b);
FLOAT2(FSub, a - b);
FLOAT2(FMul, a* b);
FLOAT2(FDiv, a / b);
FLOAT2(FRem, std::fmod(a, b));
// A quiet NaN loses; -0 is below +0, as on the hardware.
template <class W>
inline bool below(W a, W b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
FLOAT2(FMin, a != a ? b : (b != b ? a : (below(a, b) ? a : b)));
FLOAT2(FMax, a != a ? b : (b != b ? a : (below(a, b) ? b : a)));
FLOAT2(FMinimum, a != a ? a : (b != b ? b : (below(a, b) ? a : b)));
FLOAT2(FMaximum, a != a ? a : (b != b ? b : (below(a, b) ? b : a)));
FLOAT2(Pow, std::pow(a, b));
FLOAT2(Atan2, std::atan2(a, b));
FLOAT2(Hypot, std::hypot(a, b));
FLOAT2(Remainder, std::remainder(a, b));
template <class T>
struct NextAfter {
  T operator()(T a, T b) const { return std::nextafter(a, b); }
};
template <class T>
struct CopySign {
  T operator()(T a, T b) const {
    using U = BitsOf<T>;
    return bits_as<T>(static_cast<U>((bits_as<U>(a) & static_cast<U>(~kSignBit<U>)) |
                                     (bits_as<U>(b) & kSignBit<U>)));
  }
};
template <class T>
struct Ldexp {
  T operator()(T a, u32 e) const { return narrow<T>(std::ldexp(wide(a), static_cast<i32>(e))); }
};
template <class T>
struct Powi {
  T operator()(T a, u32 e) const {
    return narrow<T>(std::pow(wide(a), static_cast<Wide<T>>(static_cast<i32>(e))));
  }
};

template <class T>
struct FNeg {
  T operator()(T a) const {
    using U = BitsOf<T>;
    return bits_as<T>(static_cast<U>(bits_as<U>(a) ^ kSignBit<U>));
  }
};
template <class T>
struct FAbs {
  T operator()(T a) const {
    using U = BitsOf<T>;
    return bits_as<T>(static_cast<U>(bits_as<U>(a) & static_cast<U>(~kSignBit<U>)));
  }
};

constexpr double kPi = 3.14159265358979323846;
constexpr double kLn10 = 2.30258509299404568402;

// The argument of sin(pi x) is reduced exactly before it is multiplied.
inline double sin_pi(double x) {
  const double r = std::fmod(x, 2.0);
  return r == std::trunc(r) ? std::copysign(0.0, x) : std::sin(r * kPi);
}
inline double cos_pi(double x) {
  const double r = std::fmod(std::fabs(x), 2.0);
  return r == 0.5 || r == 1.5 ? 0.0 : std::cos(r * kPi);
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
FLOAT1(Floor, std::floor(a));
FLOAT1(Ceil, std::ceil(a));
FLOAT1(Trunc, std::trunc(a));
FLOAT1(Round, std::round(a));
FLOAT1(Rint, std::nearbyint(a));
FLOAT1(Sqrt, std::sqrt(a));
FLOAT1(Rcp, W{1} / a);
FLOAT1(Rsq, W{1} / std::sqrt(a));
FLOAT1(Canonicalize, a);
FLOAT1(Exp, std::exp(a));
FLOAT1(Exp2, std::exp2(a));
FLOAT1(Exp10, static_cast<W>(std::exp(static_cast<double>(a) * kLn10)));
FLOAT1(ExpM1, std::expm1(a));
FLOAT1(Log, std::log(a));
FLOAT1(Log2, std::log2(a));
FLOAT1(Log10, std::log10(a));
FLOAT1(Log1P, std::log1p(a));
FLOAT1(Sin, std::sin(a));
FLOAT1(Cos, std::cos(a));
FLOAT1(Tan, std::tan(a));
FLOAT1(SinPi, static_cast<W>(sin_pi(static_cast<double>(a))));
FLOAT1(CosPi, static_cast<W>(cos_pi(static_cast<double>(a))));
FLOAT1(SinTurns, static_cast<W>(sin_pi(2.0 * static_cast<double>(a))));
FLOAT1(CosTurns, static_cast<W>(cos_pi(2.0 * static_cast<double>(a))));
FLOAT1(ASin, std::asin(a));
FLOAT1(ACos, std::acos(a));
FLOAT1(ATan, std::atan(a));
FLOAT1(SinH, std::sinh(a));
FLOAT1(CosH, std::cosh(a));
FLOAT1(TanH, std::tanh(a));
FLOAT1(ASinH, std::asinh(a));
FLOAT1(ACosH, std::acosh(a));
FLOAT1(ATanH, std::atanh(a));
FLOAT1(Erf, std::erf(a));
FLOAT1(ErfC, std::erfc(a));
FLOAT1(LGamma, std::lgamma(a));
FLOAT1(TGamma, std::tgamma(a));
FLOAT1(Cbrt, std::cbrt(a));
FLOAT1(LogB, std::logb(a));
FLOAT1(J0, static_cast<W>(::j0(static_cast<double>(a))));
FLOAT1(J1, static_cast<W>(::j1(static_cast<double>(a))));
FLOAT1(Y0, static_cast<W>(::y0(static_cast<double>(a))));
FLOAT1(Y1, static_cast<W>(::y1(static_cast<double>(a))));
FLOAT1(FrexpMantissa, [](W x) {
  int e = 0;
  return std::frexp(x, &e);
}(a));
// v_fract: stays below one.
FLOAT1(Fract, [](W x) {
  const W f = x - std::floor(x);
  return f < W{1} ? f : (f != f ? f : std::nextafter(W{1}, W{0}));
}(a));
template <class T>
struct FrexpExponent {
  u32 operator()(T a) const {
    int e = 0;
    const Wide<T> x = wide(a);
    if (std::isfinite(x)) static_cast<void>(std::frexp(x, &e));
    return static_cast<u32>(e);
  }
};
template <class T>
struct IntLogB {
  u32 operator()(T a) const { return static_cast<u32>(std::ilogb(wide(a))); }
};

template <class T>
struct FMed3 {
  T operator()(T a, T b, T c) const {
    return FMax<T>{}(FMin<T>{}(a, b), FMin<T>{}(FMax<T>{}(a, b), c));
  }
};

/// llvm.is.fpclass: the ten classes in the order of its bits.
template <class T>
bool in_class(T value, u64 test) {
  using U = BitsOf<T>;
  constexpr int kMantissa = std::is_same_v<T, BFloat>     ? 7
                            : std::is_same_v<T, _Float16> ? 10
                            : sizeof(T) == 4              ? 23
                                                          : 52;
  const U u = bits_as<U>(value);
  const bool negative = (u & kSignBit<U>) != 0;
  const U magnitude = static_cast<U>(u & static_cast<U>(~kSignBit<U>));
  const U infinity = static_cast<U>((kSignBit<U> - 1) & ~((U{1} << kMantissa) - 1));
  u32 which = 0;
  if (magnitude > infinity) {
    which = (magnitude >> (kMantissa - 1) & 1) != 0 ? 1 : 0;
  } else if (magnitude == infinity) {
    which = negative ? 2 : 9;
  } else if (magnitude == 0) {
    which = negative ? 5 : 6;
  } else if (magnitude < (U{1} << kMantissa)) {
    which = negative ? 4 : 7;
  } else {
    which = negative ? 3 : 8;
  }
  return (test >> which & 1) != 0;
}
template <class T>
void fclass(Wave& w, const Op& op) {
  const T* a = lanes<T>(w, op.a);
  u64 mask = 0;
  for (u32 i = 0; i < kLanes; ++i)
    mask |= static_cast<u64>(in_class(a[i], static_cast<u64>(op.imm))) << i;
  *lanes<u64>(w, op.d) = mask;
}
template <class T>
void fclass_uniform(Wave& w, const Op& op) {
  *lanes<u64>(w, op.d) = in_class(scalar<T>(w, op.a), static_cast<u64>(op.imm)) ? ~u64{0} : 0;
}

template <class T>
struct Fma {
  T operator()(T a, T b, T c) const { return fused(a, b, c); }
};
/// The one ternary operation worth every combination of uniform operands.
template <class T>
void fma_lanes(Wave& w, const Op& op) {
  T* d = lanes<T>(w, op.d);
  const T* pa = lanes<T>(w, op.a);
  const T* pb = lanes<T>(w, op.b);
  const T* pc = lanes<T>(w, op.c);
  const auto go = [&](auto a, auto b, auto c) { LANES d[i] = fused(a[i], b[i], c[i]); };
  const auto with_c = [&](auto a, auto b) {
    if (is_uniform(op.c))
      go(a, b, Uniform<T>{*pc});
    else
      go(a, b, Divergent<T>{pc});
  };
  const auto with_b = [&](auto a) {
    if (is_uniform(op.b))
      with_c(a, Uniform<T>{*pb});
    else
      with_c(a, Divergent<T>{pb});
  };
  if (is_uniform(op.a))
    with_b(Uniform<T>{*pa});
  else
    with_b(Divergent<T>{pa});
}

/// v_cvt_pkrtz_f16_f32: rounds towards zero.
inline u32 half_towards_zero(float x) {
  const auto h = static_cast<_Float16>(x);
  const u16 u = bits_as<u16>(h);
  const float back = static_cast<float>(h);
  const bool away = std::fabs(back) > std::fabs(x);
  return away ? static_cast<u16>(u - 1) : u;
}
struct CvtPkRtz {
  u32 operator()(u32 a, u32 b) const {
    return half_towards_zero(bits_as<float>(a)) | half_towards_zero(bits_as<float>(b)) << 16;
  }
};

// ---- Conversions -----------------------------------------------------------------------------

/// Saturates where C++ leaves the result undefined; a NaN becomes 0: what the hardware does.
template <class I, class W>
inline I to_integer(W x) {
  constexpr int kDigits = std::is_signed_v<I> ? sizeof(I) * 8 - 1 : sizeof(I) * 8;
  const W limit = sizeof(I) == 8 ? W(std::is_signed_v<I> ? 0x1p63 : 0x1p64)
                                 : static_cast<W>(u64{1} << (kDigits & 63));
  constexpr I kMax = std::is_signed_v<I> ? static_cast<I>((u64{1} << (kDigits & 63)) - 1)
                                         : static_cast<I>(~u64{0});
  constexpr I kMin = std::is_signed_v<I> ? static_cast<I>(-kMax - 1) : I{0};
  if (x != x) return 0;
  if (x >= limit) return kMax;
  if (std::is_signed_v<I> ? x < -limit : x <= W{-1}) return kMin;
  return static_cast<I>(x);
}

template <class T>
constexpr bool kIsInt = std::is_integral_v<T>;

template <class From, class To, bool kSigned>
struct Convert {
  To operator()(From x) const {
    if constexpr (kIsInt<From> && kIsInt<To>) {
      if constexpr (kSigned)
        return static_cast<To>(static_cast<Signed<From>>(x));
      else
        return static_cast<To>(x);
    } else if constexpr (kIsInt<From>) {
      using S = std::conditional_t<kSigned, Signed<From>, From>;
      if constexpr (std::is_same_v<To, BFloat>)
        return narrow<To>(static_cast<float>(static_cast<S>(x)));
      else
        return static_cast<To>(static_cast<S>(x));
    } else if constexpr (kIsInt<To>) {
      using S = std::conditional_t<kSigned, Signed<To>, To>;
      return static_cast<To>(to_integer<S>(wide(x)));
    } else if constexpr (std::is_same_v<To, BFloat> && std::is_same_v<From, double>) {
      // Through single precision, rounded to odd.
      const auto f = static_cast<float>(x);
      u32 u = bits_as<u32>(f);
      const double back = static_cast<double>(f);
      if (x == x && back != x && (u & 1) == 0 && std::isfinite(f))
        u += std::fabs(back) < std::fabs(x) ? 1U : ~0U;
      return narrow<To>(bits_as<float>(u));
    } else {
      return narrow<To>(wide(x));
    }
  }
};

template <class To, bool kSigned>
void mask_to(Wave& w, const Op& op) {
  const u64 mask = mask_of(w, op.a);
  To* d = lanes<To>(w, op.d);
  const To one = Convert<u8, To, kSigned>{}(kSigned && kIsInt<To> ? 0xff : 1);
  const To on = kSigned && !kIsInt<To> ? Convert<u8, To, true>{}(0xff) : one;
  const To off = Convert<u8, To, false>{}(0);
  for (u32 half = 0; half < 2; ++half) {
    const u32 m = static_cast<u32>(mask >> (32 * half));
    for (u32 i = 0; i < 32; ++i) d[half * 32 + i] = (m >> i & 1) != 0 ? on : off;
  }
}
template <class To, bool kSigned>
void mask_to_uniform(Wave& w, const Op& op) {
  const To on = Convert<u8, To, kSigned>{}(kSigned ? 0xff : 1);
  const To off = Convert<u8, To, false>{}(0);
  *lanes<To>(w, op.d) = mask_of(w, op.a) != 0 ? on : off;
}
template <class From>
void to_mask(Wave& w, const Op& op) {
  const From* a = lanes<From>(w, op.a);
  alignas(64) u8 r[kLanes];
  LANES r[i] = static_cast<u8>(a[i] & 1);
  *lanes<u64>(w, op.d) = pack_mask(r);
}
template <class From>
void to_mask_uniform(Wave& w, const Op& op) {
  *lanes<u64>(w, op.d) = (scalar<From>(w, op.a) & 1) != 0 ? ~u64{0} : 0;
}

// ---- Addresses -------------------------------------------------------------------------------

template <class T, class I>
void address(Wave& w, const Op& op) {
  using Offset = std::conditional_t<sizeof(T) == 8, i64, i32>;
  const auto scale = static_cast<Offset>(op.imm);
  const auto plus = static_cast<T>(op.imm2);
  T* d = lanes<T>(w, op.d);
  const T* pa = lanes<T>(w, op.a);
  const I* pb = lanes<I>(w, op.b);
  const auto go = [&](auto a, auto b) {
    if (scale >= 0 && scale < 0x7fffffff && sizeof(I) == 4) {
      // A 32 x 32 bit multiplication is one instruction; a 64 x 64 bit one is not.
      const auto narrow_scale = static_cast<i32>(scale);
      LANES d[i] = static_cast<T>(
          a[i] + plus + static_cast<T>(static_cast<Offset>(b[i])) * static_cast<T>(narrow_scale));
    } else if (scale > 0 && (scale & (scale - 1)) == 0) {
      const int shift = __builtin_ctzll(static_cast<u64>(scale));
      LANES d[i] =
          static_cast<T>(a[i] + plus + (static_cast<T>(static_cast<Offset>(b[i])) << shift));
    } else {
      LANES d[i] = static_cast<T>(
          a[i] + plus + static_cast<T>(static_cast<Offset>(b[i])) * static_cast<T>(scale));
    }
  };
  if (is_uniform(op.a) && is_uniform(op.b))
    go(Uniform<T>{*pa}, Uniform<I>{*pb});
  else if (is_uniform(op.a))
    go(Uniform<T>{*pa}, Divergent<I>{pb});
  else if (is_uniform(op.b))
    go(Divergent<T>{pa}, Uniform<I>{*pb});
  else
    go(Divergent<T>{pa}, Divergent<I>{pb});
}
template <class T, class I>
void address_uniform(Wave& w, const Op& op) {
  using Offset = std::conditional_t<sizeof(T) == 8, i64, i32>;
  *lanes<T>(w, op.d) = static_cast<T>(scalar<T>(w, op.a) + static_cast<T>(op.imm2) +
                                      static_cast<T>(static_cast<Offset>(scalar<I>(w, op.b))) *
                                          static_cast<T>(op.imm));
}

void to_flat32(Wave& w, const Op& op) {
  const u32* a = lanes<u32>(w, op.a);
  u64* d = lanes<u64>(w, op.d);
  const auto aperture = static_cast<u64>(op.imm);
  LANES d[i] = a[i] == kNull32 ? 0 : aperture | a[i];
}
void to_flat32_uniform(Wave& w, const Op& op) {
  const u32 a = scalar<u32>(w, op.a);
  *lanes<u64>(w, op.d) = a == kNull32 ? 0 : static_cast<u64>(op.imm) | a;
}
void from_flat32(Wave& w, const Op& op) {
  const u64* a = lanes<u64>(w, op.a);
  u32* d = lanes<u32>(w, op.d);
  LANES d[i] = a[i] == 0 ? kNull32 : static_cast<u32>(a[i]);
}
void from_flat32_uniform(Wave& w, const Op& op) {
  const u64 a = scalar<u64>(w, op.a);
  *lanes<u32>(w, op.d) = a == 0 ? kNull32 : static_cast<u32>(a);
}
void is_aperture(Wave& w, const Op& op) {
  const u64* a = lanes<u64>(w, op.a);
  u64 mask = 0;
  for (u32 i = 0; i < kLanes; ++i)
    mask |= static_cast<u64>((a[i] & kApertureMask) == static_cast<u64>(op.imm)) << i;
  *lanes<u64>(w, op.d) = mask;
}
void is_aperture_uniform(Wave& w, const Op& op) {
  *lanes<u64>(w, op.d) =
      (scalar<u64>(w, op.a) & kApertureMask) == static_cast<u64>(op.imm) ? ~u64{0} : 0;
}

// ---- Packing ---------------------------------------------------------------------------------

u64 read_bits(Wave& w, u32 operand, u32 i, u32 bits) {
  const u32 lane = is_uniform(operand) ? 0 : i;
  switch (bits) {
    case 1:
      return mask_of(w, operand) >> i & 1;
    case 8:
      return lanes<u8>(w, operand)[lane];
    case 16:
      return lanes<u16>(w, operand)[lane];
    default:
      return lanes<u32>(w, operand)[lane];
  }
}
template <class D>
void pack(Wave& w, const Op& op) {
  const u32* list = w.run->program->lists.data() + op.list;
  D* d = lanes<D>(w, op.d);
  alignas(64) D r[kLanes] = {};
  const auto bits = static_cast<u32>(op.imm);
  for (u32 part = 0; part < op.count; ++part) {
    const u32 shift = bits * part;
    for (u32 i = 0; i < kLanes; ++i)
      r[i] = static_cast<D>(r[i] | static_cast<D>(read_bits(w, list[part], i, bits) << shift));
  }
  LANES d[i] = r[i];
}
template <class D>
void pack_uniform(Wave& w, const Op& op) {
  const u32* list = w.run->program->lists.data() + op.list;
  const auto bits = static_cast<u32>(op.imm);
  u64 r = 0;
  for (u32 part = 0; part < op.count; ++part)
    r |= read_bits(w, list[part], 0, bits) << (bits * part);
  *lanes<D>(w, op.d) = static_cast<D>(r);
}
/// By the type of the result; imm2 = bytes of the source.
template <class D>
void unpack(Wave& w, const Op& op) {
  D* d = lanes<D>(w, op.d);
  const auto shift = static_cast<u32>(op.imm);
  const auto go = [&](const auto* a) { LANES d[i] = static_cast<D>(a[i] >> shift); };
  if (op.imm2 == 2)
    go(lanes<u16>(w, op.a));
  else if (op.imm2 == 4)
    go(lanes<u32>(w, op.a));
  else
    go(lanes<u64>(w, op.a));
}
template <class D>
void unpack_uniform(Wave& w, const Op& op) {
  const u64 a = op.imm2 == 2   ? scalar<u16>(w, op.a)
                : op.imm2 == 4 ? scalar<u32>(w, op.a)
                               : scalar<u64>(w, op.a);
  *lanes<D>(w, op.d) = static_cast<D>(a >> op.imm);
}

// ---- The launch and the lanes ----------------------------------------------------------------

template <class T>
void argument(Wave& w, const Op& op) {
  T v;
  std::memcpy(&v, w.run->launch->kernargs.data() + op.imm, sizeof v);
  *lanes<T>(w, op.d) = v;
}
void work_item_id(Wave& w, const Op& op) {
  const Dim3& block = w.run->launch->block;
  u32* d = lanes<u32>(w, op.d);
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 thread = w.index * w.run->program->wave_lanes + i;
    d[i] = op.imm == 0   ? thread % block.x
           : op.imm == 1 ? thread / block.x % block.y
                         : thread / block.x / block.y;
  }
}
void work_group_id(Wave& w, const Op& op) {
  const Dim3& b = w.run->block_index;
  *lanes<u32>(w, op.d) = op.imm == 0 ? b.x : op.imm == 1 ? b.y : b.z;
}
void special_address(Wave& w, const Op& op) {
  const void* p = op.imm == 0   ? static_cast<const void*>(w.run->implicit_args)
                  : op.imm == 1 ? static_cast<const void*>(w.run->dispatch_packet)
                                : static_cast<const void*>(w.run->launch->kernargs.data());
  *lanes<u64>(w, op.d) = reinterpret_cast<u64>(p) + static_cast<u64>(op.imm2);
}
/// Time as the program sees it: a count that grows.
void clock(Wave& w, const Op& op) { *lanes<u64>(w, op.d) = w.run->clock += 64; }
void wave_id(Wave& w, const Op& op) { *lanes<u32>(w, op.d) = w.index; }
void trap(Wave& w, const Op& op) {
  fault(w, op, static_cast<u32>(__builtin_ctzll(w.exec)),
        "stops itself (trap or failed assertion)");
}

template <int kHalf>
void mbcnt(Wave& w, const Op& op) {
  alignas(64) u32 sa[kLanes];
  alignas(64) u32 sb[kLanes];
  const u32* a = spread(w, op.a, sa);
  const u32* b = spread(w, op.b, sb);
  u32* d = lanes<u32>(w, op.d);
  for (u32 i = 0; i < kLanes; ++i) {
    const u64 below_me = (u64{1} << i) - 1;
    d[i] = b[i] +
           static_cast<u32>(__builtin_popcount(a[i] & static_cast<u32>(below_me >> (32 * kHalf))));
  }
}
template <class T>
void ballot(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = static_cast<T>(mask_of(w, op.a) & w.exec);
}
template <class T>
void read_first_lane(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = lanes<T>(w, op.a)[__builtin_ctzll(w.exec)];
}
template <class T>
void read_lane(Wave& w, const Op& op) {
  *lanes<T>(w, op.d) = lanes<T>(w, op.a)[scalar<u32>(w, op.b) % w.run->program->wave_lanes];
}
/// d = c with lane b replaced by a.
template <class T>
void write_lane(Wave& w, const Op& op) {
  alignas(64) T sc[kLanes];
  const T* c = spread(w, op.c, sc);
  const T v = scalar<T>(w, op.a);
  const u32 lane = scalar<u32>(w, op.b) % w.run->program->wave_lanes;
  T* d = lanes<T>(w, op.d);
  if (d != c) __builtin_memcpy(d, c, sizeof(T) * kLanes);
  d[lane] = v;
}
/// Lanes read lane (a / 4); what an inactive lane holds reads as 0.
void bpermute(Wave& w, const Op& op) {
  alignas(64) u32 sa[kLanes];
  alignas(64) u32 sb[kLanes];
  alignas(64) u32 r[kLanes];
  const u32* a = spread(w, op.a, sa);
  const u32* b = spread(w, op.b, sb);
  const u32 wrap = w.run->program->wave_lanes - 1;
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 from = a[i] >> 2 & wrap;
    r[i] = (w.exec >> from & 1) != 0 ? b[from] : 0;
  }
  __builtin_memcpy(lanes<u32>(w, op.d), r, sizeof r);
}
void permute(Wave& w, const Op& op) {
  alignas(64) u32 sa[kLanes];
  alignas(64) u32 sb[kLanes];
  alignas(64) u32 r[kLanes] = {};
  const u32* a = spread(w, op.a, sa);
  const u32* b = spread(w, op.b, sb);
  const u32 wrap = w.run->program->wave_lanes - 1;
  for_each(w.exec, [&](u32 i) { r[a[i] >> 2 & wrap] = b[i]; });
  __builtin_memcpy(lanes<u32>(w, op.d), r, sizeof r);
}

/// The lane that ds_swizzle reads, by its offset field.
u32 swizzle_source(u32 lane, u32 pattern) {
  if ((pattern & 0x8000) != 0) return (lane & ~3U) | (pattern >> (2 * (lane & 3)) & 3);
  const u32 and_mask = pattern & 31;
  const u32 or_mask = pattern >> 5 & 31;
  const u32 xor_mask = pattern >> 10 & 31;
  return (lane & ~31U) | ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
}
void swizzle(Wave& w, const Op& op) {
  alignas(64) u32 r[kLanes];
  const u32* a = lanes<u32>(w, op.a);
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 from = swizzle_source(i, static_cast<u32>(op.imm));
    r[i] = (w.exec >> from & 1) != 0 ? a[from] : 0;
  }
  __builtin_memcpy(lanes<u32>(w, op.d), r, sizeof r);
}

/// The lane that a DPP control reads, or -1 beyond the row (or wave).
int dpp_source(u32 lane, u32 control) {
  const u32 row = lane & ~15U;
  const u32 in = lane & 15;
  const u32 n = control & 15;
  if (control <= 0xff) return static_cast<int>((lane & ~3U) | (control >> (2 * (lane & 3)) & 3));
  switch (control & ~15U) {
    case 0x100:
      return in + n < 16 ? static_cast<int>(lane + n) : -1;  // row_shl
    case 0x110:
      return in >= n ? static_cast<int>(lane - n) : -1;  // row_shr
    case 0x120:
      return static_cast<int>(row | ((in - n) & 15));  // row_ror
    case 0x150:
      return static_cast<int>(row | n);  // row_newbcast
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return lane < 63 ? static_cast<int>(lane + 1) : -1;  // wave_shl
    case 0x134:
      return static_cast<int>((lane + 1) & 63);  // wave_rol
    case 0x138:
      return lane > 0 ? static_cast<int>(lane - 1) : -1;  // wave_shr
    case 0x13c:
      return static_cast<int>((lane - 1) & 63);  // wave_ror
    case 0x140:
      return static_cast<int>(row | (15 - in));  // row_mirror
    case 0x141:
      return static_cast<int>((lane & ~7U) | (7 - (lane & 7)));  // row_half_mirror
    case 0x142:
      return lane >= 16 ? static_cast<int>(row - 1) : -1;  // row_bcast:15
    case 0x143:
      return lane >= 32 ? 31 : -1;  // row_bcast:31
    default:
      return -1;
  }
}
/// imm = control | row mask << 16 | bank mask << 20 | bound control << 24; a = old, b = source.
void dpp(Wave& w, const Op& op) {
  alignas(64) u32 sa[kLanes];
  alignas(64) u32 sb[kLanes];
  alignas(64) u32 r[kLanes];
  const u32* old = spread(w, op.a, sa);
  const u32* source = spread(w, op.b, sb);
  const auto imm = static_cast<u32>(op.imm);
  for (u32 i = 0; i < kLanes; ++i) {
    const bool enabled = (imm >> (16 + i / 16) & 1) != 0 && (imm >> (20 + i / 4 % 4) & 1) != 0;
    const int from = dpp_source(i, imm & 0xffff);
    const bool valid = from >= 0 && (w.exec >> (from & 63) & 1) != 0;
    r[i] = !enabled ? old[i] : valid ? source[from & 63] : (imm >> 24 & 1) != 0 ? 0 : old[i];
  }
  __builtin_memcpy(lanes<u32>(w, op.d), r, sizeof r);
}
/// v_permlane{16,32}_swap: odd rows of a change places with even rows of b; imm = rows' lanes.
void permlane_swap(Wave& w, const Op& op) {
  alignas(64) u32 sa[kLanes];
  alignas(64) u32 sb[kLanes];
  alignas(64) u32 ra[kLanes];
  alignas(64) u32 rb[kLanes];
  const u32* a = spread(w, op.a, sa);
  const u32* b = spread(w, op.b, sb);
  const auto row = static_cast<u32>(op.imm);
  for (u32 i = 0; i < kLanes; ++i) {
    const bool odd = (i & row) != 0;
    ra[i] = odd ? b[i - row] : a[i];
    rb[i] = odd ? b[i] : a[i + row];
  }
  __builtin_memcpy(lanes<u32>(w, op.d), ra, sizeof ra);
  __builtin_memcpy(lanes<u32>(w, op.c), rb, sizeof rb);
}

// NOLINTBEGIN(performance-no-int-to-ptr): device addresses are host addresses.

// ---- Memory ----------------------------------------------------------------------------------
//
// Every access is two steps: `resolve` checks the lanes' addresses and yields host pointers (those
// of inactive lanes point into a sink, so that the second step needs no mask), then the values
// move.

/// Is [address, address + bytes) in the region last hit here? If not, asks for the right one.
inline void check(Wave& w, const Op& op, u32 lane, u64 address, Intent intent) {
  Region& region = w.run->sites[op.site];
  if (__builtin_expect(
          address < region.begin || address + op.bytes > region.end || address + op.bytes < address,
          0))
    region = find_region(w, op, lane, address, intent);
}

const u64* global_addresses(Wave& w, const Op& op) {
  return spread<u64>(w, op.a, w.run->addresses);
}

/// Checks global addresses; in the common case only the lowest and the highest.
void check_global(Wave& w, const Op& op, const u64* addresses, Intent intent) {
  const Region& region = w.run->sites[op.site];
  u64 low = ~u64{0};
  u64 high = 0;
  if (w.exec == ~u64{0}) {
    for (u32 i = 0; i < kLanes; ++i) {
      low = addresses[i] < low ? addresses[i] : low;
      high = addresses[i] > high ? addresses[i] : high;
    }
  } else {
    for_each(w.exec, [&](u32 i) {
      low = addresses[i] < low ? addresses[i] : low;
      high = addresses[i] > high ? addresses[i] : high;
    });
  }
  if (low >= region.begin && high < region.end && region.end - high >= op.bytes) return;
  for_each(w.exec, [&](u32 i) { check(w, op, i, addresses[i], intent); });
}

inline u64 sink_pointer(Wave& w, Intent intent) {
  return reinterpret_cast<u64>(intent == Intent::kRead ? w.run->zero.bytes : w.run->sink.bytes);
}

/// Replaces inactive lanes' pointers.
inline const u64* masked(Wave& w, const u64* pointers, Intent intent) {
  if (w.exec == ~u64{0}) return pointers;
  const u64 sink = sink_pointer(w, intent);
  u64* out = w.run->pointers;
  for (u32 i = 0; i < kLanes; ++i) out[i] = (w.exec >> i & 1) != 0 ? pointers[i] : sink;
  return out;
}

const u64* resolve_lds(Wave& w, const Op& op, Intent intent) {
  alignas(64) u32 sa[kLanes];
  const u32* a = spread(w, op.a, sa);
  const u64 size = w.run->lds.size();
  u32 high = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 active = (w.exec >> i & 1) != 0 ? a[i] : 0;
    high = active > high ? active : high;
  }
  if (__builtin_expect(high + u64{op.bytes} > size, 0))
    for_each(w.exec, [&](u32 i) {
      if (a[i] + u64{op.bytes} > size) fault_lds(w, op, i, a[i]);
    });
  const u64 base = reinterpret_cast<u64>(w.run->lds.data());
  u64* out = w.run->pointers;
  LANES out[i] = base + a[i];
  return masked(w, out, intent);
}

const u64* resolve_private(Wave& w, const Op& op, Intent intent) {
  alignas(64) u32 sa[kLanes];
  const u32* a = spread(w, op.a, sa);
  const u64 size = w.run->program->private_bytes;
  const u64 base = reinterpret_cast<u64>(w.private_memory);
  u64* out = w.run->pointers;
  for (u32 i = 0; i < kLanes; ++i) {
    if ((w.exec >> i & 1) != 0) {
      if (a[i] + u64{op.bytes} > size) fault_private(w, op, i, a[i]);
      out[i] = base + size * i + a[i];
    } else {
      out[i] = sink_pointer(w, intent);
    }
  }
  return out;
}

/// Also says which lanes touch device memory.
const u64* resolve_flat(Wave& w, const Op& op, const u64* a, Intent intent, u64& global) {
  u64* out = w.run->pointers;
  const u64 private_size = w.run->program->private_bytes;
  global = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    if ((w.exec >> i & 1) == 0) {
      out[i] = sink_pointer(w, intent);
      continue;
    }
    const u64 offset = a[i] & 0xffffffff;
    switch (a[i] & kApertureMask) {
      case kLdsAperture:
        if (offset + op.bytes > w.run->lds.size()) fault_lds(w, op, i, offset);
        out[i] = reinterpret_cast<u64>(w.run->lds.data()) + offset;
        break;
      case kPrivateAperture:
        if (offset + op.bytes > private_size) fault_private(w, op, i, offset);
        out[i] = reinterpret_cast<u64>(w.private_memory) + private_size * i + offset;
        break;
      default:
        check(w, op, i, a[i], intent);
        out[i] = a[i];
        global |= u64{1} << i;
    }
  }
  return out;
}

inline void record_global(Wave& w, const Op& op, AccessKind kind, u64 mask, const u64* addresses) {
  if (w.run->watched && mask != 0 && w.run->sites[op.site].recorded)
    record(w, op, kind, mask, addresses);
}

constexpr AccessKind kind_of(Intent intent) {
  return intent == Intent::kRead    ? AccessKind::kLoad
         : intent == Intent::kWrite ? AccessKind::kStore
                                    : AccessKind::kAtomic;
}

template <Space kSpace, Intent kIntent>
inline const u64* resolve(Wave& w, const Op& op) {
  if constexpr (kSpace == Space::kGlobal) {
    const u64* a = global_addresses(w, op);
    check_global(w, op, a, kIntent);
    record_global(w, op, kind_of(kIntent), w.exec, a);
    return masked(w, a, kIntent);
  } else if constexpr (kSpace == Space::kLds) {
    return resolve_lds(w, op, kIntent);
  } else if constexpr (kSpace == Space::kPrivate) {
    return resolve_private(w, op, kIntent);
  } else {
    const u64* a = global_addresses(w, op);
    u64 global = 0;
    const u64* p = resolve_flat(w, op, a, kIntent, global);
    record_global(w, op, kind_of(kIntent), global, a);
    return p;
  }
}

template <class T>
struct __attribute__((packed, may_alias)) Unaligned {
  T value;
};

template <Space kSpace, class T>
void load(Wave& w, const Op& op) {
  const u64* p = resolve<kSpace, Intent::kRead>(w, op);
  const u32* list = w.run->program->lists.data() + op.list;
  for (u32 e = 0; e < op.count; ++e) {
    T* d = lanes<T>(w, list[e]);
    const u64 offset = e * sizeof(T);
    for (u32 i = 0; i < kLanes; ++i)
      d[i] = reinterpret_cast<const Unaligned<T>*>(p[i] + offset)->value;
  }
}
template <Space kSpace, class T>
void store(Wave& w, const Op& op) {
  const u64* p = resolve<kSpace, Intent::kWrite>(w, op);
  const u32* list = w.run->program->lists.data() + op.list;
  alignas(64) T scratch[kLanes];
  for (u32 e = 0; e < op.count; ++e) {
    const T* s = spread(w, list[e], scratch);
    const u64 offset = e * sizeof(T);
    for (u32 i = 0; i < kLanes; ++i) reinterpret_cast<Unaligned<T>*>(p[i] + offset)->value = s[i];
  }
}

/// One address for all lanes: recorded as the access of the first one.
void check_uniform(Wave& w, const Op& op, Intent intent, AccessKind kind) {
  const u64 address = scalar<u64>(w, op.a);
  const u32 lane = static_cast<u32>(__builtin_ctzll(w.exec));
  check(w, op, lane, address, intent);
  if (!w.run->watched || !w.run->sites[op.site].recorded) return;
  w.run->addresses[lane] = address;
  record(w, op, kind, u64{1} << lane, w.run->addresses);
}
template <class T>
void load_uniform(Wave& w, const Op& op) {
  check_uniform(w, op, Intent::kRead, AccessKind::kLoad);
  const u64 address = scalar<u64>(w, op.a);
  const u32* list = w.run->program->lists.data() + op.list;
  for (u32 e = 0; e < op.count; ++e)
    *lanes<T>(w, list[e]) = reinterpret_cast<const Unaligned<T>*>(address + e * sizeof(T))->value;
}
template <class T>
void load_lds_uniform(Wave& w, const Op& op) {
  const u64 offset = scalar<u32>(w, op.a);
  if (offset + op.bytes > w.run->lds.size())
    fault_lds(w, op, static_cast<u32>(__builtin_ctzll(w.exec)), offset);
  const u32* list = w.run->program->lists.data() + op.list;
  for (u32 e = 0; e < op.count; ++e)
    *lanes<T>(w, list[e]) =
        reinterpret_cast<const Unaligned<T>*>(w.run->lds.data() + offset + e * sizeof(T))->value;
}

constexpr Intent intent_of(i64 kind) {
  return kind == 0 ? Intent::kRead : kind == 1 ? Intent::kWrite : Intent::kAtomic;
}
void touch(Wave& w, const Op& op) {
  const u64* a = global_addresses(w, op);
  check_global(w, op, a, intent_of(op.imm));
  record_global(w, op, static_cast<AccessKind>(op.imm), w.exec, a);
}
void touch_uniform(Wave& w, const Op& op) {
  check_uniform(w, op, intent_of(op.imm), static_cast<AccessKind>(op.imm));
}
void touch_flat(Wave& w, const Op& op) {
  const u64* a = global_addresses(w, op);
  u64 global = 0;
  resolve_flat(w, op, a, intent_of(op.imm), global);
  record_global(w, op, static_cast<AccessKind>(op.imm), global, a);
}

template <class T>
T combine(AtomicKind kind, T old, T value) {
  if constexpr (!kIsInt<T>) {
    switch (kind) {
      case AtomicKind::kFAdd:
        return FAdd<T>{}(old, value);
      case AtomicKind::kFSub:
        return FSub<T>{}(old, value);
      case AtomicKind::kFMax:
        return FMax<T>{}(old, value);
      case AtomicKind::kFMin:
        return FMin<T>{}(old, value);
      default:
        return value;
    }
  } else {
    switch (kind) {
      case AtomicKind::kAdd:
        return static_cast<T>(old + value);
      case AtomicKind::kSub:
        return static_cast<T>(old - value);
      case AtomicKind::kAnd:
        return static_cast<T>(old & value);
      case AtomicKind::kNand:
        return static_cast<T>(~(old & value));
      case AtomicKind::kOr:
        return static_cast<T>(old | value);
      case AtomicKind::kXor:
        return static_cast<T>(old ^ value);
      case AtomicKind::kMax:
        return SMax<T>{}(old, value);
      case AtomicKind::kMin:
        return SMin<T>{}(old, value);
      case AtomicKind::kUMax:
        return UMax<T>{}(old, value);
      case AtomicKind::kUMin:
        return UMin<T>{}(old, value);
      case AtomicKind::kIncWrap:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case AtomicKind::kDecWrap:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      case AtomicKind::kCondSub:
        return old >= value ? static_cast<T>(old - value) : old;
      case AtomicKind::kSubClamp:
        return USubSat<T>{}(old, value);
      default:
        return value;
    }
  }
}

/// Lanes one after the other, in order. Real atomics, as other blocks may run at the same time.
template <Space kSpace, class T>
void atomic(Wave& w, const Op& op) {
  using U = BitsOf<T>;
  const u64* p = resolve<kSpace, Intent::kAtomic>(w, op);
  const auto kind = static_cast<AtomicKind>(op.imm);
  T* d = lanes<T>(w, op.d);
  const T* values = lanes<T>(w, op.b);
  const T* compared = lanes<T>(w, op.c);
  const bool exchange_if_equal = kind == AtomicKind::kCompareExchange;
  for_each(w.exec, [&](u32 i) {
    if (p[i] % sizeof(T) != 0) fault_misaligned(w, op, i, p[i]);
    U* address = reinterpret_cast<U*>(p[i]);
    const T value = values[is_uniform(op.b) ? 0 : i];
    U old = __atomic_load_n(address, __ATOMIC_RELAXED);
    if (exchange_if_equal) {
      old = bits_as<U>(compared[is_uniform(op.c) ? 0 : i]);
      __atomic_compare_exchange_n(address, &old, bits_as<U>(value), false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
    } else {
      while (!__atomic_compare_exchange_n(address, &old,
                                          bits_as<U>(combine(kind, bits_as<T>(old), value)), false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      }
    }
    d[i] = bits_as<T>(old);
  });
}

/// memcpy and memmove over flat pointers; memset with b = the byte.
template <bool kSet>
void copy_memory(Wave& w, const Op& op) {
  u64 global = 0;
  const u64* to = spread<u64>(w, op.a, w.run->addresses);
  u64 targets[kLanes];
  __builtin_memcpy(targets, resolve_flat(w, op, to, Intent::kWrite, global), sizeof targets);
  if (kSet) {
    record_global(w, op, AccessKind::kStore, global, to);
    for_each(w.exec, [&](u32 i) {
      __builtin_memset(reinterpret_cast<void*>(targets[i]),
                       lanes<u8>(w, op.b)[is_uniform(op.b) ? 0 : i], op.bytes);
    });
    return;
  }
  u64 sources[kLanes];
  u64 source_global = 0;
  alignas(64) u64 spread_from[kLanes];
  const u64* from = spread<u64>(w, op.b, spread_from);
  __builtin_memcpy(sources, resolve_flat(w, op, from, Intent::kRead, source_global),
                   sizeof sources);
  record_global(w, op, AccessKind::kLoad, source_global, from);
  record_global(w, op, AccessKind::kStore, global, to);
  for_each(w.exec, [&](u32 i) {
    __builtin_memmove(reinterpret_cast<void*>(targets[i]), reinterpret_cast<void*>(sources[i]),
                      op.bytes);
  });
}

// NOLINTEND(performance-no-int-to-ptr)

// ---- Matrix instructions ---------------------------------------------------------------------
//
// Which lane holds what (AMD's matrix instruction documents), for one block, L = lanes / M:
//
//     A (M x K)            lane = (k / P) * M + row, element k mod P     P = elements per lane
//     B (K x N)            lane = (k / P) * N + col, element k mod P
//     C, D (M x N)         lane = ((row / 4) mod G) * N + col,  G = 64 / N
//                          element = 4 * (row / (4 G)) + row mod 4
//
//       32x32, G = 2       lanes 0-31          lanes 32-63
//                   e 0-3  rows  0- 3          rows  4- 7
//                   e 4-7  rows  8-11          rows 12-15      and so on
//
// Several blocks (K = P then): A and B have block b in lanes [b M, (b + 1) M). D of 32x32 and 16x16
// has block b in elements [b E, (b + 1) E), E = M N / 64 of one block; D of 4x4 has it in lanes
// [4 b, 4 b + 4). Double precision lays rows out singly: lane = (row mod G) * N + col,
// element = row / G; its 4x4 form has lane = 16 row + 4 b + col.
// Products are accumulated in the order of k, fused.

float to_xf32(float x) {  // ten bits of mantissa are kept, rounded to the nearest even
  const u32 u = bits_as<u32>(x);
  return bits_as<float>((u + 0xfff + (u >> 13 & 1)) & ~0x1fffU);
}

/// Elements of A or B as numbers, [element][lane]. Bytes come packed in 32 or 64 bits.
template <class A>
void matrix_input(Wave& w, const MatrixShape& shape, const u32* list, A (*out)[kLanes]) {
  const auto convert = [&](auto zero, auto&& to_number) {
    using T = decltype(zero);
    alignas(64) T scratch[kLanes];
    for (u32 e = 0; e < shape.per_lane; ++e) {
      const T* in = spread(w, list[e], scratch);
      LANES out[e][i] = static_cast<A>(to_number(in[i]));
    }
  };
  const auto bytes_of = [&](auto zero) {
    using T = decltype(zero);
    alignas(64) T scratch[kLanes];
    for (u32 e = 0; e < shape.per_lane; ++e) {
      const T* in = spread(w, list[e / sizeof(T)], scratch);
      const u32 shift = 8 * (e % sizeof(T));
      LANES out[e][i] =
          static_cast<A>(static_cast<i8>(in[i] >> shift));  // NOLINT(bugprone-signed-char-misuse)
    }
  };
  switch (shape.input) {
    case MatrixInput::kF16:
      convert(_Float16{}, [](_Float16 x) { return wide(x); });
      break;
    case MatrixInput::kBF16:
      convert(BFloat{}, [](BFloat x) { return wide(x); });
      break;
    case MatrixInput::kF32:
      convert(0.0F, [](float x) { return x; });
      break;
    case MatrixInput::kXF32:
      convert(0.0F, [](float x) { return to_xf32(x); });
      break;
    case MatrixInput::kF64:
      convert(0.0, [](double x) { return x; });
      break;
    case MatrixInput::kI8:
      if (shape.per_lane == 8)
        bytes_of(u64{});
      else
        bytes_of(u32{});
  }
}

struct Place {
  u32 lane;
  u32 element;
};
Place result_place(const MatrixShape& s, u32 b, u32 row, u32 col) {
  if (s.input == MatrixInput::kF64)
    return s.m == 4 ? Place{16 * row + 4 * b + col, 0} : Place{row % 4 * 16 + col, row / 4};
  if (s.m == 4) return {4 * b + col, row};
  const u32 groups = kLanes / s.n;
  const u32 per_block = static_cast<u32>(s.m) * s.n / kLanes;
  return {row / 4 % groups * s.n + col, b * per_block + 4 * (row / (4 * groups)) + row % 4};
}
u32 input_lane(const MatrixShape& s, u32 b, u32 index, u32 k) {
  if (s.input == MatrixInput::kF64 && s.m == 4) return 16 * (k / s.per_lane) + 4 * b + index;
  return (s.blocks > 1 ? b : k / s.per_lane) * s.m + index;
}

template <class A>
A multiply_add(A a, A b, A c) {
  if constexpr (std::is_same_v<A, i32>) {
    return static_cast<i32>(static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c));
  } else {
    return fused(a, b, c);
  }
}

/// d += a x b. A row of B, and of D, is a run of lanes.
template <class A, u32 kN>
void multiply(const MatrixShape& s, const A (*a)[kLanes], const A (*b)[kLanes], A (*d)[kLanes]) {
  for (u32 block = 0; block < s.blocks; ++block) {
    for (u32 row = 0; row < s.m; ++row) {
      const Place place = result_place(s, block, row, 0);
      A* out = d[place.element] + place.lane;
      A sum[kN];
      for (u32 col = 0; col < kN; ++col)
        sum[col] = out[col];  // NOLINT(clang-analyzer-core.uninitialized.Assign)
      for (u32 k = 0; k < s.k; ++k) {
        const u32 e = k % s.per_lane;
        const A x = a[e][input_lane(s, block, row, k)];
        const A* y = b[e] + input_lane(s, block, 0, k);
        for (u32 col = 0; col < kN; ++col) sum[col] = multiply_add(x, y[col], sum[col]);
      }
      for (u32 col = 0; col < kN; ++col) out[col] = sum[col];
    }
  }
}

/// The list holds the registers of D, A, B and C, one after the other.
template <class A>
void matrix(Wave& w, const Op& op) {
  const MatrixShape& s = matrix_shape(static_cast<std::size_t>(op.imm));
  const u32 outputs = static_cast<u32>(s.m) * s.n * s.blocks / kLanes;
  const u32* list = w.run->program->lists.data() + op.list;
  const u32 inputs = (op.count - 2 * outputs) / 2;
  alignas(64) A a[16][kLanes];
  alignas(64) A b[16][kLanes];
  alignas(64) A d[32][kLanes];
  alignas(64) A scratch[kLanes];
  matrix_input(w, s, list + outputs, a);
  matrix_input(w, s, list + outputs + inputs, b);
  for (u32 e = 0; e < outputs; ++e)
    __builtin_memcpy(d[e], spread(w, list[outputs + 2 * inputs + e], scratch), sizeof d[e]);
  if (s.n == 32)
    multiply<A, 32>(s, a, b, d);
  else if (s.n == 16)
    multiply<A, 16>(s, a, b, d);
  else
    multiply<A, 4>(s, a, b, d);
  for (u32 e = 0; e < outputs; ++e) __builtin_memcpy(lanes<A>(w, list[e]), d[e], sizeof d[e]);
}

// ---- The table -------------------------------------------------------------------------------

template <class T>
constexpr Type kTypeOf = std::is_same_v<T, u8>         ? Type::kI8
                         : std::is_same_v<T, u16>      ? Type::kI16
                         : std::is_same_v<T, u32>      ? Type::kI32
                         : std::is_same_v<T, u64>      ? Type::kI64
                         : std::is_same_v<T, _Float16> ? Type::kF16
                         : std::is_same_v<T, BFloat>   ? Type::kBF16
                         : std::is_same_v<T, float>    ? Type::kF32
                                                       : Type::kF64;

struct Builder {
  Operations table;

  void set(Code code, Type type, Handler divergent, Handler uniform) {
    table.by_code[static_cast<std::size_t>(code)][static_cast<std::size_t>(type)] = {divergent,
                                                                                     uniform};
  }

  template <template <class> class F, class... T>
  void unaries(Code code) {
    (set(code, kTypeOf<T>, unary<T, T, F<T>>, unary_uniform<T, T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void binaries(Code code) {
    (set(code, kTypeOf<T>, binary<T, T, T, F<T>>, binary_uniform<T, T, T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void ternaries(Code code) {
    (set(code, kTypeOf<T>, ternary<T, F<T>>, ternary_uniform<T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void compares(Code code) {
    (set(code, kTypeOf<T>, compare<T, F<T>>, compare_uniform<T, F<T>>), ...);
  }
  template <template <class> class F>
  void int2(Code code) {
    binaries<F, u8, u16, u32, u64>(code);
  }
  template <template <class> class F>
  void int1(Code code) {
    unaries<F, u8, u16, u32, u64>(code);
  }
  template <template <class> class F>
  void float2(Code code) {
    binaries<F, _Float16, BFloat, float, double>(code);
  }
  template <template <class> class F>
  void float1(Code code) {
    unaries<F, _Float16, BFloat, float, double>(code);
  }
  template <class F>
  void word2(Code code) {
    set(code, Type::kI32, binary<u32, u32, u32, F>, binary_uniform<u32, u32, u32, F>);
  }
  template <class F>
  void word3(Code code) {
    set(code, Type::kI32, ternary<u32, F>, ternary_uniform<u32, F>);
  }

  template <class From, class To>
  void conversion_pair() {
    auto& slot = table.convert[static_cast<std::size_t>(kTypeOf<From>)]
                              [static_cast<std::size_t>(kTypeOf<To>)];
    slot[0] = {unary<To, From, Convert<From, To, false>>,
               unary_uniform<To, From, Convert<From, To, false>>};
    slot[1] = {unary<To, From, Convert<From, To, true>>,
               unary_uniform<To, From, Convert<From, To, true>>};
  }
  template <class From>
  void conversions_from() {
    conversion_pair<From, u8>();
    conversion_pair<From, u16>();
    conversion_pair<From, u32>();
    conversion_pair<From, u64>();
    conversion_pair<From, _Float16>();
    conversion_pair<From, BFloat>();
    conversion_pair<From, float>();
    conversion_pair<From, double>();
    auto& from_mask = table.convert[static_cast<std::size_t>(Type::kMask)]
                                   [static_cast<std::size_t>(kTypeOf<From>)];
    from_mask[0] = {mask_to<From, false>, mask_to_uniform<From, false>};
    from_mask[1] = {mask_to<From, true>, mask_to_uniform<From, true>};
    if constexpr (kIsInt<From>) {
      auto& into_mask = table.convert[static_cast<std::size_t>(kTypeOf<From>)]
                                     [static_cast<std::size_t>(Type::kMask)];
      into_mask[0] = into_mask[1] = {to_mask<From>, to_mask_uniform<From>};
    }
  }

  /// What only depends on the size of an element.
  template <class T>
  void by_size() {
    const Type t = kTypeOf<T>;
    set(Code::kSelect, t, select<T>, select_uniform<T>);
    set(Code::kMove, t, move<T>, move_uniform<T>);
    set(Code::kMoveMasked, t, move_masked<T>, move_uniform<T>);
    set(Code::kPack, t, pack<T>, pack_uniform<T>);
    set(Code::kUnpack, t, unpack<T>, unpack_uniform<T>);
    set(Code::kArgument, t, nullptr, argument<T>);
    set(Code::kReadFirstLane, t, nullptr, read_first_lane<T>);
    set(Code::kReadLane, t, nullptr, read_lane<T>);
    set(Code::kWriteLane, t, write_lane<T>, nullptr);
    set(Code::kLoad, t, load<Space::kGlobal, T>, nullptr);
    set(Code::kLoadUniform, t, nullptr, load_uniform<T>);
    set(Code::kLoadLds, t, load<Space::kLds, T>, nullptr);
    set(Code::kLoadLdsUniform, t, nullptr, load_lds_uniform<T>);
    set(Code::kLoadPrivate, t, load<Space::kPrivate, T>, nullptr);
    set(Code::kLoadFlat, t, load<Space::kFlat, T>, nullptr);
    set(Code::kStore, t, store<Space::kGlobal, T>, nullptr);
    set(Code::kStoreLds, t, store<Space::kLds, T>, nullptr);
    set(Code::kStorePrivate, t, store<Space::kPrivate, T>, nullptr);
    set(Code::kStoreFlat, t, store<Space::kFlat, T>, nullptr);
  }
  template <class T>
  void atomics() {
    const Type t = kTypeOf<T>;
    set(Code::kAtomic, t, atomic<Space::kGlobal, T>, nullptr);
    set(Code::kAtomicLds, t, atomic<Space::kLds, T>, nullptr);
    set(Code::kAtomicPrivate, t, atomic<Space::kPrivate, T>, nullptr);
    set(Code::kAtomicFlat, t, atomic<Space::kFlat, T>, nullptr);
  }
  template <class T>
  void of_floats() {
    const Type t = kTypeOf<T>;
    set(Code::kFma, t, fma_lanes<T>, ternary_uniform<T, Fma<T>>);
    set(Code::kFClass, t, fclass<T>, fclass_uniform<T>);
    set(Code::kLdexp, t, binary<T, T, u32, Ldexp<T>>, binary_uniform<T, T, u32, Ldexp<T>>);
    set(Code::kPowi, t, binary<T, T, u32, Powi<T>>, binary_uniform<T, T, u32, Powi<T>>);
    set(Code::kFrexpExponent, t, unary<u32, T, FrexpExponent<T>>,
        unary_uniform<u32, T, FrexpExponent<T>>);
    set(Code::kIntLogB, t, unary<u32, T, IntLogB<T>>, unary_uniform<u32, T, IntLogB<T>>);
  }

  void integers() {
    int2<Add>(Code::kAdd);
    int2<Sub>(Code::kSub);
    int2<Mul>(Code::kMul);
    int2<And>(Code::kAnd);
    int2<Or>(Code::kOr);
    int2<Xor>(Code::kXor);
    int2<Shl>(Code::kShl);
    int2<LShr>(Code::kLShr);
    int2<AShr>(Code::kAShr);
    int2<UDiv>(Code::kUDiv);
    int2<SDiv>(Code::kSDiv);
    int2<URem>(Code::kURem);
    int2<SRem>(Code::kSRem);
    int2<UMin>(Code::kUMin);
    int2<UMax>(Code::kUMax);
    int2<SMin>(Code::kSMin);
    int2<SMax>(Code::kSMax);
    int2<UAddSat>(Code::kUAddSat);
    int2<USubSat>(Code::kUSubSat);
    int2<SAddSat>(Code::kSAddSat);
    int2<SSubSat>(Code::kSSubSat);
    int1<CtPop>(Code::kCtPop);
    int1<CtLz>(Code::kCtLz);
    int1<CtTz>(Code::kCtTz);
    int1<BSwap>(Code::kBSwap);
    int1<BitReverse>(Code::kBitReverse);
    int1<Abs>(Code::kAbs);
    ternaries<Fshl, u8, u16, u32, u64>(Code::kFshl);
    ternaries<Fshr, u8, u16, u32, u64>(Code::kFshr);
    ternaries<SMed3, u16, u32>(Code::kSMed3);
    ternaries<UMed3, u16, u32>(Code::kUMed3);
    compares<Eq, u8, u16, u32, u64>(Code::kEq);
    compares<ULt, u8, u16, u32, u64>(Code::kULt);
    compares<SLt, u8, u16, u32, u64>(Code::kSLt);
    word3<BfeU>(Code::kBfeU);
    word3<BfeS>(Code::kBfeS);
    word3<Perm>(Code::kPerm);
    word3<SadU8>(Code::kSadU8);
    word3<AlignByte>(Code::kAlignByte);
    word3<Dot4<true>>(Code::kDot4S);
    word3<Dot4<false>>(Code::kDot4U);
    word2<Mul24U>(Code::kMul24U);
    word2<Mul24S>(Code::kMul24S);
    word2<MulHi24U>(Code::kMulHi24U);
    word2<MulHi24S>(Code::kMulHi24S);
    word2<CvtPkRtz>(Code::kCvtPkRtz);
  }

  void masks() {
    const auto both = [this](Code code, Handler h) { set(code, Type::kMask, h, h); };
    both(Code::kAnd, binary_uniform<u64, u64, u64, And<u64>>);
    both(Code::kOr, binary_uniform<u64, u64, u64, Or<u64>>);
    both(Code::kXor, binary_uniform<u64, u64, u64, Xor<u64>>);
    both(Code::kAdd, binary_uniform<u64, u64, u64, Xor<u64>>);
    both(Code::kSub, binary_uniform<u64, u64, u64, Xor<u64>>);
    both(Code::kMul, binary_uniform<u64, u64, u64, And<u64>>);
    both(Code::kSelect, select_mask);
    both(Code::kMove, move_uniform<u64>);
    set(Code::kMoveMasked, Type::kMask, move_masked_mask, move_uniform<u64>);
  }

  void floats() {
    float2<FAdd>(Code::kFAdd);
    float2<FSub>(Code::kFSub);
    float2<FMul>(Code::kFMul);
    float2<FDiv>(Code::kFDiv);
    float2<FRem>(Code::kFRem);
    float2<FMin>(Code::kFMin);
    float2<FMax>(Code::kFMax);
    float2<FMinimum>(Code::kFMinimum);
    float2<FMaximum>(Code::kFMaximum);
    float2<Pow>(Code::kPow);
    float2<Atan2>(Code::kAtan2);
    float2<Hypot>(Code::kHypot);
    float2<Remainder>(Code::kRemainder);
    binaries<NextAfter, float, double>(Code::kNextAfter);
    float2<CopySign>(Code::kCopySign);
    ternaries<FMed3, _Float16, float>(Code::kFMed3);
    compares<FOeq, _Float16, BFloat, float, double>(Code::kFOeq);
    compares<FOlt, _Float16, BFloat, float, double>(Code::kFOlt);
    compares<FOle, _Float16, BFloat, float, double>(Code::kFOle);
    compares<FOne, _Float16, BFloat, float, double>(Code::kFOne);
    compares<FUno, _Float16, BFloat, float, double>(Code::kFUno);
    float1<FNeg>(Code::kFNeg);
    float1<FAbs>(Code::kFAbs);
    float1<Floor>(Code::kFloor);
    float1<Ceil>(Code::kCeil);
    float1<Trunc>(Code::kTrunc);
    float1<Round>(Code::kRound);
    float1<Rint>(Code::kRint);
    float1<Sqrt>(Code::kSqrt);
    float1<Rcp>(Code::kRcp);
    float1<Rsq>(Code::kRsq);
    float1<Fract>(Code::kFract);
    float1<Canonicalize>(Code::kCanonicalize);
    float1<Exp>(Code::kExp);
    float1<Exp2>(Code::kExp2);
    float1<Exp10>(Code::kExp10);
    float1<ExpM1>(Code::kExpM1);
    float1<Log>(Code::kLog);
    float1<Log2>(Code::kLog2);
    float1<Log10>(Code::kLog10);
    float1<Log1P>(Code::kLog1P);
    float1<Sin>(Code::kSin);
    float1<Cos>(Code::kCos);
    float1<Tan>(Code::kTan);
    float1<SinPi>(Code::kSinPi);
    float1<CosPi>(Code::kCosPi);
    float1<SinTurns>(Code::kSinTurns);
    float1<CosTurns>(Code::kCosTurns);
    float1<ASin>(Code::kASin);
    float1<ACos>(Code::kACos);
    float1<ATan>(Code::kATan);
    float1<SinH>(Code::kSinH);
    float1<CosH>(Code::kCosH);
    float1<TanH>(Code::kTanH);
    float1<ASinH>(Code::kASinH);
    float1<ACosH>(Code::kACosH);
    float1<ATanH>(Code::kATanH);
    float1<Erf>(Code::kErf);
    float1<ErfC>(Code::kErfC);
    float1<LGamma>(Code::kLGamma);
    float1<TGamma>(Code::kTGamma);
    float1<Cbrt>(Code::kCbrt);
    float1<LogB>(Code::kLogB);
    float1<J0>(Code::kJ0);
    float1<J1>(Code::kJ1);
    float1<Y0>(Code::kY0);
    float1<Y1>(Code::kY1);
    float1<FrexpMantissa>(Code::kFrexpMantissa);
    of_floats<_Float16>();
    of_floats<BFloat>();
    of_floats<float>();
    of_floats<double>();
  }

  void the_rest() {
    set(Code::kAddressS32, Type::kI64, address<u64, i32>, address_uniform<u64, i32>);
    set(Code::kAddressU32, Type::kI64, address<u64, u32>, address_uniform<u64, u32>);
    set(Code::kAddress, Type::kI64, address<u64, u64>, address_uniform<u64, u64>);
    set(Code::kAddress, Type::kI32, address<u32, u32>, address_uniform<u32, u32>);
    set(Code::kWorkItemId, Type::kI32, work_item_id, nullptr);
    set(Code::kWorkGroupId, Type::kI32, nullptr, work_group_id);
    set(Code::kSpecialAddress, Type::kI64, nullptr, special_address);
    set(Code::kClock, Type::kI64, nullptr, clock);
    set(Code::kWaveId, Type::kI32, nullptr, wave_id);
    set(Code::kMbcntLo, Type::kI32, mbcnt<0>, nullptr);
    set(Code::kMbcntHi, Type::kI32, mbcnt<1>, nullptr);
    set(Code::kBallot, Type::kI64, nullptr, ballot<u64>);
    set(Code::kBallot, Type::kI32, nullptr, ballot<u32>);
    set(Code::kBPermute, Type::kI32, bpermute, nullptr);
    set(Code::kPermute, Type::kI32, permute, nullptr);
    set(Code::kSwizzle, Type::kI32, swizzle, nullptr);
    set(Code::kDpp, Type::kI32, dpp, nullptr);
    set(Code::kPermlaneSwap, Type::kI32, permlane_swap, nullptr);
    set(Code::kTrap, Type::kI32, trap, trap);
    set(Code::kTouch, Type::kI8, touch, nullptr);
    set(Code::kTouchUniform, Type::kI8, nullptr, touch_uniform);
    set(Code::kTouchFlat, Type::kI8, touch_flat, nullptr);
    set(Code::kCopyMemory, Type::kI8, copy_memory<false>, nullptr);
    set(Code::kSetMemory, Type::kI8, copy_memory<true>, nullptr);
    set(Code::kIsAperture, Type::kI64, is_aperture, is_aperture_uniform);
    set(Code::kToFlat32, Type::kI64, to_flat32, to_flat32_uniform);
    set(Code::kFromFlat32, Type::kI32, from_flat32, from_flat32_uniform);
    set(Code::kMatrix, Type::kF32, matrix<float>, nullptr);
    set(Code::kMatrix, Type::kF64, matrix<double>, nullptr);
    set(Code::kMatrix, Type::kI32, matrix<i32>, nullptr);
  }

  Builder() {
    integers();
    masks();
    floats();
    conversions_from<u8>();
    conversions_from<u16>();
    conversions_from<u32>();
    conversions_from<u64>();
    conversions_from<_Float16>();
    conversions_from<BFloat>();
    conversions_from<float>();
    conversions_from<double>();
    by_size<u8>();
    by_size<u16>();
    by_size<u32>();
    by_size<u64>();
    atomics<u8>();
    atomics<u16>();
    atomics<u32>();
    atomics<u64>();
    atomics<_Float16>();
    atomics<BFloat>();
    atomics<float>();
    atomics<double>();
    the_rest();
  }
};

}  // namespace

const Operations& CONCAT(operations_, ISA_NAME)() {
  static const Builder builder;
  return builder.table;
}

}  // namespace swizzleperf::vgpu
