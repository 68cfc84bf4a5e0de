// C = A * B in tiles through shared memory, tiles walked in groups of rows so that blocks that run
// together read the same columns of B. Any size; the last tiles are ragged.
#include <hip/hip_runtime.h>

#include <cstdio>

#define CHECK(call)                                                        \
  do {                                                                     \
    const hipError_t status = (call);                                      \
    if (status != hipSuccess) {                                            \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));  \
    }                                                                      \
  } while (0)

namespace gemm {

struct TileIndex {
  int m;
  int n;
};

__host__ __device__ constexpr int cdiv(int a, int b) { return (a + b - 1) / b; }

// The order of the tiles: group_m rows at a time, down the rows first.
__device__ __forceinline__ TileIndex grouped_tile(int pid, int tiles_m, int tiles_n, int group_m) {
  const int blocks_in_group = group_m * tiles_n;
  const int group_id = pid / blocks_in_group;
  const int first_m = group_id * group_m;
  const int group_size = min(tiles_m - first_m, group_m);
  return {first_m + (pid % group_size), (pid % blocks_in_group) / group_size};
}

// A block's tile of a row-major matrix, into shared memory; zeros outside.
template <int ROWS, int COLS>
__device__ void load_tile(float (*tile)[COLS], const float* from, int rows, int cols, int row0,
                          int col0) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < ROWS * COLS; i += blockDim.x * blockDim.y) {
    const int r = i / COLS;
    const int c = i % COLS;
    const bool inside = row0 + r < rows && col0 + c < cols;
    tile[r][c] = inside ? from[(row0 + r) * cols + col0 + c] : 0.0f;
  }
}

}  // namespace gemm

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
    gemm_grouped(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                 int M, int N, int K, int group_m) {
  __shared__ float a_tile[BM][BK];
  __shared__ float b_tile[BK][BN];

  const int tiles_m = gemm::cdiv(M, BM);
  const int tiles_n = gemm::cdiv(N, BN);
  const int pid = blockIdx.y * gridDim.x + blockIdx.x;
  const gemm::TileIndex tile = gemm::grouped_tile(pid, tiles_m, tiles_n, group_m);
  const int row0 = tile.m * BM;
  const int col0 = tile.n * BN;

  float sums[TM][TN];
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) sums[i][j] = 0.0f;

  for (int k0 = 0; k0 < K; k0 += BK) {
    gemm::load_tile<BM, BK>(a_tile, A, M, K, row0, k0);
    gemm::load_tile<BK, BN>(b_tile, B, K, N, k0, col0);
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float a[TM];
      float b[TN];
      for (int i = 0; i < TM; ++i) a[i] = a_tile[threadIdx.y * TM + i][k];
      for (int j = 0; j < TN; ++j) b[j] = b_tile[k][threadIdx.x * TN + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sums[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }

  for (int i = 0; i < TM; ++i) {
    const int row = row0 + threadIdx.y * TM + i;
    for (int j = 0; j < TN; ++j) {
      const int col = col0 + threadIdx.x * TN + j;
      if (row < M && col < N) C[row * N + col] = sums[i][j];
    }
  }
}

#ifdef __HIP__
int main(int argc, char** argv) {
  (void)argv;
  const int M = 1000 + argc;
  const int N = 777;
  const int K = 256;
  float *a, *b, *c;
  CHECK(hipMalloc(reinterpret_cast<void**>(&a), sizeof(float) * M * K));
  CHECK(hipMalloc(reinterpret_cast<void**>(&b), sizeof(float) * K * N));
  CHECK(hipMalloc(reinterpret_cast<void**>(&c), sizeof(float) * M * N));
  const dim3 grid(gemm::cdiv(M, 128) * gemm::cdiv(N, 128));
  gemm_grouped<128, 128, 16, 8, 8><<<grid, dim3(16, 16)>>>(a, b, c, M, N, K, 8);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  CHECK(hipFree(a));
  CHECK(hipFree(b));
  CHECK(hipFree(c));
  return 0;
}
#endif
