// Which key is most like each query? Attention's pattern of access without most of its arithmetic.
//
// Each block has 16 queries of one head and goes through all keys of that head, so all blocks of a
// head read the same keys: 4 MB by default, 268 MB in all heads. Its four warps take every fourth
// tile of 16 keys each, straight from memory into the tensor cores, and keep the greatest score of
// each query. At 16 operations a byte nothing but memory binds, so the order of launch decides:
//
//     block-first (default)   x = head, y = queries: neighbours have different heads
//     head-first              x = queries, y = head
//
// The suite's attention is bound by arithmetic on this GPU, and its order matters by 4 % there.
//
// Usage: nearest_key [HEADS LENGTH] [--head-first]                                    (64 16384)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kDim = 128;
constexpr int kTile = 16;
constexpr int kWarps = 4;

__global__ void nearest_key(const half* queries, const half* keys, float* greatest, int length,
                            bool head_first) {
  using namespace nvcuda;
  const int head = head_first ? blockIdx.y : blockIdx.x;
  const int tile = head_first ? blockIdx.x : blockIdx.y;
  const int warp = threadIdx.x / 32;
  const half* q = queries + (static_cast<size_t>(head) * length + tile * kTile) * kDim;
  const half* k = keys + static_cast<size_t>(head) * length * kDim;

  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> a[kDim / kTile];
  for (int i = 0; i < kDim / kTile; ++i) wmma::load_matrix_sync(a[i], q + i * kTile, kDim);
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> best;
  wmma::fill_fragment(best, -1e30F);
  for (int key = warp * kTile; key < length; key += kWarps * kTile) {
    wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> b[kDim / kTile];
    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> score;
    wmma::fill_fragment(score, 0.0F);
    for (int i = 0; i < kDim / kTile; ++i) {
      wmma::load_matrix_sync(b[i], k + static_cast<size_t>(key) * kDim + i * kTile, kDim);
    }
    for (int i = 0; i < kDim / kTile; ++i) wmma::mma_sync(score, a[i], b[i], score);
    for (int e = 0; e < score.num_elements; ++e) best.x[e] = fmaxf(best.x[e], score.x[e]);
  }
  // 16 x 16 of each warp: the greatest of its own columns and of the other warps'.
  __shared__ float scores[kWarps][kTile * kTile];
  wmma::store_matrix_sync(scores[warp], best, kTile, wmma::mem_row_major);
  __syncthreads();
  if (threadIdx.x < kTile) {
    float most = -1e30F;
    for (int w = 0; w < kWarps; ++w) {
      for (int c = 0; c < kTile; ++c) most = fmaxf(most, scores[w][threadIdx.x * kTile + c]);
    }
    greatest[static_cast<size_t>(head) * length + tile * kTile + threadIdx.x] = most;
  }
}

int main(int argc, char** argv) {
  int sizes[2] = {64, 16384};
  int given = 0;
  bool head_first = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--head-first") == 0) {
      head_first = true;
    } else if (given < 2) {
      sizes[given++] = std::atoi(argv[i]);
    }
  }
  const int heads = sizes[0];
  const int length = sizes[1];
  if (heads < 1 || length < kTile || length % kTile != 0) {
    std::fprintf(stderr, "nearest_key: HEADS from 1, LENGTH a multiple of %d\n", kTile);
    return 2;
  }
  const size_t count = static_cast<size_t>(heads) * length * kDim;
  std::vector<half> values(1 << 20);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = __float2half(static_cast<float>((i * 2654435761U >> 16) % 2001) / 1000 - 1);
  }
  half* queries = nullptr;
  half* keys = nullptr;
  float* greatest = nullptr;
  if (cudaMalloc(&queries, count * 2) != cudaSuccess || cudaMalloc(&keys, count * 2) != cudaSuccess ||
      cudaMalloc(&greatest, static_cast<size_t>(heads) * length * 4) != cudaSuccess) {
    std::fprintf(stderr, "nearest_key: no room on the device\n");
    return 3;
  }
  for (size_t at = 0; at < count; at += values.size()) {
    const size_t some = count - at < values.size() ? count - at : values.size();
    values[at / values.size() % values.size()] = __float2half(0.5F);  // no piece equals another
    cudaMemcpy(queries + at, values.data(), some * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(keys + at, values.data(), some * 2, cudaMemcpyHostToDevice);
  }
  const dim3 grid = head_first ? dim3(length / kTile, heads) : dim3(heads, length / kTile);
  nearest_key<<<grid, 32 * kWarps>>>(queries, keys, greatest, length, head_first);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  std::vector<float> first(kTile);
  cudaMemcpy(first.data(), greatest, kTile * 4, cudaMemcpyDeviceToHost);
  std::printf("%g\n", first[0]);
  return 0;
}
