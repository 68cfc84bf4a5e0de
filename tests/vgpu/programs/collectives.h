// CUB's and hipCUB's collectives for warps and blocks, in one text for both: NS is the namespace,
// GPU(x) a runtime call's name. Values are checked against plain loops, with an operator that does
// not commute, blocks of one and of three dimensions, whole and partial warps.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "demand.h"

static int wrong = 0;
static void same(int line, long long got, long long wanted, int where) {
  if (got == wanted || ++wrong > 20) return;
  std::printf("FAIL line %d, at %d: %lld instead of %lld\n", line, where, got, wanted);
}
#define SAME(got, wanted, where) same(__LINE__, (long long)(got), (long long)(wanted), where)

template <class T>
struct Managed {
  T* p = nullptr;
  int count;
  explicit Managed(int n) : count(n) {
    DEMAND(GPU(MallocManaged)((void**)&p, n * sizeof(T)));
    for (int i = 0; i < n; ++i) p[i] = T{};
  }
  ~Managed() { (void)GPU(Free)(p); }
  T& operator[](int i) { return p[i]; }
};

/// x -> m x + c modulo 2^32; the operator applies a first, then b.
struct Affine {
  unsigned m, c;
};
struct Then {
  __host__ __device__ Affine operator()(Affine a, Affine b) const {
    return {a.m * b.m, b.m * a.c + b.c};
  }
};
__host__ __device__ inline Affine affine(int i) {
  return {(unsigned)(2 * (i * 7 % 11) + 3), (unsigned)(i * i + 1)};
}
static void same_affine(int line, Affine got, Affine wanted, int where) {
  same(line, got.m, wanted.m, where);
  same(line, got.c, wanted.c, where);
}
#define SAME_AFFINE(got, wanted, where) same_affine(__LINE__, got, wanted, where)

constexpr int kX = 6, kY = 5, kZ = 5, kThreads = kX * kY * kZ;  // 150: a partial warp of 32 and 64
constexpr int kItems = 3;
constexpr int kAll = kThreads * kItems;

template <int x, int y, int z>
__device__ int rank() {
  return ((int)threadIdx.z * y + (int)threadIdx.y) * x + (int)threadIdx.x;
}

// ---- Reductions --------------------------------------------------------------------------------

struct Reduced {
  Affine ordered, ordered_valid, items;
  int sum, sum_valid, sum_items, max, min_valid;
  NS::KeyValuePair<int, float> most, least;
};

template <int x, int y, int z>
__global__ void reduce(Reduced* out, int valid) {
  const int t = rank<x, y, z>();
  Reduced r;
  using Affines = NS::BlockReduce<Affine, x, NS::BLOCK_REDUCE_RAKING, y, z>;
  using Ints = NS::BlockReduce<int, x, NS::BLOCK_REDUCE_WARP_REDUCTIONS, y, z>;
  using Pairs = NS::BlockReduce<NS::KeyValuePair<int, float>, x,
                                NS::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, y, z>;
  __shared__ union {
    typename Affines::TempStorage affines;
    typename Ints::TempStorage ints;
    typename Pairs::TempStorage pairs;
  } temp;
  r.ordered = Affines(temp.affines).Reduce(affine(t), Then());
  __syncthreads();
  r.ordered_valid = Affines(temp.affines).Reduce(affine(t), Then(), valid);
  __syncthreads();
  Affine items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = affine(t * kItems + i);
  r.items = Affines(temp.affines).Reduce(items, Then());
  __syncthreads();
  r.sum = Ints(temp.ints).Sum(t * t);
  __syncthreads();
  r.sum_valid = Ints(temp.ints).Sum(t * t, valid);
  __syncthreads();
  int four[4] = {t, 1, 2, -t};
  r.sum_items = Ints(temp.ints).Sum(four);
  __syncthreads();
  r.max = Ints(temp.ints).Reduce((t * 37) % 101, NS::Max());
  __syncthreads();
  r.min_valid = Ints(temp.ints).Reduce(1000 - t, NS::Min(), valid);
  __syncthreads();
  const NS::KeyValuePair<int, float> pair(t, (float)((t * 13) % 29));
  r.most = Pairs(temp.pairs).Reduce(pair, NS::ArgMax());
  __syncthreads();
  r.least = Pairs(temp.pairs).Reduce(pair, NS::ArgMin());
  if (t == 0) *out = r;
}

template <int x, int y, int z>
void test_reduce(int valid) {
  constexpr int n = x * y * z;
  Managed<Reduced> out(1);
  reduce<x, y, z><<<1, dim3(x, y, z)>>>(out.p, valid);
  DEMAND(GPU(DeviceSynchronize)());
  const Reduced& r = out[0];
  Affine ordered = affine(0), some = affine(0), items = affine(0);
  int sum = 0, sum_valid = 0, max = 0, most = 0, least = 0;
  for (int t = 0; t < n; ++t) {
    if (t > 0) ordered = Then()(ordered, affine(t));
    if (t > 0 && t < valid) some = Then()(some, affine(t));
    sum += t * t;
    if (t < valid) sum_valid += t * t;
    max = (t * 37) % 101 > max ? (t * 37) % 101 : max;
    if ((t * 13) % 29 > (most * 13) % 29) most = t;
    if ((t * 13) % 29 < (least * 13) % 29) least = t;
  }
  for (int i = 1; i < n * kItems; ++i) items = Then()(items, affine(i));
  SAME_AFFINE(r.ordered, ordered, n);
  SAME_AFFINE(r.ordered_valid, some, n);
  SAME_AFFINE(r.items, items, n);
  SAME(r.sum, sum, n);
  SAME(r.sum_valid, sum_valid, n);
  SAME(r.sum_items, 3 * n, n);
  SAME(r.max, max, n);
  SAME(r.min_valid, 1000 - (valid - 1), n);
  SAME(r.most.key, most, n);
  SAME(r.least.key, least, n);
}

// ---- Scans -------------------------------------------------------------------------------------

/// Gives each tile what came before it, as programs that scan tile by tile do.
struct Running {
  int total;
  __device__ int operator()(int tile) {
    const int before = total;
    total += tile;
    return before;
  }
};

struct Scanned {
  int inclusive, exclusive, aggregate, aggregate2, max_before, running, two_running[2];
  Affine inclusive_items[kItems], exclusive_items[kItems], from_initial, all, bare;
};

template <int x, int y, int z, NS::BlockScanAlgorithm kAlgorithm>
__global__ void scan(Scanned* out) {
  const int t = rank<x, y, z>();
  Scanned s;
  using Ints = NS::BlockScan<int, x, kAlgorithm, y, z>;
  using Affines = NS::BlockScan<Affine, x, kAlgorithm, y, z>;
  __shared__ typename Ints::TempStorage ints;
  __shared__ typename Affines::TempStorage affines;
  Ints(ints).InclusiveSum(t, s.inclusive, s.aggregate);
  __syncthreads();
  Ints(ints).ExclusiveSum(t, s.exclusive, s.aggregate2);
  __syncthreads();
  Ints(ints).ExclusiveScan((t * 37) % 101, s.max_before, -5, NS::Max());
  __syncthreads();
  Running running{100};
  Ints(ints).ExclusiveSum(t, s.running, running);
  __syncthreads();
  int two[2] = {1, t};
  Ints(ints).InclusiveSum(two, s.two_running, running);
  __syncthreads();
  Affine items[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = affine(t * kItems + i);
  Affines(affines).InclusiveScan(items, s.inclusive_items, Then());
  __syncthreads();
  Affines(affines).ExclusiveScan(items, s.exclusive_items, Affine{1, 9}, Then(), s.all);
  __syncthreads();
  Affines(affines).ExclusiveScan(affine(t), s.from_initial, Affine{5, 7}, Then());
  __syncthreads();
  s.bare = affine(t);
  Affines(affines).ExclusiveScan(s.bare, s.bare, Then());
  out[t] = s;
}

template <int x, int y, int z, NS::BlockScanAlgorithm kAlgorithm>
void test_scan() {
  constexpr int n = x * y * z;
  Managed<Scanned> out(n);
  scan<x, y, z, kAlgorithm><<<1, dim3(x, y, z)>>>(out.p);
  DEMAND(GPU(DeviceSynchronize)());
  Affine all = affine(0), initial = {5, 7}, bare{}, with_start = {1, 9};
  for (int i = 1; i < n * kItems; ++i) all = Then()(all, affine(i));
  int max = -5;
  Affine sum{};
  for (int t = 0; t < n; ++t) {
    const Scanned& s = out[t];
    SAME(s.inclusive, t * (t + 1) / 2, t);
    SAME(s.exclusive, t * (t - 1) / 2, t);
    SAME(s.aggregate, n * (n - 1) / 2, t);
    SAME(s.aggregate2, n * (n - 1) / 2, t);
    SAME(s.max_before, max, t);
    max = (t * 37) % 101 > max ? (t * 37) % 101 : max;
    SAME(s.running, 100 + t * (t - 1) / 2, t);
    const int second = 100 + n * (n - 1) / 2;  // what the first tile left
    SAME(s.two_running[0], second + t + 1 + t * (t - 1) / 2, t);
    SAME(s.two_running[1], second + t + 1 + t * (t + 1) / 2, t);
    for (int i = 0; i < kItems; ++i) {
      const Affine a = affine(t * kItems + i);
      SAME_AFFINE(s.exclusive_items[i], with_start, t);
      with_start = Then()(with_start, a);
      sum = t + i == 0 ? a : Then()(sum, a);
      SAME_AFFINE(s.inclusive_items[i], sum, t);
    }
    SAME_AFFINE(s.all, all, t);
    SAME_AFFINE(s.from_initial, initial, t);
    initial = Then()(initial, affine(t));
    if (t > 0) SAME_AFFINE(s.bare, bare, t);
    bare = t == 0 ? affine(t) : Then()(bare, affine(t));
  }
}

// ---- Warps -------------------------------------------------------------------------------------

struct Warp {
  Affine sum, sum_valid, inclusive, exclusive, aggregate, both[2];
  int int_sum, exclusive_sum, from, head, tail;
};

template <int kWidth>
__global__ void warp(Warp* out) {
  const int t = (int)threadIdx.x;
  Warp w;
  using Reduce = NS::WarpReduce<Affine, kWidth>;
  using Scan = NS::WarpScan<Affine, kWidth>;
  using Ints = NS::WarpReduce<int, kWidth>;
  __shared__ typename Reduce::TempStorage reduce[64];
  __shared__ typename Scan::TempStorage scan[64];
  __shared__ typename Ints::TempStorage ints[64];
  const int mine = t / kWidth;
  w.sum = Reduce(reduce[mine]).Reduce(affine(t), Then());
  w.sum_valid = Reduce(reduce[mine]).Reduce(affine(t), Then(), kWidth - 1);
  Scan(scan[mine]).InclusiveScan(affine(t), w.inclusive, Then(), w.aggregate);
  Scan(scan[mine]).ExclusiveScan(affine(t), w.exclusive, Affine{3, 4}, Then());
  Scan(scan[mine]).Scan(affine(t), w.both[0], w.both[1], Affine{3, 4}, Then());
  w.int_sum = Ints(ints[mine]).Sum(t);
  typename NS::WarpScan<int, kWidth>::TempStorage unused;
  NS::WarpScan<int, kWidth>(unused).ExclusiveSum(t, w.exclusive_sum);
  w.from = NS::WarpScan<int, kWidth>(unused).Broadcast(t, kWidth / 2);
  w.head = Ints(ints[mine]).HeadSegmentedSum(t, t % 3 == 0);
  w.tail = Ints(ints[mine]).TailSegmentedSum(t, t % 3 == 2);
  out[t] = w;
}

template <int kWidth>
void test_warp() {
  constexpr int n = kWidth * 4;
  Managed<Warp> out(n);
  warp<kWidth><<<1, n>>>(out.p);
  DEMAND(GPU(DeviceSynchronize)());
  for (int first = 0; first < n; first += kWidth) {
    Affine sum = affine(first), valid = sum, started = {3, 4};
    for (int i = 1; i < kWidth; ++i) {
      sum = Then()(sum, affine(first + i));
      if (i < kWidth - 1) valid = Then()(valid, affine(first + i));
    }
    int before = 0;
    Affine up_to = affine(first);
    for (int i = 0; i < kWidth; ++i) {
      const Warp& w = out[first + i];
      if (i > 0) up_to = Then()(up_to, affine(first + i));
      SAME_AFFINE(w.inclusive, up_to, first + i);
      SAME_AFFINE(w.aggregate, sum, first + i);
      SAME_AFFINE(w.exclusive, started, first + i);
      SAME_AFFINE(w.both[1], started, first + i);
      started = Then()(started, affine(first + i));
      SAME_AFFINE(w.both[0], started, first + i);
      SAME(w.exclusive_sum, before, first + i);
      before += first + i;
      SAME(w.from, first + kWidth / 2, first + i);
      // Segments of three lanes of the block, cut by the logical warp.
      const int t = first + i;
      if (i == 0 || t % 3 == 0) {
        int segment = 0;
        for (int k = t; k < first + kWidth && (k == t || k % 3 != 0); ++k) segment += k;
        SAME(w.head, segment, t);
        SAME(w.tail, segment, t);
      }
    }
    SAME(out[first].int_sum, before, first);
    SAME_AFFINE(out[first].sum, sum, first);
    if (kWidth > 1) SAME_AFFINE(out[first].sum_valid, valid, first);
  }
}

// ---- Movement ----------------------------------------------------------------------------------

struct Moved {
  int striped[kItems], warp_striped[kItems], blocked[kItems], again[kItems], scattered[kItems];
};

template <int x, int y, int z>
__global__ void exchange(Moved* out) {
  const int t = rank<x, y, z>();
  using Exchange = NS::BlockExchange<int, x, kItems, false, y, z>;
  __shared__ typename Exchange::TempStorage temp;
  Moved m;
  int items[kItems], ranks[kItems];
  for (int i = 0; i < kItems; ++i) items[i] = t * kItems + i;
  Exchange(temp).BlockedToStriped(items, m.striped);
  __syncthreads();
  Exchange(temp).BlockedToWarpStriped(items, m.warp_striped);
  __syncthreads();
  Exchange(temp).StripedToBlocked(m.striped, m.blocked);
  __syncthreads();
  for (int i = 0; i < kItems; ++i) m.again[i] = m.warp_striped[i];
  Exchange(temp).WarpStripedToBlocked(m.again);
  __syncthreads();
  for (int i = 0; i < kItems; ++i) ranks[i] = x * y * z * kItems - 1 - items[i];
  Exchange(temp).ScatterToBlocked(items, m.scattered, ranks);
  out[t] = m;
}

template <int x, int y, int z>
void test_exchange(int lanes) {
  constexpr int n = x * y * z;
  Managed<Moved> out(n);
  exchange<x, y, z><<<1, dim3(x, y, z)>>>(out.p);
  DEMAND(GPU(DeviceSynchronize)());
  for (int t = 0; t < n; ++t) {
    const int first = t / lanes * lanes, width = n - first < lanes ? n - first : lanes;
    for (int i = 0; i < kItems; ++i) {
      const int item = t * kItems + i;
      SAME(out[t].striped[i], i * n + t, t);
      SAME(out[t].warp_striped[i], first * kItems + i * width + t - first, t);
      SAME(out[t].blocked[i], item, t);
      SAME(out[t].again[i], item, t);
      SAME(out[t].scattered[i], n * kItems - 1 - item, t);
    }
  }
}

/// Copies a ragged array through registers, doubling it there: the same whichever way it moves.
template <int kIn, int kOut, int kEach>
__global__ void copy(const short* in, short* out, int n) {
  using Load = NS::BlockLoad<short, 96, kEach, (NS::BlockLoadAlgorithm)kIn>;
  using Store = NS::BlockStore<short, 96, kEach, (NS::BlockStoreAlgorithm)kOut>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } temp;
  constexpr int kTile = 96 * kEach;
  const int first = (int)blockIdx.x * kTile;
  short items[kEach];
  if (first + kTile <= n) {
    Load(temp.load).Load(in + first, items);
  } else {
    Load(temp.load).Load(in + first, items, n - first, (short)-1);
  }
  __syncthreads();
  for (int i = 0; i < kEach; ++i) items[i] = (short)(2 * items[i] + (kIn == 1 ? 0 : i % 2));
  if (first + kTile <= n) {
    Store(temp.store).Store(out + first, items);
  } else {
    Store(temp.store).Store(out + first, items, n - first);
  }
}

template <int kIn, int kOut, int kEach>
void test_copy() {
  constexpr int kTile = 96 * kEach, n = 2 * kTile + 100;
  Managed<short> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = (short)(i * 7 % 1000);
  copy<kIn, kOut, kEach><<<(n + kTile - 1) / kTile, 96>>>(in.p, out.p, n);
  DEMAND(GPU(DeviceSynchronize)());
  // A striped load leaves item i of thread t in another place: only its own store puts it back.
  for (int i = 0; i < n; ++i) SAME(out[i], 2 * in[i] + (kIn == 1 ? 0 : i % kEach % 2), i);
}

// ---- Sorting -----------------------------------------------------------------------------------

template <class Key>
struct Sorted {
  Key up[4], down[4], some[4];
  int up_value[4], some_value[4];
};

/// Keys with many equals, so that a sort that is not stable shows in the values.
template <class Key>
__host__ __device__ Key key_of(int i) {
  const int small = (i * 37) % 101 - 50;
  return Key(-1) < Key(0) ? (Key)small / (Key)2 : (Key)(small + 50);
}

template <class Key>
__global__ void sort(Sorted<Key>* out) {
  using Pairs = NS::BlockRadixSort<Key, 96, 4, int>;
  using Keys = NS::BlockRadixSort<Key, 96, 4>;
  __shared__ typename Pairs::TempStorage pairs;
  __shared__ typename Keys::TempStorage keys;
  Sorted<Key> s;
  const int t = (int)threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    s.up[i] = s.down[i] = s.some[i] = key_of<Key>(t * 4 + i);
    s.up_value[i] = s.some_value[i] = t * 4 + i;
  }
  Pairs(pairs).Sort(s.up, s.up_value);
  Keys(keys).SortDescending(s.down);
  __syncthreads();
  Pairs(pairs).SortBlockedToStriped(s.some, s.some_value, 0, 3);
  out[t] = s;
}

template <class Key>
void test_sort() {
  constexpr int n = 96 * 4;
  Managed<Sorted<Key>> out(96);
  sort<Key><<<1, 96>>>(out.p);
  DEMAND(GPU(DeviceSynchronize)());
  int previous = -1;
  for (int i = 0; i < n; ++i) {  // by counting how many come before it
    int before = 0, before_down = 0;
    for (int k = 0; k < n; ++k) {
      const Key a = key_of<Key>(k), b = key_of<Key>(i);
      before += a < b || (a == b && k < i);
      before_down += a > b || (a == b && k < i);
    }
    SAME(out[before / 4].up_value[before % 4], i, i);
    SAME(out[before / 4].up[before % 4] == key_of<Key>(i), 1, i);
    SAME(out[before_down / 4].down[before_down % 4] == key_of<Key>(i), 1, i);
    // Of striped results the i-th is item i / 96 of thread i % 96; only three bits count.
    const Key k = out[i % 96].some[i / 96];
    SAME(k == key_of<Key>(out[i % 96].some_value[i / 96]), 1, i);
    if (sizeof(Key) == 4 && !(Key(-1) < Key(0))) {
      const int low = (int)k & 7;
      SAME(low >= previous, 1, i);
      previous = low;
    }
  }
}

inline int test_collectives(int lanes) {
  test_reduce<128, 1, 1>(70);
  test_reduce<kX, kY, kZ>(65);
  test_reduce<20, 1, 1>(7);
  test_scan<128, 1, 1, NS::BLOCK_SCAN_RAKING>();
  test_scan<kX, kY, kZ, NS::BLOCK_SCAN_WARP_SCANS>();
  test_scan<33, 1, 1, NS::BLOCK_SCAN_RAKING_MEMOIZE>();
  test_warp<32>();
  test_warp<16>();
  test_warp<8>();
  test_exchange<kX, kY, kZ>(lanes);
  test_exchange<128, 1, 1>(lanes);
  test_copy<0, 0, 4>();
  test_copy<1, 1, 4>();
  test_copy<2, 2, 8>();
  test_copy<3, 3, 5>();
  test_copy<4, 4, 3>();
  test_copy<5, 5, 3>();
  test_copy<2, 3, 4>();
  test_sort<unsigned>();
  test_sort<int>();
  test_sort<float>();
  test_sort<double>();
  test_sort<signed char>();
  if (wrong == 0) std::printf("PASS\n");
  return wrong == 0 ? 0 : 1;
}
