// wmma: a warp's matrix fragments, over shuffles.
//
// CUDA leaves the layout of a fragment open, so it is ours: element i of the matrix, counted so
// that neighbours along the shorter way to a dot product lie in one element of neighbouring lanes,
// is element i / 32 of lane i % 32. A (M x K) is counted down its columns, B (K x N) and the
// accumulator (M x N) along their rows. Then for every k the element of A and of B that an output
// needs is the same in all lanes, and only the lane varies: one shuffle fetches it.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(SWIZZLEPERF_DEVICE)

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace details {

template <class T>
struct Stored {
  using type = T;
};
template <>
struct Stored<precision::tf32> {
  using type = float;
};

/// What products of a type are summed in.
template <class T>
struct Sum {
  using type = float;
};
template <>
struct Sum<double> {
  using type = double;
};
template <>
struct Sum<int> {
  using type = int;
};

template <class Use, int M, int N, int K>
struct Shape;
template <int M, int N, int K>
struct Shape<matrix_a, M, N, K> {
  static constexpr int kRows = M, kColumns = K;
  static constexpr bool kDown = true;
};
template <int M, int N, int K>
struct Shape<matrix_b, M, N, K> {
  static constexpr int kRows = K, kColumns = N;
  static constexpr bool kDown = false;
};
template <int M, int N, int K>
struct Shape<accumulator, M, N, K> {
  static constexpr int kRows = M, kColumns = N;
  static constexpr bool kDown = false;
};

/// Calls f(element, row, column) for what this lane holds.
template <class S, class F>
SWIZZLEPERF_DEVICE void for_elements(F f) {
  constexpr int kAlong = S::kDown ? S::kRows : S::kColumns;
  for (int e = 0; e < S::kRows * S::kColumns / 32; ++e) {
    const int i = e * 32 + (int)__swizzleperf_lane();
    const int along = i % kAlong;
    const int across = i / kAlong;
    f(e, S::kDown ? along : across, S::kDown ? across : along);
  }
}

}  // namespace details

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  using storage_element_type = typename details::Stored<T>::type;
  using element_type = storage_element_type;
  using swizzleperf_shape = details::Shape<Use, M, N, K>;
  static constexpr int num_elements = swizzleperf_shape::kRows * swizzleperf_shape::kColumns / 32;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class V>
SWIZZLEPERF_DEVICE void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
  for (auto& element : f.x) element = value;
}

template <class Use, int M, int N, int K, class T, class P>
SWIZZLEPERF_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& f, const P* p,
                                         unsigned pitch) {
  details::for_elements<details::Shape<Use, M, N, K>>(
      [&](int e, int row, int column) { f.x[e] = p[(size_t)row * pitch + (size_t)column]; });
}
template <class Use, int M, int N, int K, class T, class P>
SWIZZLEPERF_DEVICE void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& f, const P* p,
                                         unsigned pitch) {
  details::for_elements<details::Shape<Use, M, N, K>>(
      [&](int e, int row, int column) { f.x[e] = p[(size_t)column * pitch + (size_t)row]; });
}
template <int M, int N, int K, class T, class P>
SWIZZLEPERF_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T, void>& f, const P* p,
                                         unsigned pitch, layout_t layout) {
  details::for_elements<details::Shape<accumulator, M, N, K>>([&](int e, int row, int column) {
    f.x[e] = layout == mem_row_major ? p[(size_t)row * pitch + (size_t)column]
                                     : p[(size_t)column * pitch + (size_t)row];
  });
}
template <int M, int N, int K, class T, class P>
SWIZZLEPERF_DEVICE void store_matrix_sync(P* p, const fragment<accumulator, M, N, K, T, void>& f,
                                          unsigned pitch, layout_t layout) {
  details::for_elements<details::Shape<accumulator, M, N, K>>([&](int e, int row, int column) {
    p[layout == mem_row_major ? (size_t)row * pitch + (size_t)column
                              : (size_t)column * pitch + (size_t)row] = f.x[e];
  });
}

SWIZZLEPERF_DEVICE float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  return x != x ? x : __uint_as_float((bits + 0x1000) & 0xffffe000u);  // ties away from zero
}

template <int M, int N, int K, class D, class A, class LayoutA, class B, class LayoutB, class C>
SWIZZLEPERF_DEVICE void mma_sync(fragment<accumulator, M, N, K, D, void>& d,
                                 const fragment<matrix_a, M, N, K, A, LayoutA>& a,
                                 const fragment<matrix_b, M, N, K, B, LayoutB>& b,
                                 const fragment<accumulator, M, N, K, C, void>& c,
                                 bool saturate = false) {
  (void)saturate;  // an int accumulator of these depths cannot overflow but from c
  using Sum = typename details::Sum<C>::type;
  constexpr int kElements = M * N / 32;
  const int lane = (int)__swizzleperf_lane();
  Sum sums[kElements];
  for (int e = 0; e < kElements; ++e) sums[e] = (Sum)c.x[e];
  for (int k = 0; k < K; ++k) {
    const int b_lane = k * N % 32 + lane % N;
    const Sum from_b = __swizzleperf_from((Sum)b.x[k * N / 32], b_lane);
    const Sum of_a = (Sum)a.x[k * M / 32];
    for (int e = 0; e < kElements; ++e) {
      const int row = (e * 32 + lane) / N;
      sums[e] += __swizzleperf_from(of_a, k * M % 32 + row) * from_b;
    }
  }
  for (int e = 0; e < kElements; ++e) d.x[e] = sums[e];
}

}  // namespace wmma
}  // namespace nvcuda

#endif
