// Moving a block's items between memory and threads, and between arrangements: blocked (a thread
// has neighbours), striped (thread t has t, t + threads, ...), striped by warp.
//
// Which way a block loads decides which lines a warp asks for at once, so the ways are kept apart
// as CUB documents them; only their use of shared memory is our own.
#pragma once
#pragma clang system_header

#include "block.h"

namespace SWIZZLEPERF_CUB {

template <CacheLoadModifier, class It>
SWIZZLEPERF_CUB_DEVICE auto ThreadLoad(It p) {
  return *p;
}
template <CacheStoreModifier, class It, class T>
SWIZZLEPERF_CUB_DEVICE void ThreadStore(It p, T value) {
  *p = value;
}
template <class T, int ITEMS, class Op>
SWIZZLEPERF_CUB_DEVICE T ThreadReduce(T (&items)[ITEMS], Op op) {
  return detail::reduce_items(items, ITEMS, op);
}
template <class T, int ITEMS, class Op>
SWIZZLEPERF_CUB_DEVICE T ThreadReduce(T (&items)[ITEMS], Op op, T prefix) {
  return op(prefix, detail::reduce_items(items, ITEMS, op));
}

// ---- Where item i of a thread is, in each arrangement ------------------------------------------

namespace detail {
template <int kItems>
struct Blocked {
  SWIZZLEPERF_CUB_DEVICE static int place(int thread, int i) { return thread * kItems + i; }
};
template <int kThreads>
struct Striped {
  SWIZZLEPERF_CUB_DEVICE static int place(int thread, int i) { return i * kThreads + thread; }
};
/// Of each warp its own stretch, the last warp's perhaps of fewer lanes.
template <int kThreads, int kItems>
struct WarpStriped {
  SWIZZLEPERF_CUB_DEVICE static int place(int thread, int i) {
    const int first = thread / kSwizzleperfWarp * kSwizzleperfWarp;
    const int lanes = CUB_MIN(kSwizzleperfWarp, kThreads - first);
    return first * kItems + i * lanes + (thread - first);
  }
};

template <class Arrangement, class It, class T, int kItems>
SWIZZLEPERF_CUB_DEVICE void load(int thread, It from, T (&items)[kItems]) {
  for (int i = 0; i < kItems; ++i) items[i] = from[Arrangement::place(thread, i)];
}
template <class Arrangement, class It, class T, int kItems>
SWIZZLEPERF_CUB_DEVICE void load(int thread, It from, T (&items)[kItems], int valid) {
  for (int i = 0; i < kItems; ++i) {
    const int place = Arrangement::place(thread, i);
    if (place < valid) items[i] = from[place];
  }
}
template <class Arrangement, class It, class T, int kItems>
SWIZZLEPERF_CUB_DEVICE void store(int thread, It to, T (&items)[kItems]) {
  for (int i = 0; i < kItems; ++i) to[Arrangement::place(thread, i)] = items[i];
}
template <class Arrangement, class It, class T, int kItems>
SWIZZLEPERF_CUB_DEVICE void store(int thread, It to, T (&items)[kItems], int valid) {
  for (int i = 0; i < kItems; ++i) {
    const int place = Arrangement::place(thread, i);
    if (place < valid) to[place] = items[i];
  }
}
template <class T, int kItems, class Default>
SWIZZLEPERF_CUB_DEVICE void fill(T (&items)[kItems], Default value) {
  for (int i = 0; i < kItems; ++i) items[i] = value;
}

/// The bytes that one access of a vectorized load or store moves: the most of 16 that fit.
template <class T, int kItems>
constexpr int vector_bytes() {
  int bytes = 16;
  while (bytes > (int)sizeof(T) && (int)sizeof(T) * kItems % bytes != 0) bytes /= 2;
  return bytes > (int)sizeof(T) ? bytes : (int)alignof(T);
}
}  // namespace detail

// ---- As functions ------------------------------------------------------------------------------

#define SWIZZLEPERF_CUB_DIRECT(name, parameter, arrangement)                                 \
  template <parameter class T, int ITEMS, class It>                                          \
  SWIZZLEPERF_CUB_DEVICE void Load##name(int thread, It from, T(&items)[ITEMS]) {            \
    detail::load<arrangement>(thread, from, items);                                          \
  }                                                                                          \
  template <parameter class T, int ITEMS, class It>                                          \
  SWIZZLEPERF_CUB_DEVICE void Load##name(int thread, It from, T(&items)[ITEMS], int valid) { \
    detail::load<arrangement>(thread, from, items, valid);                                   \
  }                                                                                          \
  template <parameter class T, class Default, int ITEMS, class It>                           \
  SWIZZLEPERF_CUB_DEVICE void Load##name(int thread, It from, T(&items)[ITEMS], int valid,   \
                                         Default value) {                                    \
    detail::fill(items, value);                                                              \
    detail::load<arrangement>(thread, from, items, valid);                                   \
  }                                                                                          \
  template <parameter class T, int ITEMS, class It>                                          \
  SWIZZLEPERF_CUB_DEVICE void Store##name(int thread, It to, T(&items)[ITEMS]) {             \
    detail::store<arrangement>(thread, to, items);                                           \
  }                                                                                          \
  template <parameter class T, int ITEMS, class It>                                          \
  SWIZZLEPERF_CUB_DEVICE void Store##name(int thread, It to, T(&items)[ITEMS], int valid) {  \
    detail::store<arrangement>(thread, to, items, valid);                                    \
  }
#define SWIZZLEPERF_COMMA ,
SWIZZLEPERF_CUB_DIRECT(DirectBlocked, , detail::Blocked<ITEMS>)
SWIZZLEPERF_CUB_DIRECT(DirectStriped, int BLOCK_THREADS SWIZZLEPERF_COMMA,
                       detail::Striped<BLOCK_THREADS>)
#undef SWIZZLEPERF_COMMA
#undef SWIZZLEPERF_CUB_DIRECT

template <class T, int ITEMS>
SWIZZLEPERF_CUB_DEVICE void LoadDirectBlockedVectorized(int thread, const T* from,
                                                        T (&items)[ITEMS]) {
  constexpr int kBytes = detail::vector_bytes<T, ITEMS>();
  __builtin_memcpy((void*)items, __builtin_assume_aligned(from + thread * ITEMS, kBytes),
                   sizeof items);
}
template <class T, int ITEMS>
SWIZZLEPERF_CUB_DEVICE void StoreDirectBlockedVectorized(int thread, T* to, T (&items)[ITEMS]) {
  constexpr int kBytes = detail::vector_bytes<T, ITEMS>();
  __builtin_memcpy(__builtin_assume_aligned((void*)(to + thread * ITEMS), kBytes), items,
                   sizeof items);
}

// ---- Exchange ----------------------------------------------------------------------------------

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, bool WARP_TIME_SLICING = false,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockExchange {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using Blocked = detail::Blocked<ITEMS_PER_THREAD>;
  using Striped = detail::Striped<Block::kThreads>;
  using WarpStriped = detail::WarpStriped<Block::kThreads, ITEMS_PER_THREAD>;

 public:
  using TempStorage = detail::Room<T, Block::kThreads * ITEMS_PER_THREAD>;
  SWIZZLEPERF_CUB_DEVICE BlockExchange() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockExchange(TempStorage& storage) : storage_(storage) {}

#define SWIZZLEPERF_CUB_EXCHANGE(name, From, To)                                                  \
  template <class Out>                                                                            \
  SWIZZLEPERF_CUB_DEVICE void name(const T(&in)[ITEMS_PER_THREAD], Out(&out)[ITEMS_PER_THREAD]) { \
    const Block me;                                                                               \
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) storage_[From::place(me.thread, i)] = in[i];       \
    __syncthreads();                                                                              \
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) out[i] = storage_[To::place(me.thread, i)];        \
  }                                                                                               \
  SWIZZLEPERF_CUB_DEVICE void name(T(&items)[ITEMS_PER_THREAD]) { name(items, items); }
  SWIZZLEPERF_CUB_EXCHANGE(StripedToBlocked, Striped, Blocked)
  SWIZZLEPERF_CUB_EXCHANGE(BlockedToStriped, Blocked, Striped)
  SWIZZLEPERF_CUB_EXCHANGE(WarpStripedToBlocked, WarpStriped, Blocked)
  SWIZZLEPERF_CUB_EXCHANGE(BlockedToWarpStriped, Blocked, WarpStriped)
#undef SWIZZLEPERF_CUB_EXCHANGE

  // Each item says where it goes.
#define SWIZZLEPERF_CUB_SCATTER(name, To)                                                         \
  template <class Out, class Rank>                                                                \
  SWIZZLEPERF_CUB_DEVICE void name(const T(&in)[ITEMS_PER_THREAD], Out(&out)[ITEMS_PER_THREAD],   \
                                   Rank(&ranks)[ITEMS_PER_THREAD]) {                              \
    const Block me;                                                                               \
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) storage_[(int)ranks[i]] = in[i];                   \
    __syncthreads();                                                                              \
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) out[i] = storage_[To::place(me.thread, i)];        \
  }                                                                                               \
  template <class Rank>                                                                           \
  SWIZZLEPERF_CUB_DEVICE void name(T(&items)[ITEMS_PER_THREAD], Rank(&ranks)[ITEMS_PER_THREAD]) { \
    name(items, items, ranks);                                                                    \
  }
  SWIZZLEPERF_CUB_SCATTER(ScatterToBlocked, Blocked)
  SWIZZLEPERF_CUB_SCATTER(ScatterToStriped, Striped)
#undef SWIZZLEPERF_CUB_SCATTER

  /// Items whose rank is negative stay out.
  template <class Out, class Rank>
  SWIZZLEPERF_CUB_DEVICE void ScatterToStripedGuarded(const T (&in)[ITEMS_PER_THREAD],
                                                      Out (&out)[ITEMS_PER_THREAD],
                                                      Rank (&ranks)[ITEMS_PER_THREAD]) {
    bool flags[ITEMS_PER_THREAD];
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) flags[i] = ranks[i] >= 0;
    ScatterToStripedFlagged(in, out, ranks, flags);
  }
  template <class Rank>
  SWIZZLEPERF_CUB_DEVICE void ScatterToStripedGuarded(T (&items)[ITEMS_PER_THREAD],
                                                      Rank (&ranks)[ITEMS_PER_THREAD]) {
    ScatterToStripedGuarded(items, items, ranks);
  }
  template <class Out, class Rank, class Flag>
  SWIZZLEPERF_CUB_DEVICE void ScatterToStripedFlagged(const T (&in)[ITEMS_PER_THREAD],
                                                      Out (&out)[ITEMS_PER_THREAD],
                                                      Rank (&ranks)[ITEMS_PER_THREAD],
                                                      Flag (&is_valid)[ITEMS_PER_THREAD]) {
    const Block me;
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
      if (is_valid[i]) storage_[(int)ranks[i]] = in[i];
    }
    __syncthreads();
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) out[i] = storage_[Striped::place(me.thread, i)];
  }

 private:
  TempStorage& storage_;
};

// ---- Load and store ----------------------------------------------------------------------------

namespace detail {
/// The arrangement in which an algorithm touches memory.
template <int kAlgorithm, int kThreads, int kItems>
struct Touches {
  using Type = Blocked<kItems>;
  static constexpr bool kExchanges = false;
};
template <int kThreads, int kItems>
struct Touches<BLOCK_LOAD_STRIPED, kThreads, kItems> {
  using Type = Striped<kThreads>;
  static constexpr bool kExchanges = false;
};
template <int kThreads, int kItems>
struct Touches<BLOCK_LOAD_TRANSPOSE, kThreads, kItems> {
  using Type = Striped<kThreads>;
  static constexpr bool kExchanges = true;
};
template <int kThreads, int kItems>
struct Touches<BLOCK_LOAD_WARP_TRANSPOSE, kThreads, kItems> {
  using Type = WarpStriped<kThreads, kItems>;
  static constexpr bool kExchanges = true;
};
template <int kThreads, int kItems>
struct Touches<BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, kThreads, kItems>
    : Touches<BLOCK_LOAD_WARP_TRANSPOSE, kThreads, kItems> {};

struct NoStorage {
  char unused;
};
}  // namespace detail

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockLoad {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using Touches = detail::Touches<ALGORITHM, Block::kThreads, ITEMS_PER_THREAD>;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage =
      typename If<Touches::kExchanges, typename Exchange::TempStorage, detail::NoStorage>::Type;
  SWIZZLEPERF_CUB_DEVICE BlockLoad() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockLoad(TempStorage& storage) : storage_(storage) {}

  template <class It>
  SWIZZLEPERF_CUB_DEVICE void Load(It from, T (&items)[ITEMS_PER_THREAD]) {
    const Block me;
    if constexpr (ALGORITHM == BLOCK_LOAD_VECTORIZE && __is_pointer(It)) {
      LoadDirectBlockedVectorized(me.thread, from, items);
    } else {
      detail::load<typename Touches::Type>(me.thread, from, items);
    }
    arrange(items);
  }
  template <class It>
  SWIZZLEPERF_CUB_DEVICE void Load(It from, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    detail::load<typename Touches::Type>(Block().thread, from, items, valid_items);
    arrange(items);
  }
  template <class It, class Default>
  SWIZZLEPERF_CUB_DEVICE void Load(It from, T (&items)[ITEMS_PER_THREAD], int valid_items,
                                   Default value) {
    detail::fill(items, value);
    Load(from, items, valid_items);
  }

 private:
  SWIZZLEPERF_CUB_DEVICE void arrange(T (&items)[ITEMS_PER_THREAD]) {
    if constexpr (ALGORITHM == BLOCK_LOAD_TRANSPOSE) {
      Exchange(storage_).StripedToBlocked(items);
    } else if constexpr (Touches::kExchanges) {
      Exchange(storage_).WarpStripedToBlocked(items);
    }
  }
  TempStorage& storage_;
};

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD,
          BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockStore {
  using Block = detail::Block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using Touches = detail::Touches<(int)ALGORITHM, Block::kThreads, ITEMS_PER_THREAD>;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage =
      typename If<Touches::kExchanges, typename Exchange::TempStorage, detail::NoStorage>::Type;
  SWIZZLEPERF_CUB_DEVICE BlockStore() : storage_(detail::private_storage<TempStorage>()) {}
  SWIZZLEPERF_CUB_DEVICE BlockStore(TempStorage& storage) : storage_(storage) {}

  template <class It>
  SWIZZLEPERF_CUB_DEVICE void Store(It to, T (&items)[ITEMS_PER_THREAD]) {
    arrange(items);
    const Block me;
    if constexpr (ALGORITHM == BLOCK_STORE_VECTORIZE && __is_pointer(It)) {
      StoreDirectBlockedVectorized(me.thread, to, items);
    } else {
      detail::store<typename Touches::Type>(me.thread, to, items);
    }
  }
  template <class It>
  SWIZZLEPERF_CUB_DEVICE void Store(It to, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    arrange(items);
    detail::store<typename Touches::Type>(Block().thread, to, items, valid_items);
  }

 private:
  SWIZZLEPERF_CUB_DEVICE void arrange(T (&items)[ITEMS_PER_THREAD]) {
    if constexpr (ALGORITHM == BLOCK_STORE_TRANSPOSE) {
      Exchange(storage_).BlockedToStriped(items);
    } else if constexpr (Touches::kExchanges) {
      Exchange(storage_).BlockedToWarpStriped(items);
    }
  }
  TempStorage& storage_;
};

}  // namespace SWIZZLEPERF_CUB
