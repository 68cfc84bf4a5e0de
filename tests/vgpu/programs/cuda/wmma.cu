// Tensor-core fragments: half and bfloat16 products against a reference on the host, three shapes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "check.h"

using namespace nvcuda;

template <class T, int M, int N, int K, class LayoutA, class LayoutB>
__global__ void multiply(const T* a, const T* b, float* c, int k, int lda, int ldb, int ldc) {
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  wmma::fragment<wmma::accumulator, M, N, K, float> sum;
  wmma::fill_fragment(sum, 1.0f);
  for (int i = 0; i < k; i += K) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::load_matrix_sync(fa, a + row * lda + i, lda);
    wmma::load_matrix_sync(fb, b + column * ldb + i, ldb);  // columns of B lie together
    wmma::mma_sync(sum, fa, fb, sum);
  }
  for (int e = 0; e < sum.num_elements; ++e) sum.x[e] *= 0.5f;
  wmma::store_matrix_sync(c + row * ldc + column, sum, ldc, wmma::mem_row_major);
}

template <class T, int M, int N, int K>
void run() {
  constexpr int kM = 2 * M, kN = 3 * N, kK = 2 * K;
  static T a[kM * kK], b[kN * kK];
  static float c[kM * kN];
  for (int i = 0; i < kM * kK; ++i) a[i] = T((float)(i % 13) * 0.25f - 1.0f);
  for (int i = 0; i < kN * kK; ++i) b[i] = T((float)(i % 7) * 0.5f - 1.5f);
  T *da, *db;
  float* dc;
  CHECK(cudaMalloc(&da, sizeof a));
  CHECK(cudaMalloc(&db, sizeof b));
  CHECK(cudaMalloc(&dc, sizeof c));
  CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
  multiply<T, M, N, K, wmma::row_major, wmma::col_major>
      <<<dim3(kN / N, kM / M), 32>>>(da, db, dc, kK, kK, kK, kN);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      float wanted = 1.0f;
      for (int i = 0; i < kK; ++i) wanted += (float)a[row * kK + i] * (float)b[column * kK + i];
      EXPECT_NEAR(c[row * kN + column], 0.5f * wanted, 1e-4);
    }
  }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
}

int main() {
  run<half, 16, 16, 16>();
  run<half, 32, 8, 16>();
  run<half, 8, 32, 16>();
  run<__nv_bfloat16, 16, 16, 16>();
  return finish();
}
