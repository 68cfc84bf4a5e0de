// Registers, and the loops over their lanes.
//
// The loops run over all 64 lanes, active or not: the compiler turns them into vector code, and a
// lane outside the mask computes something nobody reads. So nothing here may trap: divisions and
// conversions are defined for every input. Destination and operand registers of one size either
// coincide or are disjoint, which is what LANES promises to the vectoriser.
//
// The files of operations are compiled twice, with and without AVX2 (ISA_NAME tells them apart),
// and therefore everything is in an unnamed namespace, with no inline function of a library in the
// hot loops. Each file adds its operations to the table through one function, add_FILE_ISA.
#pragma once

#include <immintrin.h>

#include "vgpu/exec/ops/numbers.h"
#include "vgpu/exec/ops/parts.h"
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
/// Enters operations, by the form they have.
struct Table {
  Operations& operations;

  void set(Code code, Type type, Handler divergent, Handler uniform) const {
    operations.by_code[static_cast<std::size_t>(code)][static_cast<std::size_t>(type)] = {divergent,
                                                                                          uniform};
  }
  template <template <class> class F, class... T>
  void unaries(Code code) const {
    (set(code, kTypeOf<T>, unary<T, T, F<T>>, unary_uniform<T, T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void binaries(Code code) const {
    (set(code, kTypeOf<T>, binary<T, T, T, F<T>>, binary_uniform<T, T, T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void ternaries(Code code) const {
    (set(code, kTypeOf<T>, ternary<T, F<T>>, ternary_uniform<T, F<T>>), ...);
  }
  template <template <class> class F, class... T>
  void compares(Code code) const {
    (set(code, kTypeOf<T>, compare<T, F<T>>, compare_uniform<T, F<T>>), ...);
  }
  template <template <class> class F>
  void int2(Code code) const {
    binaries<F, u8, u16, u32, u64>(code);
  }
  template <template <class> class F>
  void int1(Code code) const {
    unaries<F, u8, u16, u32, u64>(code);
  }
  template <template <class> class F>
  void float2(Code code) const {
    binaries<F, _Float16, BFloat, float, double>(code);
  }
  template <template <class> class F>
  void float1(Code code) const {
    unaries<F, _Float16, BFloat, float, double>(code);
  }
  template <class F>
  void word2(Code code) const {
    set(code, Type::kI32, binary<u32, u32, u32, F>, binary_uniform<u32, u32, u32, F>);
  }
  template <class F>
  void word3(Code code) const {
    set(code, Type::kI32, ternary<u32, F>, ternary_uniform<u32, F>);
  }
};

}  // namespace
}  // namespace swizzleperf::vgpu
