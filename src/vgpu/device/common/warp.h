// Collectives of a warp, or of a part of one ("logical warp") of any size: each step reads other
// lanes' registers. Values of any type go over in words.
#pragma once
#pragma clang system_header

#include "operators.h"

#define SWIZZLEPERF_CUB_DEVICE inline __attribute__((device, always_inline))

namespace SWIZZLEPERF_CUB {

#if defined(__AMDGCN_WAVEFRONT_SIZE)
constexpr int kSwizzleperfWarp = __AMDGCN_WAVEFRONT_SIZE;
#else
constexpr int kSwizzleperfWarp = 64;
#endif

SWIZZLEPERF_CUB_DEVICE unsigned LaneId() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
SWIZZLEPERF_CUB_DEVICE unsigned RowMajorTid(int block_x, int block_y, int) {
  return (unsigned)(((int)threadIdx.z * block_y + (int)threadIdx.y) * block_x + (int)threadIdx.x);
}
SWIZZLEPERF_CUB_DEVICE unsigned WarpId() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / kSwizzleperfWarp;
}
SWIZZLEPERF_CUB_DEVICE void CTA_SYNC() { __syncthreads(); }
SWIZZLEPERF_CUB_DEVICE void WARP_SYNC(unsigned) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

namespace detail {

/// `value` as the given lane holds it.
template <class T>
SWIZZLEPERF_CUB_DEVICE T from_lane(const T& value, int lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof value);
  for (int k = 0; k < kWords; ++k) words[k] = __builtin_amdgcn_ds_bpermute(lane << 2, words[k]);
  T result = value;
  __builtin_memcpy((void*)&result, words, sizeof result);
  return result;
}

/// Memory for n objects that nobody has constructed, as shared memory wants it.
template <class T, int n = 1>
struct Room {
  alignas(T) unsigned char bytes[n * sizeof(T)];
  SWIZZLEPERF_CUB_DEVICE T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};

template <class T, class Op>
SWIZZLEPERF_CUB_DEVICE T reduce_items(const T* items, int n, Op& op) {
  T sum = items[0];
  for (int i = 1; i < n; ++i) sum = op(sum, items[i]);
  return sum;
}

/// The place of this lane in its logical warp.
template <int kThreads>
struct Logical {
  int lane, rank;
  SWIZZLEPERF_CUB_DEVICE Logical() : lane((int)LaneId()), rank(lane % kThreads) {}
  SWIZZLEPERF_CUB_DEVICE int first() const { return lane - rank; }
};

/// Lane 0 gets the sum of lanes 0 to `valid` - 1, in order: neighbours, pairs, fours ...
template <int kThreads, class T, class Op>
SWIZZLEPERF_CUB_DEVICE T warp_reduce(T value, Op& op, int valid) {
  const Logical<kThreads> me;
  for (int step = 1; step < kThreads; step *= 2) {
    const T other = from_lane(value, me.lane + step);
    if (me.rank + step < valid) value = op(value, other);
  }
  return value;
}
template <int kThreads, class T, class Op>
SWIZZLEPERF_CUB_DEVICE T warp_inclusive_scan(T value, Op& op) {
  const Logical<kThreads> me;
  for (int step = 1; step < kThreads; step *= 2) {
    const T other = from_lane(value, me.lane - step);
    if (me.rank >= step) value = op(other, value);
  }
  return value;
}

}  // namespace detail

template <int LOGICAL_WARP_THREADS, class T>
SWIZZLEPERF_CUB_DEVICE T ShuffleUp(T value, int offset, int first, unsigned) {
  const detail::Logical<LOGICAL_WARP_THREADS> me;
  return detail::from_lane(value, me.rank - offset < first ? me.lane : me.lane - offset);
}
template <int LOGICAL_WARP_THREADS, class T>
SWIZZLEPERF_CUB_DEVICE T ShuffleDown(T value, int offset, int last, unsigned) {
  const detail::Logical<LOGICAL_WARP_THREADS> me;
  return detail::from_lane(value, me.rank + offset > last ? me.lane : me.lane + offset);
}
template <int LOGICAL_WARP_THREADS, class T>
SWIZZLEPERF_CUB_DEVICE T ShuffleIndex(T value, int source, unsigned) {
  const detail::Logical<LOGICAL_WARP_THREADS> me;
  return detail::from_lane(value, me.first() + source % LOGICAL_WARP_THREADS);
}

// ---- Reductions --------------------------------------------------------------------------------

template <class T, int LOGICAL_WARP_THREADS = kSwizzleperfWarp, int = 0>
class WarpReduce {
 public:
  struct TempStorage {
    char unused;
  };
  SWIZZLEPERF_CUB_DEVICE WarpReduce(TempStorage&) {}

  template <class Op>
  SWIZZLEPERF_CUB_DEVICE T Reduce(T value, Op op, int valid_items = LOGICAL_WARP_THREADS) {
    return detail::warp_reduce<LOGICAL_WARP_THREADS>(value, op, valid_items);
  }
  SWIZZLEPERF_CUB_DEVICE T Sum(T value, int valid_items = LOGICAL_WARP_THREADS) {
    return Reduce(value, SWIZZLEPERF_CUB::Sum(), valid_items);
  }
  /// A flag starts a segment; the first lane of each segment gets its sum.
  template <class Flag, class Op>
  SWIZZLEPERF_CUB_DEVICE T HeadSegmentedReduce(T value, Flag head, Op op) {
    return segmented(value, op, head ? 1 : 0, 1);
  }
  /// A flag ends a segment.
  template <class Flag, class Op>
  SWIZZLEPERF_CUB_DEVICE T TailSegmentedReduce(T value, Flag tail, Op op) {
    return segmented(value, op, tail ? 1 : 0, 0);
  }
  template <class Flag>
  SWIZZLEPERF_CUB_DEVICE T HeadSegmentedSum(T value, Flag head) {
    return HeadSegmentedReduce(value, head, SWIZZLEPERF_CUB::Sum());
  }
  template <class Flag>
  SWIZZLEPERF_CUB_DEVICE T TailSegmentedSum(T value, Flag tail) {
    return TailSegmentedReduce(value, tail, SWIZZLEPERF_CUB::Sum());
  }

 private:
  /// Segments end at the lane before a flag (ahead = 1) or at the flag (0).
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE T segmented(T value, Op& op, int flag, int ahead) {
    const detail::Logical<LOGICAL_WARP_THREADS> me;
    int last = LOGICAL_WARP_THREADS - 1;
    for (int rank = LOGICAL_WARP_THREADS - 1; rank >= ahead; --rank) {
      const bool ends = detail::from_lane(flag, me.first() + rank) != 0;
      if (ends && rank - ahead >= me.rank) last = rank - ahead;
    }
    return detail::warp_reduce<LOGICAL_WARP_THREADS>(value, op, last + 1);
  }
};

// ---- Scans -------------------------------------------------------------------------------------

template <class T, int LOGICAL_WARP_THREADS = kSwizzleperfWarp, int = 0>
class WarpScan {
  using Logical = detail::Logical<LOGICAL_WARP_THREADS>;

 public:
  struct TempStorage {
    char unused;
  };
  SWIZZLEPERF_CUB_DEVICE WarpScan(TempStorage&) {}

  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void InclusiveScan(T in, T& out, Op op) {
    out = detail::warp_inclusive_scan<LOGICAL_WARP_THREADS>(in, op);
  }
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void InclusiveScan(T in, T& out, Op op, T& aggregate) {
    InclusiveScan(in, out, op);
    aggregate = Broadcast(out, LOGICAL_WARP_THREADS - 1);
  }
  SWIZZLEPERF_CUB_DEVICE void InclusiveSum(T in, T& out) {
    InclusiveScan(in, out, SWIZZLEPERF_CUB::Sum());
  }
  SWIZZLEPERF_CUB_DEVICE void InclusiveSum(T in, T& out, T& aggregate) {
    InclusiveScan(in, out, SWIZZLEPERF_CUB::Sum(), aggregate);
  }

  /// Without an initial value lane 0's result is undefined (here: its own input).
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T in, T& out, Op op) {
    T inclusive;
    Scan(in, inclusive, out, op);
  }
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T in, T& out, Op op, T& aggregate) {
    T inclusive;
    Scan(in, inclusive, out, op);
    aggregate = Broadcast(inclusive, LOGICAL_WARP_THREADS - 1);
  }
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T in, T& out, T initial, Op op) {
    T inclusive;
    Scan(in, inclusive, out, initial, op);
  }
  /// The aggregate is of the inputs alone.
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T in, T& out, T initial, Op op, T& aggregate) {
    T inclusive;
    Scan(in, inclusive, out, op);
    aggregate = Broadcast(inclusive, LOGICAL_WARP_THREADS - 1);
    out = Logical().rank == 0 ? initial : op(initial, out);
  }
  SWIZZLEPERF_CUB_DEVICE void ExclusiveSum(T in, T& out) {
    ExclusiveScan(in, out, T{}, SWIZZLEPERF_CUB::Sum());
  }
  SWIZZLEPERF_CUB_DEVICE void ExclusiveSum(T in, T& out, T& aggregate) {
    ExclusiveScan(in, out, T{}, SWIZZLEPERF_CUB::Sum(), aggregate);
  }

  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void Scan(T in, T& inclusive, T& exclusive, Op op) {
    const Logical me;
    inclusive = detail::warp_inclusive_scan<LOGICAL_WARP_THREADS>(in, op);
    exclusive = detail::from_lane(inclusive, me.rank == 0 ? me.lane : me.lane - 1);
  }
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE void Scan(T in, T& inclusive, T& exclusive, T initial, Op op) {
    Scan(in, inclusive, exclusive, op);
    exclusive = Logical().rank == 0 ? initial : op(initial, exclusive);
    inclusive = op(initial, inclusive);
  }
  SWIZZLEPERF_CUB_DEVICE void Sum(T in, T& inclusive, T& exclusive) {
    Scan(in, inclusive, exclusive, T{}, SWIZZLEPERF_CUB::Sum());
  }
  SWIZZLEPERF_CUB_DEVICE T Broadcast(T value, unsigned source) {
    return detail::from_lane(value, Logical().first() + (int)source);
  }
};

}  // namespace SWIZZLEPERF_CUB
