// Reductions and scans of a block: warps first, their results by way of shared memory. As in CUB a
// collective waits for the block once, before it reads what others wrote; who uses the same storage
// again waits first.
#pragma once
#pragma clang system_header

#include "warp.h"

namespace SWIZZLEPERF_CUB {
namespace detail {

template <int kX, int kY, int kZ>
struct Block {
  static constexpr int kThreads = kX * kY * kZ;
  static constexpr int kWarps = (kThreads + kSwizzleperfWarp - 1) / kSwizzleperfWarp;
  int thread, warp;
  SWIZZLEPERF_CUB_DEVICE Block()
      : thread((int)RowMajorTid(kX, kY, kZ)), warp(thread / kSwizzleperfWarp) {}
  /// How many of the first `n` threads are in this warp.
  SWIZZLEPERF_CUB_DEVICE int lanes(int n) const { return n - warp * kSwizzleperfWarp; }
};

/// The storage of a collective that was given none: one a block and type.
template <class Storage>
SWIZZLEPERF_CUB_DEVICE Storage& private_storage() {
  __attribute__((shared)) static Storage storage;
  return storage;
}

}  // namespace detail

// ---- Reductions: thread 0 has the result -------------------------------------------------------

template <class T, int BLOCK_DIM_X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockReduce {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage = detail::Room<T, Block::kWarps>;
  SWIZZLEPERF_CUB_DEVICE BlockReduce() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op>
  SWIZZLEPERF_CUB_DEVICE T Reduce(T value, Op op) {
    return Reduce(value, op, Block::kThreads);
  }
  /// Of the first num_valid threads.
  template <class Op>
  SWIZZLEPERF_CUB_DEVICE T Reduce(T value, Op op, int num_valid) {
    const Block me;
    value = detail::warp_reduce<kSwizzleperfWarp>(value, op, me.lanes(num_valid));
    if (LaneId() == 0) storage_[me.warp] = value;
    __syncthreads();
    if (me.thread == 0) {
      for (int warp = 1; warp * kSwizzleperfWarp < num_valid; ++warp) {
        value = op(value, storage_[warp]);
      }
    }
    return value;
  }
  template <int ITEMS, class Op>
  SWIZZLEPERF_CUB_DEVICE T Reduce(T (&items)[ITEMS], Op op) {
    return Reduce(detail::reduce_items(items, ITEMS, op), op);
  }
  SWIZZLEPERF_CUB_DEVICE T Sum(T value) { return Reduce(value, SWIZZLEPERF_CUB::Sum()); }
  SWIZZLEPERF_CUB_DEVICE T Sum(T value, int num_valid) {
    return Reduce(value, SWIZZLEPERF_CUB::Sum(), num_valid);
  }
  template <int ITEMS>
  SWIZZLEPERF_CUB_DEVICE T Sum(T (&items)[ITEMS]) {
    return Reduce(items, SWIZZLEPERF_CUB::Sum());
  }

 private:
  TempStorage& storage_;
};

// ---- Scans -------------------------------------------------------------------------------------

template <class T, int BLOCK_DIM_X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockScan {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  struct TempStorage {
    detail::Room<T, Block::kWarps> warps;
    detail::Room<T> prefix;
  };
  SWIZZLEPERF_CUB_DEVICE BlockScan() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockScan(TempStorage& storage) : storage_(storage) {}

  // Of one item or of an array. What follows `out` is what CUB allows there: an operator, before it
  // perhaps an initial value, after it perhaps a variable for the sum of all or a callback.
  template <class... A>
  SWIZZLEPERF_CUB_DEVICE void InclusiveScan(T in, T& out, A&&... how) {
    T items[1] = {in};
    scan(items, items, true, how...);
    out = items[0];
  }
  template <int ITEMS, class... A>
  SWIZZLEPERF_CUB_DEVICE void InclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], A&&... how) {
    scan(in, out, true, how...);
  }
  /// Without an initial value or callback the first result is undefined (here: the first input).
  template <class... A>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T in, T& out, A&&... how) {
    T items[1] = {in};
    scan(items, items, false, how...);
    out = items[0];
  }
  template <int ITEMS, class... A>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveScan(T (&in)[ITEMS], T (&out)[ITEMS], A&&... how) {
    scan(in, out, false, how...);
  }
  template <class In, class Out, class... A>
  SWIZZLEPERF_CUB_DEVICE void InclusiveSum(In&& in, Out& out, A&&... how) {
    InclusiveScan(in, out, SWIZZLEPERF_CUB::Sum(), how...);
  }
  template <class In, class Out>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveSum(In&& in, Out& out) {
    ExclusiveScan(in, out, T{}, SWIZZLEPERF_CUB::Sum());
  }
  template <class In, class Out>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveSum(In&& in, Out& out, T& aggregate) {
    ExclusiveScan(in, out, T{}, SWIZZLEPERF_CUB::Sum(), aggregate);
  }
  template <class In, class Out, class Callback>
  SWIZZLEPERF_CUB_DEVICE void ExclusiveSum(In&& in, Out& out, Callback& callback) {
    ExclusiveScan(in, out, SWIZZLEPERF_CUB::Sum(), callback);
  }

 private:
  // What comes before the first item, given the sum of all.
  struct Nothing {};
  struct Initial {
    T value;
  };
  template <class F>
  struct Callback {
    F& function;
  };

  template <int N, class Op>
  SWIZZLEPERF_CUB_DEVICE void scan(T (&in)[N], T (&out)[N], bool inclusive, Op& op) {
    scan_from(in, out, inclusive, op, Nothing{});
  }
  template <int N, class First, class Second>
  SWIZZLEPERF_CUB_DEVICE void scan(T (&in)[N], T (&out)[N], bool inclusive, First& a, Second& b) {
    if constexpr (__is_convertible(First, T)) {
      scan_from(in, out, inclusive, b, Initial{static_cast<T>(a)});
    } else if constexpr (__is_same(Second, T)) {
      b = scan_from(in, out, inclusive, a, Nothing{});
    } else {
      scan_from(in, out, inclusive, a, Callback<Second>{b});
    }
  }
  template <int N, class First, class Op>
  SWIZZLEPERF_CUB_DEVICE void scan(T (&in)[N], T (&out)[N], bool inclusive, First& initial, Op& op,
                                   T& aggregate) {
    aggregate = scan_from(in, out, inclusive, op, Initial{static_cast<T>(initial)});
  }

  SWIZZLEPERF_CUB_DEVICE T first(const Initial& start, T, const Block&) { return start.value; }
  /// The first warp calls it, lane 0's answer counts.
  template <class F>
  SWIZZLEPERF_CUB_DEVICE T first(const Callback<F>& start, T sum, const Block& me) {
    if (me.warp == 0) {
      const T answer = start.function(sum);
      if (me.thread == 0) storage_.prefix[0] = answer;
    }
    __syncthreads();
    return storage_.prefix[0];
  }

  /// Returns the sum of all inputs.
  template <int N, class Op, class Start>
  SWIZZLEPERF_CUB_DEVICE T scan_from(T (&in)[N], T (&out)[N], bool inclusive, Op& op, Start start) {
    const Block me;
    const int lane = (int)LaneId();
    const T up_to_here =
        detail::warp_inclusive_scan<kSwizzleperfWarp>(detail::reduce_items(in, N, op), op);
    const bool ends_warp = lane == kSwizzleperfWarp - 1 || me.thread == Block::kThreads - 1;
    T before = detail::from_lane(up_to_here, lane == 0 ? 0 : lane - 1);
    if (ends_warp) storage_.warps[me.warp] = up_to_here;
    __syncthreads();
    T sum = storage_.warps[0];
    for (int warp = 1; warp < Block::kWarps; ++warp) {
      if (warp == me.warp) before = lane == 0 ? sum : op(sum, before);
      sum = op(sum, storage_.warps[warp]);
    }
    bool any = me.thread > 0;
    if constexpr (!__is_same(Start, Nothing)) {
      const T start_value = first(start, sum, me);
      before = any ? op(start_value, before) : start_value;
      any = true;
    }
    for (int i = 0; i < N; ++i) {
      const T after = any ? op(before, in[i]) : in[i];
      out[i] = inclusive || !any ? after : before;
      before = after;
      any = true;
    }
    return sum;
  }

  TempStorage& storage_;
};

}  // namespace SWIZZLEPERF_CUB
