// Sorting a block's items by their keys: bit by bit from the lowest, each bit a stable split whose
// places come from a scan. Slower than by digits, and nobody times shared memory here.
//
// Keys become unsigned numbers of the same order first: signed ones lose their sign bit's meaning,
// negative floating-point ones turn round, -0 counts as 0.
#pragma once
#pragma clang system_header

#include "movement.h"

namespace SWIZZLEPERF_CUB {
namespace detail {

template <int kBytes>
struct Bits {
  using Type = unsigned long long;
};
template <>
struct Bits<4> {
  using Type = unsigned;
};
template <>
struct Bits<2> {
  using Type = unsigned short;
};
template <>
struct Bits<1> {
  using Type = unsigned char;
};

template <class Key>
struct Ordered {
  using Type = typename Bits<sizeof(Key)>::Type;
  static constexpr bool kInteger = Key(1) / Key(2) == Key(0);
  static constexpr bool kSigned = Key(-1) < Key(0);
  static constexpr Type kSign = (Type)((Type)1 << (8 * sizeof(Key) - 1));

  SWIZZLEPERF_CUB_DEVICE static Type of(Key key) {
    Type bits;
    if (!kInteger && key == Key(0)) key = Key(0);
    __builtin_memcpy(&bits, &key, sizeof key);
    if (!kInteger) return (Type)(bits & kSign ? ~bits : bits | kSign);
    return kSigned ? (Type)(bits ^ kSign) : bits;
  }
};
}  // namespace detail

template <class Key, int BLOCK_DIM_X, int ITEMS_PER_THREAD, class Value = NullType,
          int RADIX_BITS = 4, bool MEMOIZE_OUTER_SCAN = true,
          BlockScanAlgorithm INNER_SCAN = BLOCK_SCAN_WARP_SCANS, int SHARED_MEMORY_CONFIG = 0,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockRadixSort {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using Scan = BlockScan<int, BLOCK_DIM_X, INNER_SCAN, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  template <class T>
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  static constexpr bool kPairs = !__is_same(Value, NullType);
  static constexpr int kBits = 8 * sizeof(Key);
  using Keys = Key (&)[ITEMS_PER_THREAD];
  using Values = Value (&)[ITEMS_PER_THREAD];

 public:
  union TempStorage {
    typename Scan::TempStorage scan;
    typename Exchange<Key>::TempStorage keys;
    typename Exchange<Value>::TempStorage values;
  };
  SWIZZLEPERF_CUB_DEVICE BlockRadixSort() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define SWIZZLEPERF_CUB_SORT(name, descending, after)                                          \
  SWIZZLEPERF_CUB_DEVICE void name(Keys keys, int begin_bit = 0, int end_bit = kBits) {        \
    NullType none[ITEMS_PER_THREAD];                                                           \
    sort(keys, none, begin_bit, end_bit, descending);                                          \
    after(keys, none);                                                                         \
  }                                                                                            \
  template <class V>                                                                           \
  SWIZZLEPERF_CUB_DEVICE void name(Keys keys, V(&values)[ITEMS_PER_THREAD], int begin_bit = 0, \
                                   int end_bit = kBits) {                                      \
    sort(keys, values, begin_bit, end_bit, descending);                                        \
    after(keys, values);                                                                       \
  }
  SWIZZLEPERF_CUB_SORT(Sort, false, stay)
  SWIZZLEPERF_CUB_SORT(SortDescending, true, stay)
  SWIZZLEPERF_CUB_SORT(SortBlockedToStriped, false, spread)
  SWIZZLEPERF_CUB_SORT(SortDescendingBlockedToStriped, true, spread)
#undef SWIZZLEPERF_CUB_SORT

 private:
  template <class V>
  SWIZZLEPERF_CUB_DEVICE void sort(Keys keys, V (&values)[ITEMS_PER_THREAD], int begin_bit,
                                   int end_bit, bool descending) {
    const Block me;
    for (int bit = begin_bit; bit < end_bit; ++bit) {
      bool late[ITEMS_PER_THREAD];
      int zeros[ITEMS_PER_THREAD], before[ITEMS_PER_THREAD], ranks[ITEMS_PER_THREAD], all;
      for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
        late[i] = (detail::Ordered<Key>::of(keys[i]) >> bit & 1) != (descending ? 1 : 0);
        zeros[i] = late[i] ? 0 : 1;
      }
      __syncthreads();
      Scan(storage_.scan).ExclusiveSum(zeros, before, all);
      for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
        ranks[i] = late[i] ? all + me.thread * ITEMS_PER_THREAD + i - before[i] : before[i];
      }
      __syncthreads();
      Exchange<Key>(storage_.keys).ScatterToBlocked(keys, ranks);
      if constexpr (kPairs) {
        __syncthreads();
        Exchange<Value>(storage_.values).ScatterToBlocked(values, ranks);
      }
    }
  }
  template <class V>
  SWIZZLEPERF_CUB_DEVICE void stay(Keys, V (&)[ITEMS_PER_THREAD]) {}
  template <class V>
  SWIZZLEPERF_CUB_DEVICE void spread(Keys keys, V (&values)[ITEMS_PER_THREAD]) {
    __syncthreads();
    Exchange<Key>(storage_.keys).BlockedToStriped(keys);
    if constexpr (kPairs) {
      __syncthreads();
      Exchange<Value>(storage_.values).BlockedToStriped(values);
    }
  }
  TempStorage& storage_;
};

}  // namespace SWIZZLEPERF_CUB
