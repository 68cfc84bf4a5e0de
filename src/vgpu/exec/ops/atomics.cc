// Atomic operations: of every type, in every address space.
#include "vgpu/exec/ops/memory.h"

// NOLINTBEGIN(performance-no-int-to-ptr): device addresses are host addresses.

namespace swizzleperf::vgpu {
namespace {

/// Both halves of a word, as numbers.
template <class T, class Half>
T add_pair(T old, T value) {
  u32 sums = 0;
  for (u32 shift = 0; shift < 32; shift += 16) {
    const auto a = bits_as<Half>(static_cast<u16>(u64{old} >> shift));
    const auto b = bits_as<Half>(static_cast<u16>(u64{value} >> shift));
    sums |= u32{bits_as<u16>(FAdd<Half>{}(a, b))} << shift;
  }
  return static_cast<T>(sums);
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
      case AtomicKind::kHalfPairAdd:
        return add_pair<T, _Float16>(old, value);
      case AtomicKind::kBFloatPairAdd:
        return add_pair<T, BFloat>(old, value);
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
      const bool swapped = __atomic_compare_exchange_n(address, &old, bits_as<U>(value), false,
                                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      w.run->effects += swapped && old != bits_as<U>(value) ? 1 : 0;
    } else {
      U after = bits_as<U>(combine(kind, bits_as<T>(old), value));
      while (!__atomic_compare_exchange_n(address, &old, after, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST))
        after = bits_as<U>(combine(kind, bits_as<T>(old), value));
      w.run->effects += old != after ? 1 : 0;
    }
    d[i] = bits_as<T>(old);
  });
}

template <class T>
void add_of_size(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kAtomic, t, atomic<Space::kGlobal, T>, nullptr);
  table.set(Code::kAtomicLds, t, atomic<Space::kLds, T>, nullptr);
  table.set(Code::kAtomicPrivate, t, atomic<Space::kPrivate, T>, nullptr);
  table.set(Code::kAtomicFlat, t, atomic<Space::kFlat, T>, nullptr);
}

}  // namespace

void CONCAT(add_atomics_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  add_of_size<u8>(table);
  add_of_size<u16>(table);
  add_of_size<u32>(table);
  add_of_size<u64>(table);
  add_of_size<_Float16>(table);
  add_of_size<BFloat>(table);
  add_of_size<float>(table);
  add_of_size<double>(table);
}

}  // namespace swizzleperf::vgpu

// NOLINTEND(performance-no-int-to-ptr)
