// What moves and arranges values without computing: selections, copies, packing, addresses.
#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

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

template <class T>
void add_of_size(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kSelect, t, select<T>, select_uniform<T>);
  table.set(Code::kMove, t, move<T>, move_uniform<T>);
  table.set(Code::kMoveMasked, t, move_masked<T>, move_uniform<T>);
  table.set(Code::kPack, t, pack<T>, pack_uniform<T>);
  table.set(Code::kUnpack, t, unpack<T>, unpack_uniform<T>);
}

}  // namespace

void CONCAT(add_moves_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  add_of_size<u8>(table);
  add_of_size<u16>(table);
  add_of_size<u32>(table);
  add_of_size<u64>(table);
  table.set(Code::kSelect, Type::kMask, select_mask, select_mask);
  table.set(Code::kMove, Type::kMask, move_uniform<u64>, move_uniform<u64>);
  table.set(Code::kMoveMasked, Type::kMask, move_masked_mask, move_uniform<u64>);
  table.set(Code::kAddressS32, Type::kI64, address<u64, i32>, address_uniform<u64, i32>);
  table.set(Code::kAddressU32, Type::kI64, address<u64, u32>, address_uniform<u64, u32>);
  table.set(Code::kAddress, Type::kI64, address<u64, u64>, address_uniform<u64, u64>);
  table.set(Code::kAddress, Type::kI32, address<u32, u32>, address_uniform<u32, u32>);
  table.set(Code::kIsAperture, Type::kI64, is_aperture, is_aperture_uniform);
  table.set(Code::kToFlat32, Type::kI64, to_flat32, to_flat32_uniform);
  table.set(Code::kFromFlat32, Type::kI32, from_flat32, from_flat32_uniform);
}

}  // namespace swizzleperf::vgpu
