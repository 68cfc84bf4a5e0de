// Conversions between element types.
#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

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

void from_tiny(Wave& w, const Op& op) {
  const u32* a = lanes<u32>(w, op.a);
  float* d = lanes<float>(w, op.d);
  const u32 shift = 8 * (static_cast<u32>(op.imm) & 15);
  const auto tiny = static_cast<Tiny>(op.imm >> 4);
  for (u32 i = 0; i < kLanes; ++i) d[i] = tiny_to_float(tiny, a[i] >> shift & 0xff);
}
void to_tiny(Wave& w, const Op& op) {
  alignas(64) float sa[kLanes];
  alignas(64) float sb[kLanes];
  alignas(64) u32 sc[kLanes];
  const float* a = spread(w, op.a, sa);
  const float* b = spread(w, op.b, sb);
  const u32* c = spread(w, op.c, sc);
  u32* d = lanes<u32>(w, op.d);
  const u32 shift = 16 * (static_cast<u32>(op.imm) & 15);
  const auto tiny = static_cast<Tiny>(op.imm >> 4);
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 both = float_to_tiny(tiny, a[i]) | float_to_tiny(tiny, b[i]) << 8;
    d[i] = (c[i] & ~(u32{0xffff} << shift)) | both << shift;
  }
}
/// Random bits are added below the mantissa that is kept; then the rest is cut off.
void to_tiny_stochastic(Wave& w, const Op& op) {
  alignas(64) float sa[kLanes];
  alignas(64) u32 sb[kLanes];
  alignas(64) u32 sc[kLanes];
  const float* a = spread(w, op.a, sa);
  const u32* b = spread(w, op.b, sb);
  const u32* c = spread(w, op.c, sc);
  u32* d = lanes<u32>(w, op.d);
  const u32 shift = 8 * (static_cast<u32>(op.imm) & 15);
  const auto tiny = static_cast<Tiny>(op.imm >> 4);
  const u32 kept = static_cast<u32>(format_of(tiny).mantissa_bits);
  for (u32 i = 0; i < kLanes; ++i) {
    const bool finite = std::isfinite(a[i]);
    const float moved = finite ? bits_as<float>(bits_as<u32>(a[i]) + (b[i] >> (9 + kept))) : a[i];
    d[i] = (c[i] & ~(u32{0xff} << shift)) | float_to_tiny(tiny, moved, true) << shift;
  }
}

template <class From, class To>
void add_pair(Operations& operations) {
  auto& slot =
      operations
          .convert[static_cast<std::size_t>(kTypeOf<From>)][static_cast<std::size_t>(kTypeOf<To>)];
  slot[0] = {unary<To, From, Convert<From, To, false>>,
             unary_uniform<To, From, Convert<From, To, false>>};
  slot[1] = {unary<To, From, Convert<From, To, true>>,
             unary_uniform<To, From, Convert<From, To, true>>};
}

template <class From>
void add_from(Operations& operations) {
  add_pair<From, u8>(operations);
  add_pair<From, u16>(operations);
  add_pair<From, u32>(operations);
  add_pair<From, u64>(operations);
  add_pair<From, _Float16>(operations);
  add_pair<From, BFloat>(operations);
  add_pair<From, float>(operations);
  add_pair<From, double>(operations);
  auto& from_mask =
      operations
          .convert[static_cast<std::size_t>(Type::kMask)][static_cast<std::size_t>(kTypeOf<From>)];
  from_mask[0] = {mask_to<From, false>, mask_to_uniform<From, false>};
  from_mask[1] = {mask_to<From, true>, mask_to_uniform<From, true>};
  if constexpr (kIsInt<From>) {
    auto& into_mask = operations.convert[static_cast<std::size_t>(kTypeOf<From>)]
                                        [static_cast<std::size_t>(Type::kMask)];
    into_mask[0] = into_mask[1] = {to_mask<From>, to_mask_uniform<From>};
  }
}

}  // namespace

void CONCAT(add_conversions_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  table.set(Code::kFromTiny, Type::kI32, from_tiny, nullptr);
  table.set(Code::kToTiny, Type::kI32, to_tiny, nullptr);
  table.set(Code::kToTinyStochastic, Type::kI32, to_tiny_stochastic, nullptr);
  add_from<u8>(operations);
  add_from<u16>(operations);
  add_from<u32>(operations);
  add_from<u64>(operations);
  add_from<_Float16>(operations);
  add_from<BFloat>(operations);
  add_from<float>(operations);
  add_from<double>(operations);
}

}  // namespace swizzleperf::vgpu
