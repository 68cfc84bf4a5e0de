// Attention, forward: out = softmax(Q K^T / sqrt(dim)) V for each head, without storing the scores.
//
// Multi-head (as many heads of keys as of queries), grouped-query (several heads of queries share
// one of keys), with or without a causal mask (no query sees a later key). Halves; sums in single
// precision.
//
// A block of 256 threads has 128 queries of one head and goes through the keys and values of that
// head, 64 at a time, keeping for each query the greatest score so far, the sum of powers and the
// weighted sum of values; when the greatest grows, the sums so far are scaled down.
//
//     block (b, h):  Q[h, 128 b ... + 128)  once,
//                    K and V of head h * kv_heads / heads, all of them (causal: up to 128 b + 128)
//                    ->  out[h, 128 b ... + 128)
//
// All blocks of a head read the same K and V: 8 MB a head by default, more than an L2 holds, so
// blocks that share them must run on one die at the same time. Two orders of launch, by option:
//
//     head-first (default)   x = b, y = h: a head's blocks follow each other, dealt to all dies
//     block-first            x = h, y = b: neighbours have different heads
//
// What swizzles win here is one die a head: each L2 then holds the keys of few heads. Under a
// causal mask late queries have most keys; they are launched first, so that no long block is left
// to the end.
//
// Matrix cores: S^T = K Q^T, then out^T = V^T P^T. On AMD the registers in which S^T arrives are
// those in which P^T is wanted, a query is a lane (and the one 32 further), and powers never leave
// registers. NVIDIA's wmma hides who holds what, so there S goes through LDS.
//
// Usage: attention [HEADS KV_HEADS LENGTH DIM] [--causal] [--block-first] [--token-major]
//                  [--check] [--time N]                        (32 32 16384 128; DIM is 64 or 128)
//   --token-major: arrays are [token][head][dim] instead of [head][token][dim]. Entries of a batch
//   are more heads.
#include "../common/matrix_tile.h"
#include "../common/program.h"

namespace {

using tile::kChunk;
using tile::lane;

constexpr int kQueries = 128;
constexpr int kKeys = 64;
constexpr int kThreads = 256;
constexpr float kLog2E = 1.44269504F;

/// What is asked, and how the arrays lie.
struct Shape {
  int heads;
  int kv_heads;
  int length;
  bool block_first;
  bool token_major;
  __host__ __device__ int blocks() const { return (length + kQueries - 1) / kQueries; }
};

/// One head of Q, K, V or out.
template <typename T>
struct Rows {
  T* data;
  std::size_t stride;  // from token to token
  int length;
  __device__ T* row(int token) const { return data + token * stride; }
  /// Past the end the last is read again; whoever asks makes sure that it does not count.
  __device__ T* clamped(int token) const { return row(min(token, length - 1)); }
};

template <int kDim, typename T>
__device__ Rows<T> rows_of(T* array, const Shape& shape, int head, int heads) {
  const std::size_t tokens = shape.length;
  if (shape.token_major) {
    return {array + head * kDim, static_cast<std::size_t>(heads) * kDim, shape.length};
  }
  return {array + head * tokens * kDim, kDim, shape.length};
}

// ---- global memory -> registers -> LDS ----------------------------------------------------------

/// In a tile of rows of kDim halves.
#if defined(__HIP__)
template <int kDim>
constexpr int kRowPitch = kDim;
template <int kDim>
__device__ int row_place(int row, int chunk) {
  return row * kDim + (chunk ^ row) % (kDim / kChunk) * kChunk;
}
#else
template <int kDim>
constexpr int kRowPitch = kDim + kChunk;
template <int kDim>
__device__ int row_place(int row, int chunk) {
  return row * kRowPitch<kDim> + chunk * kChunk;
}
#endif

/// kRows rows of one head: thread t has chunk t % (kDim / 8) of rows kApart from each other.
template <int kRows, int kDim>
struct RowTile {
  static constexpr int kChunks = kDim / kChunk;
  static constexpr int kApart = kThreads / kChunks;
  static constexpr int kCount = kRows / kApart;
  Pack<half, kChunk> chunks[kCount];

  __device__ void fetch(const Rows<const half>& from, int first) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int row = threadIdx.x / kChunks + i * kApart;
      chunks[i] = load<kChunk>(from.clamped(first + row) + threadIdx.x % kChunks * kChunk);
    }
  }
  __device__ void put(half* lds) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int row = threadIdx.x / kChunks + i * kApart;
      store<kChunk>(&lds[row_place<kDim>(row, threadIdx.x % kChunks)], chunks[i]);
    }
  }
};

#if defined(__HIP__)

/// 64 rows of V, transposed on their way into LDS: thread t has four keys from t / (kDim / 8) * 4
/// on, where there are so many.
template <int kDim>
struct ValueTile {
  static constexpr int kChunks = kDim / kChunk;
  Pack<half, kChunk> rows[4];

  __device__ static int key() { return threadIdx.x / kChunks * 4; }
  __device__ void fetch(const Rows<const half>& from, int first) {
    if (key() >= kKeys) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      rows[i] = load<kChunk>(from.clamped(first + key() + i) + threadIdx.x % kChunks * kChunk);
    }
  }
  __device__ void put(half* lds) const {
    if (key() >= kKeys) return;
    const int place = tile::place(threadIdx.x % kChunks * kChunk, key() / kChunk) + key() % kChunk;
#pragma unroll
    for (int j = 0; j < kChunk; ++j) {
      const Pack<half, 4> four = {rows[0][j], rows[1][j], rows[2][j], rows[3][j]};
      store<4>(&lds[tile::advance(place, j, 0)], four);
    }
  }
};

#else

template <int kDim>
using ValueTile = RowTile<kKeys, kDim>;

#endif

// ---- one wave's queries -------------------------------------------------------------------------

/// Which keys a query may see, and how scores become powers of two.
struct Mask {
  int first_key;
  int length;
  bool causal;
  __device__ bool hides(int key, int query) const {
    return first_key + key >= length || (causal && first_key + key > query);
  }
};

#if defined(__HIP__)

/// 32 queries of a wave: lanes l and l + 32 share query l. Of 32 rows of S^T or out^T lane l holds
/// rows 8 q + 4 (l / 32) + {0, 1, 2, 3} in elements 4 q on; of those the matrix instruction wants
/// four at a time as its operand, which is why P^T can stay where S^T was.
template <int kDim>
class Part {
  static constexpr int kEdge = 32;
  using Sums = float __attribute__((ext_vector_type(16)));

 public:
  static constexpr int kRows = kEdge;
  static constexpr int kLdsBytes = 2 * kKeys * kDim * static_cast<int>(sizeof(half));
  static constexpr int kV = kKeys * kDim;  // where V^T begins in LDS

  /// `queries` is the wave's part of the tile of Q in LDS.
  __device__ Part(const half* queries, half* /*lds*/, int first_row, int first_query)
      : query_(first_query + first_row + lane() % kEdge) {
#pragma unroll
    for (int p = 0; p < kDim / 16; ++p) {
      q_[p] = load<kChunk>(
          &queries[row_place<kDim>(first_row + lane() % kEdge, 2 * p + lane() / kEdge)]);
    }
  }

  __device__ void step(half* lds, const Mask& mask, bool masked, float scale) {
    Sums scores[2] = {};
#pragma unroll
    for (int p = 0; p < kDim / 16; ++p) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const auto k =
            load<kChunk>(&lds[row_place<kDim>(j * kEdge + lane() % kEdge, 2 * p + lane() / kEdge)]);
        scores[j] = __builtin_amdgcn_mfma_f32_32x32x8f16(k.lo, q_[p].lo, scores[j], 0, 0, 0);
        scores[j] = __builtin_amdgcn_mfma_f32_32x32x8f16(k.hi, q_[p].hi, scores[j], 0, 0, 0);
      }
    }
    if (masked) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int e = 0; e < 16; ++e) {
          if (mask.hides(j * kEdge + row_of(e), query_)) scores[j][e] = -INFINITY;
        }
      }
    }
    powers(scores, scale);
#pragma unroll
    for (int i = 0; i < kDim / kEdge; ++i) {
#pragma unroll
      for (int q = 0; q < 8; ++q) {
        const auto v =
            load<4>(&lds[kV + tile::place(i * kEdge + lane() % kEdge, q) + lane() / kEdge * 4]);
        Pack<half, 4> p;
#pragma unroll
        for (int e = 0; e < 4; ++e) p[e] = static_cast<half>(scores[q / 4][q % 4 * 4 + e]);
        out_[i] = __builtin_amdgcn_mfma_f32_32x32x8f16(v, p, out_[i], 0, 0, 0);
      }
    }
  }

  /// Writes the finished rows into a tile of halves in LDS.
  __device__ void put(half* lds, int first_row) {
    const float scale = 1 / (sum_ + shuffle_xor(sum_, kEdge));
    const int row = first_row + lane() % kEdge;
#pragma unroll
    for (int i = 0; i < kDim / kEdge; ++i) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int column = i * kEdge + row_of(4 * q);
        Pack<half, 4> four;
#pragma unroll
        for (int e = 0; e < 4; ++e) four[e] = static_cast<half>(out_[i][4 * q + e] * scale);
        store<4>(&lds[tile::result_place<kDim>(row, column / kChunk) + column % kChunk], four);
      }
    }
  }

 private:
  __device__ static int row_of(int element) {
    return 8 * (element / 4) + 4 * (lane() / kEdge) + element % 4;
  }

  /// Scores become powers; what was summed before is scaled to the new greatest score.
  __device__ void powers(Sums (&scores)[2], float scale) {
    float most = greatest_;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 16; ++e) most = fmaxf(most, scores[j][e]);
    }
    most = fmaxf(most, shuffle_xor(most, kEdge));
    const float shrink = exp2f((greatest_ - most) * scale);
    greatest_ = most;
    sum_ *= shrink;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 16; ++e) {
        scores[j][e] = exp2f((scores[j][e] - most) * scale);
        sum_ += scores[j][e];
      }
    }
#pragma unroll
    for (Sums& out : out_) out *= shrink;
  }

  Pack<half, kChunk> q_[kDim / 16];
  Sums out_[kDim / kEdge] = {};
  int query_;
  float greatest_ = -INFINITY;
  float sum_ = 0;  // of this lane's keys
};

#else

/// 16 queries of a warp. Lanes 2 r and 2 r + 1 turn row r of S into powers, in LDS; which rows of
/// out a lane's elements belong to is found out by loading a matrix of row numbers.
template <int kDim>
class Part {
  static constexpr int kEdge = 16;
  static constexpr int kSome = 32;               // keys at a time
  static constexpr int kPitch = kSome + 4;       // of S, in floats
  static constexpr int kPowerPitch = kSome + 8;  // of P, in halves
  using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kEdge, kEdge, kEdge, float>;
  using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kEdge, kEdge, kEdge, half,
                                      nvcuda::wmma::row_major>;
  using Keys = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kEdge, kEdge, kEdge, half,
                                      nvcuda::wmma::col_major>;
  using Values = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kEdge, kEdge, kEdge, half,
                                        nvcuda::wmma::row_major>;

  /// A warp's own part of LDS.
  struct Own {
    float scores[kEdge * kPitch];
    half powers[kEdge * kPowerPitch];
    float shrink[kEdge];
  };

 public:
  static constexpr int kRows = kEdge;
  static constexpr int kTileBytes = 2 * kKeys * kRowPitch<kDim> * static_cast<int>(sizeof(half));
  static constexpr int kLdsBytes = kTileBytes + kThreads / kWave * static_cast<int>(sizeof(Own));
  static constexpr int kV = kKeys * kRowPitch<kDim>;  // where V begins in LDS

  /// `queries` is the wave's part of the tile of Q in LDS.
  __device__ Part(const half* queries, half* lds, int first_row, int first_query)
      : own_(reinterpret_cast<Own*>(lds + kTileBytes / sizeof(half))[threadIdx.x / kWave]),
        query_(first_query + first_row + lane() / 2) {
    for (int i = lane(); i < kEdge * kEdge; i += kWave) {
      own_.scores[i] = static_cast<float>(i / kEdge);
    }
    __syncwarp();
    Sums rows;
    nvcuda::wmma::load_matrix_sync(rows, own_.scores, kEdge, nvcuda::wmma::mem_row_major);
#pragma unroll
    for (int e = 0; e < Sums::num_elements; ++e) row_of_[e] = static_cast<int>(rows.x[e]);
    __syncwarp();
#pragma unroll
    for (int p = 0; p < kDim / kEdge; ++p) {
      nvcuda::wmma::load_matrix_sync(q_[p], queries + row_place<kDim>(first_row, 2 * p),
                                     kRowPitch<kDim>);
      nvcuda::wmma::fill_fragment(out_[p], 0.0F);
    }
  }

  __device__ void step(half* lds, const Mask& mask, bool masked, float scale) {
#pragma unroll
    for (int key = 0; key < kKeys; key += kSome) {
      multiply_keys(lds, key);
      __syncwarp();
      powers(mask, key, masked, scale);
      __syncwarp();
      multiply_values(lds + kV, key);
      __syncwarp();
    }
  }

  /// Writes the finished rows into a tile of halves in LDS.
  __device__ void put(half* lds, int first_row) {
    const float scale = 1 / (sum_ + shuffle_xor(sum_, 1));
    const int row = lane() / 2;
#pragma unroll
    for (int i = 0; i < kDim / kEdge; ++i) {
      nvcuda::wmma::store_matrix_sync(own_.scores, out_[i], kEdge, nvcuda::wmma::mem_row_major);
      __syncwarp();
      Pack<half, kChunk> chunk;
#pragma unroll
      for (int e = 0; e < kChunk; ++e) {
        chunk[e] = own_.scores[row * kEdge + lane() % 2 * kChunk + e] * scale;
      }
      store<kChunk>(&lds[tile::result_place<kDim>(first_row + row, 2 * i + lane() % 2)], chunk);
      __syncwarp();
    }
  }

 private:
  /// S of some keys, to LDS.
  __device__ void multiply_keys(const half* keys, int key) {
#pragma unroll
    for (int j = 0; j < kSome; j += kEdge) {
      Sums scores;
      nvcuda::wmma::fill_fragment(scores, 0.0F);
#pragma unroll
      for (int p = 0; p < kDim / kEdge; ++p) {
        Keys k;
        nvcuda::wmma::load_matrix_sync(k, keys + row_place<kDim>(key + j, 2 * p), kRowPitch<kDim>);
        nvcuda::wmma::mma_sync(scores, q_[p], k, scores);
      }
      nvcuda::wmma::store_matrix_sync(own_.scores + j, scores, kPitch, nvcuda::wmma::mem_row_major);
    }
  }

  /// Scores become powers, in halves; what was summed before is to be scaled by own_.shrink.
  __device__ void powers(const Mask& mask, int key, bool masked, float scale) {
    constexpr int kMine = kSome / 2;
    const int row = lane() / 2;
    const int first = lane() % 2 * kMine;
    float scores[kMine];
    float most = greatest_;
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      const bool hidden = masked && mask.hides(key + first + i, query_);
      scores[i] = hidden ? -INFINITY : own_.scores[row * kPitch + first + i];
      most = fmaxf(most, scores[i]);
    }
    most = fmaxf(most, shuffle_xor(most, 1));
    const float shrink = exp2f((greatest_ - most) * scale);
    greatest_ = most;
    sum_ *= shrink;
#pragma unroll
    for (int i = 0; i < kMine; i += kChunk) {
      Pack<half, kChunk> chunk;
#pragma unroll
      for (int e = 0; e < kChunk; ++e) {
        const float power = exp2f((scores[i + e] - most) * scale);
        sum_ += power;
        chunk[e] = power;
      }
      store<kChunk>(&own_.powers[row * kPowerPitch + first + i], chunk);
    }
    if (lane() % 2 == 0) own_.shrink[row] = shrink;
  }

  /// What was summed before shrinks; P V of some keys is added.
  __device__ void multiply_values(const half* values, int key) {
#pragma unroll
    for (Sums& out : out_) {
#pragma unroll
      for (int e = 0; e < Sums::num_elements; ++e) out.x[e] *= own_.shrink[row_of_[e]];
    }
#pragma unroll
    for (int j = 0; j < kSome; j += kEdge) {
      Left p;
      nvcuda::wmma::load_matrix_sync(p, own_.powers + j, kPowerPitch);
#pragma unroll
      for (int i = 0; i < kDim / kEdge; ++i) {
        Values v;
        nvcuda::wmma::load_matrix_sync(v, values + row_place<kDim>(key + j, 2 * i),
                                       kRowPitch<kDim>);
        nvcuda::wmma::mma_sync(out_[i], p, v, out_[i]);
      }
    }
  }

  Own& own_;
  Left q_[kDim / kEdge];
  Sums out_[kDim / kEdge];
  int row_of_[Sums::num_elements];
  int query_;
  float greatest_ = -INFINITY;
  float sum_ = 0;  // of this lane's keys
};

#endif

/// Threads side by side write a row's chunks.
template <int kDim>
__device__ void write_rows(const half* lds, const Rows<half>& out, int first) {
  constexpr int kChunks = kDim / kChunk;
#pragma unroll
  for (int i = threadIdx.x; i < kQueries * kChunks; i += kThreads) {
    const int row = i / kChunks;
    if (first + row >= out.length) continue;
    store<kChunk>(out.row(first + row) + i % kChunks * kChunk,
                  load<kChunk>(&lds[tile::result_place<kDim>(row, i % kChunks)]));
  }
}

}  // namespace

template <int kDim, bool kCausal>
__global__ __launch_bounds__(kThreads) void attention(const half* __restrict__ q,
                                                      const half* __restrict__ k,
                                                      const half* __restrict__ v,
                                                      half* __restrict__ out, Shape shape) {
  extern __shared__ __align__(16) half lds[];
  const int block = shape.block_first ? blockIdx.y : blockIdx.x;
  const int head = shape.block_first ? blockIdx.x : blockIdx.y;
  const int first = (kCausal ? shape.blocks() - 1 - block : block) * kQueries;
  const int kv_head = head / (shape.heads / shape.kv_heads);
  const auto queries = rows_of<kDim>(q, shape, head, shape.heads);
  const auto keys = rows_of<kDim>(k, shape, kv_head, shape.kv_heads);
  const auto values = rows_of<kDim>(v, shape, kv_head, shape.kv_heads);

  RowTile<kQueries, kDim> q_tile;
  q_tile.fetch(queries, first);
  q_tile.put(lds);
  __syncthreads();
  const int first_row = static_cast<int>(threadIdx.x) / kWave * Part<kDim>::kRows;
  Part<kDim> part(lds, lds, first_row, first);
  __syncthreads();

  const float scale = kLog2E / sqrtf(static_cast<float>(kDim));
  const int end = kCausal ? min(shape.length, first + kQueries) : shape.length;
  RowTile<kKeys, kDim> k_tile;
  ValueTile<kDim> v_tile;
  k_tile.fetch(keys, 0);
  v_tile.fetch(values, 0);
  for (int key = 0; key < end; key += kKeys) {
    k_tile.put(lds);
    v_tile.put(lds + Part<kDim>::kV);
    __syncthreads();
    if (key + kKeys < end) {
      k_tile.fetch(keys, key + kKeys);
      v_tile.fetch(values, key + kKeys);
    }
    const bool masked = key + kKeys > (kCausal ? min(first, shape.length) : shape.length);
    part.step(lds, {key, shape.length, kCausal}, masked, scale);
    __syncthreads();
  }

  part.put(lds, first_row);
  __syncthreads();
  write_rows<kDim>(lds, rows_of<kDim>(out, shape, head, shape.heads), first);
}

namespace {

using Kernel = void (*)(const half*, const half*, const half*, half*, Shape);

Kernel kernel_for(int dim, bool causal) {
  if (dim == 64) return causal ? attention<64, true> : attention<64, false>;
  return causal ? attention<128, true> : attention<128, false>;
}

int lds_bytes(int dim) { return dim == 64 ? Part<64>::kLdsBytes : Part<128>::kLdsBytes; }

struct Problem {
  Shape shape;
  int dim;
  bool causal;

  std::size_t place(int head, int heads, int token) const {
    const std::size_t row = shape.token_major
                                ? static_cast<std::size_t>(token) * heads + head
                                : static_cast<std::size_t>(head) * shape.length + token;
    return row * dim;
  }
};

bool check(const Problem& problem, const suite::Values<half>& q, const suite::Values<half>& k,
           const suite::Values<half>& v, const suite::DeviceArray<half>& out) {
  // Powers are rounded to halves before they meet the values.
  suite::Comparison comparison(4 * suite::kHalfRounding, 0.25);
  const auto [heads, kv_heads, length, block_first, token_major] = problem.shape;
  const double cost = 2.0 * length * problem.dim;
  std::vector<double> powers(length);
  for (const int i : suite::rows_to_check(heads * length, cost)) {
    const int head = i / length;
    const int query = i % length;
    const int kv_head = head / (heads / kv_heads);
    const std::size_t at = problem.place(head, heads, query);
    const int end = problem.causal ? query + 1 : length;
    double most = -INFINITY;
    for (int key = 0; key < end; ++key) {
      const std::size_t k_at = problem.place(kv_head, kv_heads, key);
      double score = 0;
      for (int d = 0; d < problem.dim; ++d) score += static_cast<double>(q[at + d]) * k[k_at + d];
      powers[key] = score / std::sqrt(problem.dim);
      most = std::max(most, powers[key]);
    }
    double sum = 0;
    std::vector<double> expected(problem.dim);
    for (int key = 0; key < end; ++key) {
      const double power = std::exp(powers[key] - most);
      const std::size_t v_at = problem.place(kv_head, kv_heads, key);
      sum += power;
      for (int d = 0; d < problem.dim; ++d) expected[d] += power * v[v_at + d];
    }
    const std::vector<half> got = out.download(at, problem.dim);
    for (int d = 0; d < problem.dim; ++d) {
      comparison.add(at + d, static_cast<float>(got[d]), expected[d] / sum);
    }
  }
  return comparison.report("out");
}

}  // namespace

int main(int argc, char** argv) {
  Problem problem = {{32, 32, 16384, false, false}, 128, false};
  Shape& shape = problem.shape;
  suite::CommandLine line("attention",
                          "[HEADS KV_HEADS LENGTH DIM] [--causal] [--block-first] [--token-major]",
                          "attention, forward, in halves on matrix cores");
  line.size("HEADS", shape.heads, 1 << 16);
  line.size("KV_HEADS", shape.kv_heads, 1 << 16);
  line.size("LENGTH", shape.length, 1 << 20);
  line.size("DIM", problem.dim, 128);
  line.flag("--causal", problem.causal);
  line.flag("--block-first", shape.block_first);
  line.flag("--token-major", shape.token_major);
  line.parse(argc, argv);
  if (problem.dim != 64 && problem.dim != 128) line.wrong("DIM is 64 or 128");
  if (shape.heads % shape.kv_heads != 0) line.wrong("HEADS is a multiple of KV_HEADS");

  const std::size_t q_count = static_cast<std::size_t>(shape.heads) * shape.length * problem.dim;
  const std::size_t kv_count = q_count / shape.heads * shape.kv_heads;
  suite::DeviceArray<half> q(q_count);
  suite::DeviceArray<half> k(kv_count);
  suite::DeviceArray<half> v(kv_count);
  suite::DeviceArray<half> out(q_count);
  const suite::Values<half> q_values(1, -2, 2, q_count);
  const suite::Values<half> k_values(2, -1, 1, kv_count);
  const suite::Values<half> v_values(3, -1, 1, kv_count);
  q_values.fill(q);
  k_values.fill(k);
  v_values.fill(v);

  const Kernel kernel = kernel_for(problem.dim, problem.causal);
  DEVICE_CHECK(allow_dynamic_lds(kernel, lds_bytes(problem.dim)));
  const auto launch = [&] {
    const dim3 grid =
        shape.block_first ? dim3(shape.heads, shape.blocks()) : dim3(shape.blocks(), shape.heads);
    kernel<<<grid, kThreads, lds_bytes(problem.dim)>>>(q.data(), k.data(), v.data(), out.data(),
                                                       shape);
  };
  launch();
  suite::finish();

  const bool right = !line.check || check(problem, q_values, k_values, v_values, out);
  if (line.repetitions > 0) suite::measure("attention", line.repetitions, launch);
  return right ? 0 : 1;
}
