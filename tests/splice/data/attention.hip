// Forward attention with grouped-query heads: one block does one tile of query rows of one head of
// one batch entry, and walks over the keys with an online softmax. Grid: query tiles, heads, batch.
#include <hip/hip_runtime.h>

#include <cmath>

struct AttentionShape {
  int batch;
  int heads;
  int kv_heads;
  int queries;
  int keys;
};

constexpr int kRows = 8;   // query rows a block, one a thread
constexpr int kKeys = 16;  // keys a step
constexpr int kDim = 8;    // elements a head

namespace {

// Where this block's head begins in a tensor of [batch][heads][rows][kDim].
__device__ size_t head_offset(int heads, int head, int rows) {
  return ((size_t)blockIdx.z * heads + head) * rows * kDim;
}

__device__ int query_head() { return blockIdx.y; }

__device__ int kv_head(const AttentionShape& shape) {
  return query_head() / (shape.heads / shape.kv_heads);
}

__device__ int first_row() { return blockIdx.x * kRows; }

// The last key that any row of this block may see.
__device__ int key_limit(const AttentionShape& shape, bool causal) {
  if (!causal) return shape.keys;
  const int offset = shape.keys - shape.queries;
  return min(first_row() + kRows + offset, shape.keys);
}

struct Softmax {
  float top = -1e30f;
  float sum = 0.0f;

  // The factor by which what was summed so far shrinks.
  __device__ float take(float score, float* weight) {
    const float higher = fmaxf(top, score);
    const float shrink = expf(top - higher);
    *weight = expf(score - higher);
    sum = sum * shrink + *weight;
    top = higher;
    return shrink;
  }
};

}  // namespace

template <bool kCausal>
__global__ void attention_forward(const float* __restrict__ q, const float* __restrict__ k,
                                  const float* __restrict__ v, float* __restrict__ out,
                                  AttentionShape shape, float scale) {
  __shared__ float key_tile[kKeys][kDim];
  __shared__ float value_tile[kKeys][kDim];

  const int row = first_row() + (int)threadIdx.x;
  const bool active = row < shape.queries;
  const float* q_head = q + head_offset(shape.heads, query_head(), shape.queries);
  const float* k_head = k + head_offset(shape.kv_heads, kv_head(shape), shape.keys);
  const float* v_head = v + head_offset(shape.kv_heads, kv_head(shape), shape.keys);

  float query[kDim];
  float sums[kDim];
  for (int d = 0; d < kDim; ++d) {
    query[d] = active ? q_head[row * kDim + d] * scale : 0.0f;
    sums[d] = 0.0f;
  }

  Softmax softmax;
  const int limit = key_limit(shape, kCausal);
  for (int key0 = 0; key0 < limit; key0 += kKeys) {
    for (int i = threadIdx.x; i < kKeys * kDim; i += blockDim.x) {
      const int key = key0 + i / kDim;
      key_tile[i / kDim][i % kDim] = key < shape.keys ? k_head[key0 * kDim + i] : 0.0f;
      value_tile[i / kDim][i % kDim] = key < shape.keys ? v_head[key0 * kDim + i] : 0.0f;
    }
    __syncthreads();
    const auto visible = [=](int key) {
      return key < shape.keys && (!kCausal || key <= row + shape.keys - shape.queries);
    };
    for (int j = 0; j < kKeys && active; ++j) {
      if (!visible(key0 + j)) continue;
      float score = 0.0f;
      for (int d = 0; d < kDim; ++d) score += query[d] * key_tile[j][d];
      float weight;
      const float shrink = softmax.take(score, &weight);
      for (int d = 0; d < kDim; ++d) sums[d] = sums[d] * shrink + weight * value_tile[j][d];
    }
    __syncthreads();
  }

  if (!active) return;
  float* out_head = out + head_offset(shape.heads, query_head(), shape.queries);
  for (int d = 0; d < kDim; ++d) out_head[row * kDim + d] = sums[d] / softmax.sum;
}

#ifdef __HIP__
void attention(const float* q, const float* k, const float* v, float* out, AttentionShape shape,
               bool causal, hipStream_t stream) {
  const dim3 grid((shape.queries + kRows - 1) / kRows, shape.heads, shape.batch);
  const float scale = 1.0f / std::sqrt((float)kDim);
  if (causal)
    attention_forward<true><<<grid, kRows, 0, stream>>>(q, k, v, out, shape, scale);
  else
    attention_forward<false><<<grid, kRows, 0, stream>>>(q, k, v, out, shape, scale);
}
#endif
