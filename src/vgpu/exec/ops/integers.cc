// Integers: arithmetic, bits, and what AMD's instructions do with bytes and 24-bit numbers.
#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

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
BINARY(UAddSat, static_cast<T>(a + b) < a ? static_cast<T>(~T{0}) : static_cast<T>(a + b));

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
struct SadHiU8 {
  u32 operator()(u32 a, u32 b, u32 c) const { return (SadU8{}(a, b, 0) << 16) + c; }
};
struct SadU16 {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 shift = 0; shift < 32; shift += 16) {
      const u32 x = a >> shift & 0xffff;
      const u32 y = b >> shift & 0xffff;
      c += x > y ? x - y : y - x;
    }
    return c;
  }
};
/// Bytes of b that are 0 are left out.
struct MSadU8 {
  u32 operator()(u32 a, u32 b, u32 c) const {
    for (u32 i = 0; i < 4; ++i) {
      const u32 x = a >> (8 * i) & 0xff;
      const u32 y = b >> (8 * i) & 0xff;
      c += y == 0 ? 0 : x > y ? x - y : y - x;
    }
    return c;
  }
};
/// Means of bytes, rounded up where c has a bit.
struct Lerp {
  u32 operator()(u32 a, u32 b, u32 c) const {
    u32 r = 0;
    for (u32 shift = 0; shift < 32; shift += 8)
      r |= ((a >> shift & 0xff) + (b >> shift & 0xff) + (c >> shift & 1)) >> 1 << shift;
    return r;
  }
};
/// A float, saturated to a byte, into byte b of c.
struct CvtPkU8 {
  u32 operator()(u32 a, u32 b, u32 c) const {
    const float x = std::nearbyint(bits_as<float>(a));
    const u32 byte = !(x > 0) ? 0 : x > 255 ? 255 : static_cast<u32>(x);
    const u32 shift = 8 * (b & 3);
    return (c & ~(u32{0xff} << shift)) | byte << shift;
  }
};
/// [-1, 1] (or [0, 1]) to the whole range of 16 bits.
template <bool kSigned>
struct CvtPkNorm {
  static u32 one(float x) {
    const float low = kSigned ? -1.0F : 0.0F;
    const float in = x != x ? 0 : x < low ? low : x > 1 ? 1 : x;
    const float scaled = std::nearbyint(in * (kSigned ? 32767.0F : 65535.0F));
    return static_cast<u32>(static_cast<i32>(scaled)) & 0xffff;
  }
  u32 operator()(u32 a, u32 b) const {
    return one(bits_as<float>(a)) | one(bits_as<float>(b)) << 16;
  }
};
struct CvtPkI16 {
  static u32 one(u32 x) {
    const auto v = static_cast<i32>(x);
    return static_cast<u32>(v < -32768 ? -32768 : v > 32767 ? 32767 : v) & 0xffff;
  }
  u32 operator()(u32 a, u32 b) const { return one(a) | one(b) << 16; }
};
struct CvtPkU16 {
  static u32 one(u32 x) { return x > 0xffff ? 0xffff : x; }
  u32 operator()(u32 a, u32 b) const { return one(a) | one(b) << 16; }
};
/// How many bits from the top equal the sign, -1 if all do.
template <class T>
struct SignBits {
  T operator()(T a) const {
    const T folded = static_cast<Signed<T>>(a) < 0 ? static_cast<T>(~a) : a;
    return folded == 0 ? static_cast<T>(~T{0}) : CtLz<T>{}(folded);
  }
};
template <class T>
void bit_op3(Wave& w, const Op& op) {
  alignas(64) T sa[kLanes];
  alignas(64) T sb[kLanes];
  alignas(64) T sc[kLanes];
  const T* a = spread(w, op.a, sa);
  const T* b = spread(w, op.b, sb);
  const T* c = spread(w, op.c, sc);
  T* d = lanes<T>(w, op.d);
  for (u32 i = 0; i < kLanes; ++i) {
    T r = 0;
    for (u32 row = 0; row < 8; ++row) {
      if ((op.imm >> row & 1) == 0) continue;
      r |= static_cast<T>(((row & 4) != 0 ? a[i] : static_cast<T>(~a[i])) &
                          ((row & 2) != 0 ? b[i] : static_cast<T>(~b[i])) &
                          ((row & 1) != 0 ? c[i] : static_cast<T>(~c[i])));
    }
    d[i] = r;
  }
}
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

COMPARE(Eq, a == b);
COMPARE(ULt, a < b);
COMPARE(SLt, static_cast<Signed<T>>(a) < static_cast<Signed<T>>(b));

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

/// Conditions are integers of one bit, with the same bits for all 64 lanes at once.
void add_masks(const Table& table) {
  const auto both = [&](Code code, Handler h) { table.set(code, Type::kMask, h, h); };
  both(Code::kAnd, binary_uniform<u64, u64, u64, And<u64>>);
  both(Code::kOr, binary_uniform<u64, u64, u64, Or<u64>>);
  both(Code::kXor, binary_uniform<u64, u64, u64, Xor<u64>>);
  both(Code::kAdd, binary_uniform<u64, u64, u64, Xor<u64>>);
  both(Code::kSub, binary_uniform<u64, u64, u64, Xor<u64>>);
  both(Code::kMul, binary_uniform<u64, u64, u64, And<u64>>);
}

}  // namespace

void CONCAT(add_integers_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  table.int2<Add>(Code::kAdd);
  table.int2<Sub>(Code::kSub);
  table.int2<Mul>(Code::kMul);
  table.int2<And>(Code::kAnd);
  table.int2<Or>(Code::kOr);
  table.int2<Xor>(Code::kXor);
  table.int2<Shl>(Code::kShl);
  table.int2<LShr>(Code::kLShr);
  table.int2<AShr>(Code::kAShr);
  table.int2<UDiv>(Code::kUDiv);
  table.int2<SDiv>(Code::kSDiv);
  table.int2<URem>(Code::kURem);
  table.int2<SRem>(Code::kSRem);
  table.int2<UMin>(Code::kUMin);
  table.int2<UMax>(Code::kUMax);
  table.int2<SMin>(Code::kSMin);
  table.int2<SMax>(Code::kSMax);
  table.int2<UAddSat>(Code::kUAddSat);
  table.int2<USubSat>(Code::kUSubSat);
  table.int2<SAddSat>(Code::kSAddSat);
  table.int2<SSubSat>(Code::kSSubSat);
  table.int1<CtPop>(Code::kCtPop);
  table.int1<CtLz>(Code::kCtLz);
  table.int1<CtTz>(Code::kCtTz);
  table.int1<BSwap>(Code::kBSwap);
  table.int1<BitReverse>(Code::kBitReverse);
  table.int1<Abs>(Code::kAbs);
  table.ternaries<Fshl, u8, u16, u32, u64>(Code::kFshl);
  table.ternaries<Fshr, u8, u16, u32, u64>(Code::kFshr);
  table.ternaries<SMed3, u16, u32>(Code::kSMed3);
  table.ternaries<UMed3, u16, u32>(Code::kUMed3);
  table.compares<Eq, u8, u16, u32, u64>(Code::kEq);
  table.compares<ULt, u8, u16, u32, u64>(Code::kULt);
  table.compares<SLt, u8, u16, u32, u64>(Code::kSLt);
  table.word3<BfeU>(Code::kBfeU);
  table.word3<BfeS>(Code::kBfeS);
  table.word3<Perm>(Code::kPerm);
  table.word3<SadU8>(Code::kSadU8);
  table.word3<AlignByte>(Code::kAlignByte);
  table.word3<Dot4<true>>(Code::kDot4S);
  table.word3<Dot4<false>>(Code::kDot4U);
  table.word2<Mul24U>(Code::kMul24U);
  table.word2<Mul24S>(Code::kMul24S);
  table.word2<MulHi24U>(Code::kMulHi24U);
  table.word2<MulHi24S>(Code::kMulHi24S);
  table.word2<CvtPkRtz>(Code::kCvtPkRtz);
  table.word3<SadHiU8>(Code::kSadHiU8);
  table.word3<SadU16>(Code::kSadU16);
  table.word3<MSadU8>(Code::kMSadU8);
  table.word3<Lerp>(Code::kLerp);
  table.word3<CvtPkU8>(Code::kCvtPkU8);
  table.word2<CvtPkNorm<true>>(Code::kCvtPkNormI16);
  table.word2<CvtPkNorm<false>>(Code::kCvtPkNormU16);
  table.word2<CvtPkI16>(Code::kCvtPkI16);
  table.word2<CvtPkU16>(Code::kCvtPkU16);
  table.unaries<SignBits, u32>(Code::kSignBits);
  table.set(Code::kBitOp3, Type::kI16, bit_op3<u16>, nullptr);
  table.set(Code::kBitOp3, Type::kI32, bit_op3<u32>, nullptr);
  add_masks(table);
}

}  // namespace swizzleperf::vgpu
