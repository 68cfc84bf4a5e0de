// Where an access goes. Every access is two steps: `resolve` checks the lanes' addresses and yields
// host pointers (those of inactive lanes point into a sink, so that the second step needs no mask),
// then the values move.
#pragma once

#include "vgpu/exec/ops/lanes.h"

// NOLINTBEGIN(performance-no-int-to-ptr): device addresses are host addresses.

namespace swizzleperf::vgpu {
namespace {

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

constexpr Intent intent_of(i64 kind) {
  return kind == 0 ? Intent::kRead : kind == 1 ? Intent::kWrite : Intent::kAtomic;
}

}  // namespace
}  // namespace swizzleperf::vgpu

// NOLINTEND(performance-no-int-to-ptr)
