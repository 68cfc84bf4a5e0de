// The launch and the lanes: who am I, and what do the others of my wave hold.
#include <cstring>

#include "vgpu/exec/ops/lanes.h"

namespace swizzleperf::vgpu {
namespace {

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
  const std::string& message = w.run->error_text;
  fault(w, op, static_cast<u32>(__builtin_ctzll(w.exec)),
        message.empty() ? "stops itself (trap or failed assertion)"
                        : "stops itself: " + message.substr(0, message.find('\n')));
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

template <class T>
void add_of_size(const Table& table) {
  const Type t = kTypeOf<T>;
  table.set(Code::kArgument, t, nullptr, argument<T>);
  table.set(Code::kReadFirstLane, t, nullptr, read_first_lane<T>);
  table.set(Code::kReadLane, t, nullptr, read_lane<T>);
  table.set(Code::kWriteLane, t, write_lane<T>, nullptr);
}

}  // namespace

void CONCAT(add_cross_lane_, ISA_NAME)(Operations& operations) {
  const Table table{operations};
  add_of_size<u8>(table);
  add_of_size<u16>(table);
  add_of_size<u32>(table);
  add_of_size<u64>(table);
  table.set(Code::kWorkItemId, Type::kI32, work_item_id, nullptr);
  table.set(Code::kWorkGroupId, Type::kI32, nullptr, work_group_id);
  table.set(Code::kSpecialAddress, Type::kI64, nullptr, special_address);
  table.set(Code::kClock, Type::kI64, nullptr, clock);
  table.set(Code::kWaveId, Type::kI32, nullptr, wave_id);
  table.set(Code::kMbcntLo, Type::kI32, mbcnt<0>, nullptr);
  table.set(Code::kMbcntHi, Type::kI32, mbcnt<1>, nullptr);
  table.set(Code::kBallot, Type::kI64, nullptr, ballot<u64>);
  table.set(Code::kBallot, Type::kI32, nullptr, ballot<u32>);
  table.set(Code::kBPermute, Type::kI32, bpermute, nullptr);
  table.set(Code::kPermute, Type::kI32, permute, nullptr);
  table.set(Code::kSwizzle, Type::kI32, swizzle, nullptr);
  table.set(Code::kDpp, Type::kI32, dpp, nullptr);
  table.set(Code::kPermlaneSwap, Type::kI32, permlane_swap, nullptr);
  table.set(Code::kTrap, Type::kI32, trap, trap);
}

}  // namespace swizzleperf::vgpu
