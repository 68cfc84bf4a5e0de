// A block's part of a matrix product: two tiles in LDS, matrix cores, the result through LDS.
//
//   C = A * B^T with half inputs and single-precision sums. Both operands are tiles of rows that
//   are contiguous along k; what is not so in memory is transposed on its way into LDS.
//
// A step is 64 values of k: registers -> LDS, barrier, fetch the next step into registers, multiply
// from LDS, barrier; so global latency hides behind the multiplication. The two machines differ in
// four places, and only there:
//
//                        AMD (waves of 64)                        NVIDIA (warps of 32)
//   matrix instruction   32 x 32 x 8, operands from registers     16 x 16 x 16, through wmma
//   a row in LDS         64 halves; chunk c of row r lies at      72 halves: eight more, so
//                        position c ^ swizzle(r), since all       that rows begin in different
//                        rows begin in the same bank              banks
//   B given as rows      put transposed                           put as it is; wmma transposes
//   of k
//   who holds C          known: lane, register -> row, column     hidden: written to LDS as floats
//
// Nothing here knows which block it runs in.
#pragma once

#include "gpu.h"

#if !defined(__HIP__)
#include <mma.h>

#include <type_traits>
#endif

namespace tile {

constexpr int kDepth = 64;                   // of a step, along k
constexpr int kChunk = 8;                    // halves in a 16-byte access
constexpr int kRowChunks = kDepth / kChunk;  // of a tile's row in LDS

/// Which tile of C.
struct Tile {
  int m;
  int n;
};

/// The tile that comes `id`-th. Row-major for group <= 1; else in bands of `group` tile rows, down
/// each of a band's columns in turn. The last band may be lower.
__device__ inline Tile tile_of(int id, int tiles_m, int tiles_n, int group) {
  if (group <= 1) return {id / tiles_n, id % tiles_n};
  const int band_size = group * tiles_n;
  const int first = id / band_size * group;
  const int height = min(group, tiles_m - first);
  const int in_band = id % band_size;
  return {first + in_band % height, in_band / height};
}

/// How B lies in global memory: as N rows along k, or as K rows along n.
enum class OrderOfB { kAlongK, kAlongN };

// ---- places in LDS ------------------------------------------------------------------------------

#if defined(__HIP__)

constexpr int kPitch = kDepth;

/// Where chunk `chunk` of row `row` begins. Rows that are read together differ in their low bits,
/// rows that are written together (8 apart) in the next ones.
__device__ inline int place(int row, int chunk) {
  return row * kPitch + (chunk ^ row ^ (row >> 3)) % kRowChunks * kChunk;
}

/// From the place of (row, chunk) to that of (row + rows, chunk + chunks), when neither addition
/// carries: the pattern is linear, so constant steps need one xor and an offset.
__device__ inline int advance(int from, int rows, int chunks) {
  return (from ^ (chunks ^ rows ^ (rows >> 3)) % kRowChunks * kChunk) + rows * kPitch;
}

#else

constexpr int kPitch = kDepth + kChunk;

__device__ inline int place(int row, int chunk) { return row * kPitch + chunk * kChunk; }
__device__ inline int advance(int from, int rows, int chunks) { return from + place(rows, chunks); }

#endif

// ---- global memory -> registers -> LDS ----------------------------------------------------------

/// Eight halves of a row from `index` on. kWide: rows are 16-byte aligned and their length is a
/// multiple of eight, so that a chunk is one load. Where the row has ended its last value is read
/// again: such values must not count, but loading them needs no branch.
template <bool kWide>
__device__ Pack<half, kChunk> load_chunk(const half* row, int index, int length) {
  if constexpr (kWide) {
    return load<kChunk>(row + min(index, length - kChunk));
  } else {
    Pack<half, kChunk> chunk;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) chunk[i] = row[min(index + i, length - 1)];
    return chunk;
  }
}

/// Brings `kRows` rows of a matrix whose rows run along k. Thread t has chunk t % 8 of rows t / 8,
/// t / 8 + kThreads / 8, ...: eight threads read one line of 128 bytes. Beyond the last row it is
/// read again, for rows of C that do not exist; beyond the end of k there are zeros, since k is
/// summed.
template <int kRows, int kThreads, bool kWide>
class RowFetcher {
  static constexpr int kApart = kThreads / kRowChunks;
  static constexpr int kCount = kRows / kApart;
  static_assert(kRows % kApart == 0);

 public:
  struct Carried {
    Pack<half, kChunk> chunks[kCount];
  };

  __device__ RowFetcher(const half* matrix, int first_row, int rows, int k)
      : k_(k), my_k_(threadIdx.x % kRowChunks * kChunk) {
    const int row = first_row + threadIdx.x / kRowChunks;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      rows_[i] = matrix + static_cast<std::size_t>(min(row + i * kApart, rows - 1)) * k;
    }
  }

  /// The step that begins at `k0`.
  __device__ Carried fetch(int k0) const {
    Carried carried;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      carried.chunks[i] = load_chunk<kWide>(rows_[i], k0 + my_k_, k_);
    if (k0 + kDepth > k_) {
      const int left = k_ - k0 - my_k_;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
#pragma unroll
        for (int j = 0; j < kChunk; ++j) {
          if (j >= left) carried.chunks[i][j] = 0;
        }
      }
    }
    return carried;
  }

  __device__ static void put(half* lds, const Carried& carried) {
    const int first = place(threadIdx.x / kRowChunks, threadIdx.x % kRowChunks);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      store<kChunk>(&lds[advance(first, i * kApart, 0)], carried.chunks[i]);
    }
  }

 private:
  const half* rows_[kCount];
  int k_;
  int my_k_;
};

// ---- multiplication -----------------------------------------------------------------------------

__device__ inline int lane() { return threadIdx.x % kWave; }

/// In a finished tile of C in LDS, kWidth halves wide.
template <int kWidth>
__device__ int result_place(int row, int chunk) {
  return row * kWidth + ((chunk ^ row) % (kWidth / kChunk)) * kChunk;
}

#if defined(__HIP__)

/// One wave's part of C, kM x kN, as 32 x 32 matrix-core tiles. They are kept transposed: lane l
/// holds column l % 32 of B A^T, which is row l % 32 of C, and there the columns
/// 8 q + 4 (l / 32) + {0, 1, 2, 3} in elements 4 q on.
template <int kM, int kN, OrderOfB>
class Sums {
  static constexpr int kEdge = 32;
  using Part = float __attribute__((ext_vector_type(16)));

 public:
  static constexpr int kScratchBytes = 0;  // LDS that a wave needs to put()

  /// Adds one step's products; the wave's rows begin at `m` in `a` and at `n` in `b`.
  template <int /*kPitchOfB*/>
  __device__ void multiply(const half* a, const half* b, int m, int n) {
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
    // The instruction takes k in fours: 0-3 from lanes 0-31, 4-7 from lanes 32-63. A lane reads
    // eight that are neighbours in memory and gives them in two halves, so k is paired in another
    // order than memory's, but in the same one for both operands, and a sum does not care.
    const int a_place = place(m + lane() % kEdge, lane() / kEdge);
    const int b_place = place(n + lane() % kEdge, lane() / kEdge);
#pragma unroll
    for (int chunk = 0; chunk < kRowChunks; chunk += 2) {
#pragma unroll
      for (int i = 0; i < kM / kEdge; ++i) {
        const auto a_chunk = load<kChunk>(&a[advance(a_place, i * kEdge, chunk)]);
#pragma unroll
        for (int j = 0; j < kN / kEdge; ++j) {
          const auto b_chunk = load<kChunk>(&b[advance(b_place, j * kEdge, chunk)]);
          parts_[i][j] =
              __builtin_amdgcn_mfma_f32_32x32x8f16(b_chunk.lo, a_chunk.lo, parts_[i][j], 0, 0, 0);
          parts_[i][j] =
              __builtin_amdgcn_mfma_f32_32x32x8f16(b_chunk.hi, a_chunk.hi, parts_[i][j], 0, 0, 0);
        }
      }
    }
#else
    // Targets without these matrix instructions: the same sums in the same places, one by one.
    for (int chunk = 0; chunk < kRowChunks; ++chunk) {
      for (int i = 0; i < kM / kEdge; ++i) {
        const auto a_chunk = load<kChunk>(&a[place(m + i * kEdge + lane() % kEdge, chunk)]);
        for (int j = 0; j < kN / kEdge; ++j) {
#pragma unroll
          for (int e = 0; e < 16; ++e) {
            const int row = n + j * kEdge + column_of(e / 4) + e % 4;
            const auto b_chunk = load<kChunk>(&b[place(row, chunk)]);
            for (int k = 0; k < kChunk; ++k) {
              parts_[i][j][e] += static_cast<float>(a_chunk[k]) * static_cast<float>(b_chunk[k]);
            }
          }
        }
      }
    }
#endif
  }

  /// Writes the sums as halves into a tile of C in LDS, at (m, n).
  template <int kWidth>
  __device__ void put(half* c, float* /*scratch*/, int m, int n) const {
#pragma unroll
    for (int i = 0; i < kM / kEdge; ++i) {
      const int row = m + i * kEdge + lane() % kEdge;
#pragma unroll
      for (int j = 0; j < kN / kEdge; ++j) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const int column = n + j * kEdge + column_of(q);
          Pack<half, 4> four;
          for (int e = 0; e < 4; ++e) four[e] = static_cast<half>(parts_[i][j][4 * q + e]);
          store<4>(&c[result_place<kWidth>(row, column / kChunk) + column % kChunk], four);
        }
      }
    }
  }

 private:
  /// The first of the four columns in elements 4 q to 4 q + 3.
  __device__ static int column_of(int q) { return 8 * q + lane() / kEdge * 4; }

  Part parts_[kM / kEdge][kN / kEdge] = {};
};

#else

/// One warp's part of C, kM x kN, in wmma's fragments.
template <int kM, int kN, OrderOfB kOrder>
class Sums {
  static constexpr int kEdge = 16;
  using Part = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kEdge, kEdge, kEdge, float>;
  using PartOfA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kEdge, kEdge, kEdge, half,
                                         nvcuda::wmma::row_major>;
  using Layout = std::conditional_t<kOrder == OrderOfB::kAlongK, nvcuda::wmma::col_major,
                                    nvcuda::wmma::row_major>;
  using PartOfB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kEdge, kEdge, kEdge, half, Layout>;

 public:
  static constexpr int kScratchBytes = kEdge * kEdge * sizeof(float);

  __device__ Sums() {
    for (auto& row : parts_) {
      for (Part& part : row) nvcuda::wmma::fill_fragment(part, 0.0F);
    }
  }

  /// Adds one step's products; the warp's part begins at `m` in `a` and at `n` in `b`.
  template <int kPitchOfB>
  __device__ void multiply(const half* a, const half* b, int m, int n) {
#pragma unroll
    for (int k = 0; k < kDepth; k += kEdge) {
      PartOfB b_parts[kN / kEdge];
#pragma unroll
      for (int j = 0; j < kN / kEdge; ++j) {
        const int column = n + j * kEdge;
        const int at =
            kOrder == OrderOfB::kAlongK ? column * kPitchOfB + k : k * kPitchOfB + column;
        nvcuda::wmma::load_matrix_sync(b_parts[j], b + at, kPitchOfB);
      }
#pragma unroll
      for (int i = 0; i < kM / kEdge; ++i) {
        PartOfA a_part;
        nvcuda::wmma::load_matrix_sync(a_part, a + (m + i * kEdge) * kPitch + k, kPitch);
#pragma unroll
        for (int j = 0; j < kN / kEdge; ++j) {
          nvcuda::wmma::mma_sync(parts_[i][j], a_part, b_parts[j], parts_[i][j]);
        }
      }
    }
  }

  /// Writes the sums as halves into a tile of C in LDS, at (m, n); `scratch` is the warp's own.
  template <int kWidth>
  __device__ void put(half* c, float* scratch, int m, int n) const {
    const int row = lane() / 2;
    const int column = lane() % 2 * kChunk;
#pragma unroll
    for (int i = 0; i < kM / kEdge; ++i) {
#pragma unroll
      for (int j = 0; j < kN / kEdge; ++j) {
        nvcuda::wmma::store_matrix_sync(scratch, parts_[i][j], kEdge, nvcuda::wmma::mem_row_major);
        __syncwarp();
        Pack<half, kChunk> chunk;
#pragma unroll
        for (int e = 0; e < kChunk; ++e) chunk[e] = scratch[row * kEdge + column + e];
        const int first = (n + j * kEdge + column) / kChunk;
        store<kChunk>(&c[result_place<kWidth>(m + i * kEdge + row, first)], chunk);
        __syncwarp();
      }
    }
  }

 private:
  Part parts_[kM / kEdge][kN / kEdge];
};

#endif

// ---- a block ------------------------------------------------------------------------------------

/// kM x kN of C for kWavesM x kWavesN waves.
template <int kM, int kN, int kWavesM, int kWavesN, OrderOfB kOrder>
struct Block {
  static constexpr int kTileM = kM;
  static constexpr int kTileN = kN;
  static constexpr int kThreads = kWavesM * kWavesN * kWave;
  using Part = Sums<kM / kWavesM, kN / kWavesN, kOrder>;

  // Operands first; afterwards the result in the same place, so many rows at a time.
  static constexpr int kB = kM * kPitch;  // where B's part begins
#if defined(__HIP__)
  static constexpr int kPitchOfB = kPitch;
  static constexpr int kSizeOfB = kN * kPitch;
#else
  static constexpr int kPitchOfB = kOrder == OrderOfB::kAlongK ? kPitch : kN + kChunk;
  static constexpr int kSizeOfB = (kOrder == OrderOfB::kAlongK ? kN : kDepth) * kPitchOfB;
#endif
  static constexpr int kStepBytes = (kB + kSizeOfB) * static_cast<int>(sizeof(half));
  static constexpr int kPassRows = kM % 128 == 0 ? 128 : kM / kWavesM;
  static constexpr int kScratch = kPassRows * kN * static_cast<int>(sizeof(half));
  static constexpr int kResultBytes = kScratch + kWavesM * kWavesN * Part::kScratchBytes;
  static constexpr int kLdsBytes = kStepBytes > kResultBytes ? kStepBytes : kResultBytes;

  __device__ static int wave() { return threadIdx.x / kWave; }
  __device__ static int wave_m() { return wave() / kWavesN * (kM / kWavesM); }
  __device__ static int wave_n() { return wave() % kWavesN * (kN / kWavesN); }

  __device__ static void multiply(Part& part, const half* lds) {
    part.template multiply<kPitchOfB>(lds, lds + kB, wave_m(), wave_n());
  }

  /// Writes the block's tile of C, m x n in all. Threads side by side write a row's chunks. kWide:
  /// n is a multiple of eight.
  template <bool kWide>
  __device__ static void write(const Part& part, half* lds, half* c, int m, int n, Tile where) {
    constexpr int kChunks = kN / kChunk;
    constexpr int kRows = kThreads / kChunks;
    float* const scratch = reinterpret_cast<float*>(lds + kScratch / sizeof(half)) +
                           wave() * Part::kScratchBytes / static_cast<int>(sizeof(float));
    const int chunk = threadIdx.x % kChunks;
    const int column = where.n * kN + chunk * kChunk;
#pragma unroll
    for (int pass = 0; pass < kM / kPassRows; ++pass) {
      if (wave_m() / kPassRows == pass) {
        part.template put<kN>(lds, scratch, wave_m() % kPassRows, wave_n());
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kPassRows / kRows; ++i) {
        const int in_pass = threadIdx.x / kChunks + i * kRows;
        const int row = where.m * kM + pass * kPassRows + in_pass;
        if (row >= m || column >= n) continue;
        const auto eight = load<kChunk>(&lds[result_place<kN>(in_pass, chunk)]);
        half* const to = c + static_cast<std::size_t>(row) * n + column;
        if constexpr (kWide) {
          store<kChunk>(to, eight);
        } else {
          for (int j = 0; j < min(kChunk, n - column); ++j) to[j] = eight[j];
        }
      }
      __syncthreads();
    }
  }
};

}  // namespace tile
