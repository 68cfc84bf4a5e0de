// Floating point as instructions have it: arithmetic, rounding, comparisons, classes.
#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

COMPARE(FOeq, wide(a) == wide(b));
COMPARE(FOlt, wide(a) < wide(b));
COMPARE(FOle, wide(a) <= wide(b));
COMPARE(FOne, (wide(a) < wide(b)) | (wide(a) > wide(b)));
COMPARE(FUno, (wide(a) != wide(a)) | (wide(b) != wide(b)));

FLOAT2(FMul, a* b);
FLOAT2(FDiv, a / b);
FLOAT2(FRem, std::fmod(a, b));
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

FLOAT1(Floor, std::floor(a));
FLOAT1(Ceil, std::ceil(a));
FLOAT1(Trunc, std::trunc(a));
FLOAT1(Round, std::round(a));
FLOAT1(Rint, std::nearbyint(a));
FLOAT1(Sqrt, std::sqrt(a));
FLOAT1(Rcp, W{1} / a);
FLOAT1(Rsq, W{1} / std::sqrt(a));
FLOAT1(Canonicalize, a);
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

/// A product that is 0 if a factor is, whatever the other.
FLOAT2(MulLegacy, a == 0 || b == 0 ? Wide<T>{0} : a * b);

/// v_div_fixup: our quotient is exact from the start.
template <class T>
struct Fixup {
  T operator()(T /*quotient*/, T denominator, T numerator) const {
    return narrow<T>(wide(numerator) / wide(denominator));
  }
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

template <class T>
void add_float(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kFma, t, fma_lanes<T>, ternary_uniform<T, Fma<T>>);
  table.set(Code::kFClass, t, fclass<T>, fclass_uniform<T>);
  table.set(Code::kLdexp, t, binary<T, T, u32, Ldexp<T>>, binary_uniform<T, T, u32, Ldexp<T>>);
  table.set(Code::kFrexpExponent, t, unary<u32, T, FrexpExponent<T>>,
            unary_uniform<u32, T, FrexpExponent<T>>);
}

}  // namespace

void CONCAT(add_floats_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  table.float2<FAdd>(Code::kFAdd);
  table.float2<FSub>(Code::kFSub);
  table.float2<FMul>(Code::kFMul);
  table.float2<FDiv>(Code::kFDiv);
  table.float2<FRem>(Code::kFRem);
  table.float2<FMin>(Code::kFMin);
  table.float2<FMax>(Code::kFMax);
  table.float2<FMinimum>(Code::kFMinimum);
  table.float2<FMaximum>(Code::kFMaximum);
  table.float2<CopySign>(Code::kCopySign);
  table.binaries<MulLegacy, float>(Code::kMulLegacy);
  table.ternaries<Fixup, _Float16, float, double>(Code::kFixup);
  table.ternaries<FMed3, _Float16, float>(Code::kFMed3);
  table.compares<FOeq, _Float16, BFloat, float, double>(Code::kFOeq);
  table.compares<FOlt, _Float16, BFloat, float, double>(Code::kFOlt);
  table.compares<FOle, _Float16, BFloat, float, double>(Code::kFOle);
  table.compares<FOne, _Float16, BFloat, float, double>(Code::kFOne);
  table.compares<FUno, _Float16, BFloat, float, double>(Code::kFUno);
  table.float1<FNeg>(Code::kFNeg);
  table.float1<FAbs>(Code::kFAbs);
  table.float1<Floor>(Code::kFloor);
  table.float1<Ceil>(Code::kCeil);
  table.float1<Trunc>(Code::kTrunc);
  table.float1<Round>(Code::kRound);
  table.float1<Rint>(Code::kRint);
  table.float1<Sqrt>(Code::kSqrt);
  table.float1<Rcp>(Code::kRcp);
  table.float1<Rsq>(Code::kRsq);
  table.float1<Fract>(Code::kFract);
  table.float1<Canonicalize>(Code::kCanonicalize);
  table.float1<FrexpMantissa>(Code::kFrexpMantissa);
  add_float<_Float16>(table);
  add_float<BFloat>(table);
  add_float<float>(table);
  add_float<double>(table);
}

}  // namespace swizzleperf::vgpu
