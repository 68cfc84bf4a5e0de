// Attention where few queries meet many keys: out = softmax(Q K^T / sqrt(128)) V, 16 queries a block.
//
// So it is when a prompt is worked through in short parts, or when guessed tokens are checked, for
// many sequences at once: a "head" here is one head of one sequence. A block goes through all keys
// and values of its head, 16 operations for every byte of them, so memory binds, and the order of
// launch decides which memory:
//
//     block-first (default)   x = head, y = queries: neighbours have different heads and share nothing
//     head-first              x = queries, y = head: neighbours read the same keys, from L2 and L1
//
// Four warps share out a block's keys, 16 at a time, each with its own greatest score, sum of powers
// and weighted sum of values, which are put together in the end. Keys and values go straight from
// memory into the tensor cores' operands, 16 bytes a load: in which order a product goes along the
// dimension, or which column of the result is which dimension, is ours to choose.
//
//     Q K^T, operand of K: lane 4 g + c holds dimensions 32 j + 8 c ... + 8 of keys g and g + 8
//     P V,   operand of V: lane 4 g + c holds dimensions 64 j + 8 g ... + 8 of keys 2 c, 2 c + 1,
//            2 c + 8, 2 c + 9, whose halves are then paired by key
//
// Under clang, so on the virtual GPU, which reads no PTX, the same lines come by wmma.
//
// Usage: few_queries [HEADS QUERIES KEYS] [--head-first] [--check]            (512 4096 4096)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kDim = 128;
constexpr int kTile = 16;  // queries of a block, and keys that a warp takes at a time
constexpr int kWarps = 4;
constexpr float kLog2E = 1.44269504F;

/// What a warp has of a block's result: scores are in powers of two from the start.
struct Merged {
  float out[kWarps][kTile][kDim];
  float greatest[kWarps][kTile];
  float sum[kWarps][kTile];
};

#if !defined(__clang__)

using Eight = uint4;  // halves

__device__ inline void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline unsigned word(const Eight& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
__device__ inline Eight load(const half* p) { return *reinterpret_cast<const Eight*>(p); }
__device__ inline unsigned pack(float low, float high) {
  const half2 two = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&two);
}
/// Of the four lanes that share a row.
template <typename F>
__device__ inline float over_row(float v, F f) {
  v = f(v, __shfl_xor_sync(~0U, v, 1));
  return f(v, __shfl_xor_sync(~0U, v, 2));
}

/// 16 keys and values as they come from memory.
struct Tile {
  Eight keys[2][4];       // [g, g + 8][dimensions from 32 j + 8 c]
  Eight values[2][2][2];  // [2 c, 2 c + 8][+ 0, + 1][dimensions from 64 j + 8 g]

  __device__ void fetch(const half* k, const half* v) {
    const int g = threadIdx.x % 32 / 4;
    const int c = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) keys[i][j] = load(k + (g + 8 * i) * kDim + 32 * j + 8 * c);
#pragma unroll
      for (int second = 0; second < 2; ++second) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          values[i][second][j] = load(v + (2 * c + 8 * i + second) * kDim + 64 * j + 8 * g);
        }
      }
    }
  }
};

__device__ inline void attend(const half* queries, const half* keys, const half* values, int length,
                              float scale, Merged& merged) {
  const int warp = threadIdx.x / 32;
  const int g = threadIdx.x % 32 / 4;
  const int c = threadIdx.x % 4;
  unsigned q[8][4];  // a step of Q K^T has dimensions 32 j + 8 c + {0, 1, 2, 3} or {4, 5, 6, 7}
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const Eight upper = load(queries + g * kDim + 32 * j + 8 * c);
    const Eight lower = load(queries + (g + 8) * kDim + 32 * j + 8 * c);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      q[2 * j + s][0] = word(upper, 2 * s);
      q[2 * j + s][1] = word(lower, 2 * s);
      q[2 * j + s][2] = word(upper, 2 * s + 1);
      q[2 * j + s][3] = word(lower, 2 * s + 1);
    }
  }
  float out[16][4] = {};
  float greatest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
  for (int key = warp * kTile; key < length; key += kWarps * kTile) {
    Tile tile;
    tile.fetch(keys + static_cast<size_t>(key) * kDim, values + static_cast<size_t>(key) * kDim);
    float scores[2][4] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int s = 0; s < 8; ++s) {
        const Eight& k = tile.keys[i][s / 2];
        multiply_add(scores[i], q[s], word(k, s % 2 * 2), word(k, s % 2 * 2 + 1));
      }
    }
    // A lane holds of rows g (first two) and g + 8 the columns 2 c, 2 c + 1, and those 8 further.
    unsigned powers[4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = fmaxf(fmaxf(scores[0][2 * r], scores[0][2 * r + 1]),
                         fmaxf(scores[1][2 * r], scores[1][2 * r + 1]));
      most = over_row(most, [](float a, float b) { return fmaxf(a, b); });
      most = fmaxf(greatest[r], most * scale);
      const float shrink = exp2f(greatest[r] - most);
      greatest[r] = most;
      sum[r] *= shrink;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float first = exp2f(scores[i][2 * r] * scale - most);
        const float second = exp2f(scores[i][2 * r + 1] * scale - most);
        sum[r] += first + second;
        powers[2 * i + r] = pack(first, second);
      }
#pragma unroll
      for (auto& part : out) {
        part[2 * r] *= shrink;
        part[2 * r + 1] *= shrink;
      }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        unsigned pairs[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          pairs[i] = __byte_perm(word(tile.values[i][0][j], e / 2), word(tile.values[i][1][j], e / 2),
                                 e % 2 == 0 ? 0x5410 : 0x7632);
        }
        multiply_add(out[8 * j + e], powers, pairs[0], pairs[1]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = g + 8 * r;
    const float all = over_row(sum[r], [](float a, float b) { return a + b; });
    if (c == 0) {
      merged.greatest[warp][row] = greatest[r];
      merged.sum[warp][row] = all;
    }
    // Column n of tile 8 j + e is dimension 64 j + 8 n + e; a lane has columns 2 c and 2 c + 1.
#pragma unroll
    for (int t = 0; t < 16; ++t) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        merged.out[warp][row][64 * (t / 8) + 8 * (2 * c + i) + t % 8] = out[t][2 * r + i];
      }
    }
  }
}

#else

__device__ inline void attend(const half* queries, const half* keys, const half* values, int length,
                              float scale, Merged& merged) {
  using namespace nvcuda;
  __shared__ float scores[kWarps][kTile][kTile];
  __shared__ half powers[kWarps][kTile][kTile];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> q[kDim / kTile];
  for (int i = 0; i < kDim / kTile; ++i) wmma::load_matrix_sync(q[i], queries + i * kTile, kDim);
  for (int e = lane; e < kTile * kDim; e += 32) merged.out[warp][e / kDim][e % kDim] = 0;
  float greatest = -INFINITY;
  float sum = 0;
  for (int key = warp * kTile; key < length; key += kWarps * kTile) {
    wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> score;
    wmma::fill_fragment(score, 0.0F);
    for (int i = 0; i < kDim / kTile; ++i) {
      wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::col_major> k;
      wmma::load_matrix_sync(k, keys + static_cast<size_t>(key) * kDim + i * kTile, kDim);
      wmma::mma_sync(score, q[i], k, score);
    }
    wmma::store_matrix_sync(&scores[warp][0][0], score, kTile, wmma::mem_row_major);
    __syncwarp();
    if (lane < kTile) {
      float most = greatest;
      for (float s : scores[warp][lane]) most = fmaxf(most, s * scale);
      const float shrink = exp2f(greatest - most);
      greatest = most;
      sum *= shrink;
      for (int e = 0; e < kTile; ++e) {
        const float power = exp2f(scores[warp][lane][e] * scale - most);
        sum += power;
        powers[warp][lane][e] = __float2half(power);
      }
      for (float& o : merged.out[warp][lane]) o *= shrink;
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, half, wmma::row_major> p;
    wmma::load_matrix_sync(p, &powers[warp][0][0], kTile);
    for (int i = 0; i < kDim / kTile; ++i) {
      wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, half, wmma::row_major> v;
      wmma::load_matrix_sync(v, values + static_cast<size_t>(key) * kDim + i * kTile, kDim);
      wmma::load_matrix_sync(score, &merged.out[warp][0][i * kTile], kDim, wmma::mem_row_major);
      wmma::mma_sync(score, p, v, score);
      wmma::store_matrix_sync(&merged.out[warp][0][i * kTile], score, kDim, wmma::mem_row_major);
    }
    __syncwarp();
  }
  if (lane < kTile) {
    merged.greatest[warp][lane] = greatest;
    merged.sum[warp][lane] = sum;
  }
}

#endif

__global__ void __launch_bounds__(32 * kWarps)
    few_queries(const half* q, const half* k, const half* v, half* out, int queries, int length,
                bool head_first) {
  extern __shared__ __align__(16) char shared[];
  Merged& merged = *reinterpret_cast<Merged*>(shared);
  const size_t head = head_first ? blockIdx.y : blockIdx.x;
  const int first = (head_first ? blockIdx.x : blockIdx.y) * kTile;
  const size_t row = head * queries + first;
  attend(q + row * kDim, k + head * length * kDim, v + head * length * kDim, length,
         kLog2E / sqrtf(static_cast<float>(kDim)), merged);
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * kDim; i += 32 * kWarps) {
    const int r = i / kDim;
    float most = merged.greatest[0][r];
    for (int w = 1; w < kWarps; ++w) most = fmaxf(most, merged.greatest[w][r]);
    float sum = 0;
    float value = 0;
    for (int w = 0; w < kWarps; ++w) {
      const float shrink = exp2f(merged.greatest[w][r] - most);
      sum += merged.sum[w][r] * shrink;
      value += merged.out[w][r][i % kDim] * shrink;
    }
    out[row * kDim + i] = __float2half(value / sum);
  }
}

/// Some rows against sums in double precision. Arrays repeat `values`.
bool right(const std::vector<half>& values, const half* out, int heads, int queries, int length) {
  const auto at = [&](size_t i) { return static_cast<double>(__half2float(values[i % values.size()])); };
  double worst = 0;
  std::vector<half> got(kDim);
  std::vector<double> powers(length);
  for (int i = 0; i < 16; ++i) {
    const size_t row = (static_cast<size_t>(heads) * queries - 1) * i / 15;
    const size_t first_key = row / queries * length;
    double sum = 0;
    std::vector<double> expected(kDim);
    for (int key = 0; key < length; ++key) {
      double score = 0;
      for (int d = 0; d < kDim; ++d) score += at(row * kDim + d) * at((first_key + key) * kDim + d);
      powers[key] = std::exp(score / std::sqrt(kDim));
      sum += powers[key];
      for (int d = 0; d < kDim; ++d) expected[d] += powers[key] * at((first_key + key) * kDim + d);
    }
    cudaMemcpy(got.data(), out + row * kDim, kDim * sizeof(half), cudaMemcpyDeviceToHost);
    for (int d = 0; d < kDim; ++d) {
      worst = std::max(worst, std::abs(expected[d] / sum - __half2float(got[d])));
    }
  }
  std::printf("worst error %.2g\n", worst);
  return worst < 2e-3;
}

int main(int argc, char** argv) {
  int sizes[3] = {512, 4096, 4096};
  int given = 0;
  bool head_first = false;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--head-first") == 0) {
      head_first = true;
    } else if (std::strcmp(argv[i], "--check") == 0) {
      check = true;
    } else if (given < 3) {
      sizes[given++] = std::atoi(argv[i]);
    }
  }
  const auto [heads, queries, length] = sizes;
  if (heads < 1 || queries < kTile || queries % kTile != 0 || length < kWarps * kTile ||
      length % (kWarps * kTile) != 0) {
    std::fprintf(stderr, "few_queries: HEADS from 1, QUERIES a multiple of %d, KEYS of %d\n", kTile,
                 kWarps * kTile);
    return 2;
  }
  std::vector<half> values((1 << 20) - 3);  // repeated; an odd length, so no head equals another
  unsigned state = 1;
  for (half& v : values) {
    state = state * 1664525 + 1013904223;
    v = __float2half(static_cast<float>(state >> 16) / 32768 - 1);
  }
  // q, k, v, out
  half* device[4] = {};
  for (int i = 0; i < 4; ++i) {
    const size_t count = static_cast<size_t>(heads) * (i == 1 || i == 2 ? length : queries) * kDim;
    if (cudaMalloc(&device[i], count * sizeof(half)) != cudaSuccess) {
      std::fprintf(stderr, "few_queries: no room on the device\n");
      return 3;
    }
    for (size_t at = 0; i < 3 && at < count; at += values.size()) {
      const size_t some = std::min(values.size(), count - at);
      cudaMemcpy(device[i] + at, values.data(), some * sizeof(half), cudaMemcpyHostToDevice);
    }
  }
  const dim3 grid = head_first ? dim3(queries / kTile, heads) : dim3(heads, queries / kTile);
  few_queries<<<grid, 32 * kWarps, sizeof(Merged)>>>(device[0], device[1], device[2], device[3],
                                                     queries, length, head_first);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::fprintf(stderr, "few_queries: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 3;
  }
  return !check || right(values, device[3], heads, queries, length) ? 0 : 1;
}
