// The types and operators around CUB's collectives: what a program names when it says what to
// combine and how. As functions they need nothing of a GPU, so they are for both halves.
#pragma once
#pragma clang system_header

#define CUB_MAX(a, b) (((b) > (a)) ? (b) : (a))
#define CUB_MIN(a, b) (((b) < (a)) ? (b) : (a))
#define CUB_QUOTIENT_FLOOR(x, y) ((x) / (y))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y) - 1) / (y))
#define CUB_ROUND_UP_NEAREST(x, y) (CUB_QUOTIENT_CEILING(x, y) * (y))
#define CUB_ROUND_DOWN_NEAREST(x, y) (((x) / (y)) * (y))

namespace SWIZZLEPERF_CUB {

struct NullType {};

template <int A>
struct Int2Type {
  enum { VALUE = A };
};
template <bool kCondition, class Then, class Else>
struct If {
  typedef Then Type;
};
template <class Then, class Else>
struct If<false, Then, Else> {
  typedef Else Type;
};
template <class A, class B>
struct Equals {
  enum { VALUE = 0, NEGATE = 1 };
};
template <class A>
struct Equals<A, A> {
  enum { VALUE = 1, NEGATE = 0 };
};
/// The least k with 2^k >= n.
template <int n>
struct Log2 {
  enum { VALUE = n <= 1 ? 0 : 1 + Log2<(n + 1) / 2>::VALUE };
};
template <>
struct Log2<1> {
  enum { VALUE = 0 };
};
template <>
struct Log2<0> {
  enum { VALUE = 0 };
};
template <int n>
struct PowerOfTwo {
  enum { VALUE = (n & (n - 1)) == 0 };
};

template <class K, class V>
struct KeyValuePair {
  typedef K Key;
  typedef V Value;
  Key key;
  Value value;
  KeyValuePair() = default;
  inline __attribute__((host, device)) KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
  inline __attribute__((host, device)) bool operator!=(const KeyValuePair& b) const {
    return value != b.value || key != b.key;
  }
  inline __attribute__((host, device)) bool operator==(const KeyValuePair& b) const {
    return !(*this != b);
  }
};

// ---- Operators ---------------------------------------------------------------------------------

#define SWIZZLEPERF_CUB_OPERATOR(name, result, expression)                                 \
  struct name {                                                                            \
    template <class T>                                                                     \
    inline __attribute__((host, device)) result operator()(const T& a, const T& b) const { \
      return expression;                                                                   \
    }                                                                                      \
  };
SWIZZLEPERF_CUB_OPERATOR(Sum, T, a + b)
SWIZZLEPERF_CUB_OPERATOR(Difference, T, a - b)
SWIZZLEPERF_CUB_OPERATOR(Division, T, a / b)
SWIZZLEPERF_CUB_OPERATOR(Max, T, a < b ? b : a)
SWIZZLEPERF_CUB_OPERATOR(Min, T, b < a ? b : a)
SWIZZLEPERF_CUB_OPERATOR(Equality, bool, a == b)
SWIZZLEPERF_CUB_OPERATOR(Inequality, bool, a != b)
#undef SWIZZLEPERF_CUB_OPERATOR

/// Of equal values the one with the smaller key.
struct ArgMax {
  template <class K, class V>
  inline __attribute__((host, device)) KeyValuePair<K, V> operator()(
      const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  inline __attribute__((host, device)) KeyValuePair<K, V> operator()(
      const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

template <class EqualityOp>
struct InequalityWrapper {
  EqualityOp op;
  inline __attribute__((host, device)) explicit InequalityWrapper(EqualityOp equal) : op(equal) {}
  template <class T>
  inline __attribute__((host, device)) bool operator()(const T& a, const T& b) {
    return !op(a, b);
  }
};
template <class B>
struct CastOp {
  template <class A>
  inline __attribute__((host, device)) B operator()(const A& a) const {
    return (B)a;
  }
};
template <class ScanOp>
struct SwizzleScanOp {
  ScanOp op;
  inline __attribute__((host, device)) explicit SwizzleScanOp(ScanOp scan) : op(scan) {}
  template <class T>
  inline __attribute__((host, device)) T operator()(const T& a, const T& b) {
    return op(b, a);
  }
};
/// Sums of segments: a pair's key counts the segment heads in what it stands for.
template <class ReductionOp>
struct ReduceBySegmentOp {
  ReductionOp op;
  ReduceBySegmentOp() = default;
  inline __attribute__((host, device)) explicit ReduceBySegmentOp(ReductionOp reduce)
      : op(reduce) {}
  template <class Pair>
  inline __attribute__((host, device)) Pair operator()(const Pair& a, const Pair& b) {
    Pair result;
    result.key = a.key + b.key;
    result.value = b.key ? b.value : op(a.value, b.value);
    return result;
  }
};
template <class ReductionOp>
struct ReduceByKeyOp {
  ReductionOp op;
  ReduceByKeyOp() = default;
  inline __attribute__((host, device)) explicit ReduceByKeyOp(ReductionOp reduce) : op(reduce) {}
  template <class Pair>
  inline __attribute__((host, device)) Pair operator()(const Pair& a, const Pair& b) {
    Pair result = b;
    if (a.key == b.key) result.value = op(a.value, b.value);
    return result;
  }
};

// ---- Which of several ways, where a program says so --------------------------------------------

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
enum CacheLoadModifier {
  LOAD_DEFAULT,
  LOAD_CA,
  LOAD_CG,
  LOAD_CS,
  LOAD_CV,
  LOAD_LDG,
  LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

}  // namespace SWIZZLEPERF_CUB
