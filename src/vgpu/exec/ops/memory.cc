// Loads, stores, copies, and accesses that are only recorded.
#include "vgpu/exec/ops/memory.h"

// NOLINTBEGIN(performance-no-int-to-ptr): device addresses are host addresses.

namespace swizzleperf::vgpu {
namespace {

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
  if constexpr (kSpace != Space::kPrivate) ++w.run->effects;
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

/// memcpy and memmove over flat pointers; memset with b = the byte.
template <bool kSet>
void copy_memory(Wave& w, const Op& op) {
  u64 global = 0;
  const u64* to = spread<u64>(w, op.a, w.run->addresses);
  u64 targets[kLanes];
  ++w.run->effects;
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

template <class T>
void add_of_size(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kLoad, t, load<Space::kGlobal, T>, nullptr);
  table.set(Code::kLoadUniform, t, nullptr, load_uniform<T>);
  table.set(Code::kLoadLds, t, load<Space::kLds, T>, nullptr);
  table.set(Code::kLoadLdsUniform, t, nullptr, load_lds_uniform<T>);
  table.set(Code::kLoadPrivate, t, load<Space::kPrivate, T>, nullptr);
  table.set(Code::kLoadFlat, t, load<Space::kFlat, T>, nullptr);
  table.set(Code::kStore, t, store<Space::kGlobal, T>, nullptr);
  table.set(Code::kStoreLds, t, store<Space::kLds, T>, nullptr);
  table.set(Code::kStorePrivate, t, store<Space::kPrivate, T>, nullptr);
  table.set(Code::kStoreFlat, t, store<Space::kFlat, T>, nullptr);
}

}  // namespace

void CONCAT(add_memory_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  add_of_size<u8>(table);
  add_of_size<u16>(table);
  add_of_size<u32>(table);
  add_of_size<u64>(table);
  table.set(Code::kTouch, Type::kI8, touch, nullptr);
  table.set(Code::kTouchUniform, Type::kI8, nullptr, touch_uniform);
  table.set(Code::kTouchFlat, Type::kI8, touch_flat, nullptr);
  table.set(Code::kCopyMemory, Type::kI8, copy_memory<false>, nullptr);
  table.set(Code::kSetMemory, Type::kI8, copy_memory<true>, nullptr);
}

}  // namespace swizzleperf::vgpu

// NOLINTEND(performance-no-int-to-ptr)
