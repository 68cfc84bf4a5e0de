// C = A B^T in halves as fast as mma.sync goes: the suite's GEMM uses wmma, whose detour through
// registers hides what memory costs on this GPU; here the tensor cores wait for memory alone.
//
// A is M x K, B is N x K, both with k contiguous; C is M x N. A block of four warps makes 128 x 128
// of C, a warp 64 x 64. Steps of 32 along k come through a ring of four in shared memory, filled by
// cp.async three steps ahead:
//
//     step s:  wait for step s, barrier, ask for step s + 3, multiply from shared memory
//
// A row of a step is 64 bytes, four chunks of 16. Chunk c of row r lies at c ^ (r / 2) % 4, so the
// eight rows that an ldmatrix reads lie in different banks.
//
// Blocks go along n first (row-major), two of them to an SM.
//
// Under clang, so on the virtual GPU, which reads no PTX, the same lines come by plain loads and wmma multiplies.
//
// Usage: gemm_pipelined [M N K] [--check]        (16384 16384 16384; multiples of 128, 128 and 32)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kTile = 128;     // of C, both ways
constexpr int kDepth = 32;     // of a step, along k
constexpr int kStages = 4;     // of the ring
constexpr int kThreads = 128;  // four warps, two by two
constexpr int kPart = 64;      // of C that a warp makes, both ways
constexpr int kChunk = 8;      // halves in 16 bytes
constexpr int kStageHalves = 2 * kTile * kDepth;
constexpr int kSharedBytes = kStages * kStageHalves * static_cast<int>(sizeof(half));

/// Where a chunk of a row begins in its half of a stage.
__device__ inline int place(int row, int chunk) {
  return row * kDepth + (chunk ^ (row / 2 % 4)) * kChunk;
}

#if !defined(__clang__)

__device__ inline unsigned shared_address(const half* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ inline void copy_chunk(half* to, const half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}
__device__ inline void end_of_step() { asm volatile("cp.async.commit_group;"); }
/// All but the last `kAhead` steps are there.
template <int kAhead>
__device__ inline void wait_for_step() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kAhead));
}
__device__ inline void load_four(unsigned (&to)[4], const half* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(from)));
}
__device__ inline void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A warp's part of C, as 16 x 8 tiles: a lane holds two neighbours in each of two rows.
struct Sums {
  float parts[kPart / 16][kPart / 8][4] = {};

  __device__ void multiply(const half* a, const half* b, int m, int n) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int chunk = 0; chunk < kDepth / kChunk; chunk += 2) {
      unsigned a_parts[kPart / 16][4];
      unsigned b_parts[kPart / 16][4];
#pragma unroll
      for (int i = 0; i < kPart / 16; ++i) {
        load_four(a_parts[i], a + place(m + 16 * i + lane % 16, chunk + lane / 16));
        load_four(b_parts[i],
                  b + place(n + 16 * i + lane / 16 * 8 + lane % 8, chunk + lane / 8 % 2));
      }
#pragma unroll
      for (int i = 0; i < kPart / 16; ++i) {
#pragma unroll
        for (int j = 0; j < kPart / 8; ++j) {
          multiply_add(parts[i][j], a_parts[i], b_parts[j / 2][j % 2 * 2],
                       b_parts[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }

  __device__ void write(half* c, int pitch, half* /*shared*/) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kPart / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kPart / 8; ++j) {
        half* at = c + static_cast<size_t>(16 * i + lane / 4) * pitch + 8 * j + lane % 4 * 2;
        const float(&p)[4] = parts[i][j];
        *reinterpret_cast<half2*>(at) = __floats2half2_rn(p[0], p[1]);
        *reinterpret_cast<half2*>(at + static_cast<size_t>(8) * pitch) =
            __floats2half2_rn(p[2], p[3]);
      }
    }
  }
};

#else

__device__ inline void copy_chunk(half* to, const half* from) {
  *reinterpret_cast<int4*>(to) = *reinterpret_cast<const int4*>(from);
}
__device__ inline void end_of_step() {}
template <int>
__device__ inline void wait_for_step() {}

struct Sums {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> parts[kPart / 16][kPart / 16];

  __device__ Sums() {
    for (auto& row : parts) {
      for (auto& part : row) nvcuda::wmma::fill_fragment(part, 0.0F);
    }
  }
  /// Tiles are put straight for wmma, in a place of each warp's own.
  __device__ void multiply(const half* a, const half* b, int m, int n) {
    using namespace nvcuda;
    __shared__ half straight[kThreads / 32][2][16 * 16];
    half(&mine)[2][16 * 16] = straight[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < kPart / 16; ++i) {
      for (int j = 0; j < kPart / 16; ++j) {
        for (int chunk = 0; chunk < kDepth / kChunk; chunk += 2) {
          const int row = lane / 2;
          for (int e = 0; e < kChunk; ++e) {
            const int at = row * 16 + lane % 2 * kChunk + e;
            mine[0][at] = a[place(m + 16 * i + row, chunk + lane % 2) + e];
            mine[1][at] = b[place(n + 16 * j + row, chunk + lane % 2) + e];
          }
          __syncwarp();
          wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_part;
          wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_part;
          wmma::load_matrix_sync(a_part, mine[0], 16);
          wmma::load_matrix_sync(b_part, mine[1], 16);
          wmma::mma_sync(parts[i][j], a_part, b_part, parts[i][j]);
          __syncwarp();
        }
      }
    }
  }
  __device__ void write(half* c, int pitch, half* shared) const {
    float* mine = reinterpret_cast<float*>(shared) + threadIdx.x / 32 * 256;
    for (int i = 0; i < kPart / 16; ++i) {
      for (int j = 0; j < kPart / 16; ++j) {
        nvcuda::wmma::store_matrix_sync(mine, parts[i][j], 16, nvcuda::wmma::mem_row_major);
        __syncwarp();
        for (int e = threadIdx.x % 32; e < 256; e += 32) {
          c[static_cast<size_t>(16 * i + e / 16) * pitch + 16 * j + e % 16] = __float2half(mine[e]);
        }
        __syncwarp();
      }
    }
  }
};

#endif

/// Asks for 128 rows of a step: thread t brings chunk t % 4 of rows t / 4, t / 4 + 32, ...
__device__ inline void ask(half* to, const half* from, int k) {
  const int chunk = threadIdx.x % 4;
#pragma unroll
  for (int row = threadIdx.x / 4; row < kTile; row += kThreads / 4) {
    copy_chunk(to + place(row, chunk), from + static_cast<size_t>(row) * k + chunk * kChunk);
  }
}

__global__ void __launch_bounds__(kThreads, 2)
    gemm_pipelined(const half* a, const half* b, half* c, int n, int k) {
  extern __shared__ __align__(128) half ring[];
  const int tile_m = blockIdx.y;
  const int tile_n = blockIdx.x;
  const half* from_a = a + static_cast<size_t>(tile_m) * kTile * k;
  const half* from_b = b + static_cast<size_t>(tile_n) * kTile * k;
  const int steps = k / kDepth;
  const auto ask_for = [&](int step) {
    if (step < steps) {
      half* stage = ring + step % kStages * kStageHalves;
      ask(stage, from_a + step * kDepth, k);
      ask(stage + kTile * kDepth, from_b + step * kDepth, k);
    }
    end_of_step();
  };
  for (int step = 0; step < kStages - 1; ++step) ask_for(step);
  const int m = static_cast<int>(threadIdx.x) / 64 * kPart;
  const int n_of_warp = static_cast<int>(threadIdx.x) / 32 % 2 * kPart;
  Sums sums;
  for (int step = 0; step < steps; ++step) {
    wait_for_step<kStages - 2>();
    __syncthreads();
    ask_for(step + kStages - 1);
    const half* stage = ring + step % kStages * kStageHalves;
    sums.multiply(stage, stage + kTile * kDepth, m, n_of_warp);
  }
  __syncthreads();
  sums.write(c + static_cast<size_t>(tile_m * kTile + m) * n + tile_n * kTile + n_of_warp, n, ring);
}

/// Some rows of C against sums in double precision.
bool right(const std::vector<half>& a, const std::vector<half>& b, const half* c, int m, int n, int k) {
  std::vector<half> row(n);
  double worst = 0;
  for (int i = 0; i < m; i += m / 4 + 1) {
    cudaMemcpy(row.data(), c + static_cast<size_t>(i) * n, n * sizeof(half), cudaMemcpyDeviceToHost);
    for (int j = 0; j < n; j += n / 64 + 1) {
      double sum = 0;
      double size = 0;
      for (int x = 0; x < k; ++x) {
        const double product =
            static_cast<double>(__half2float(a[(static_cast<size_t>(i) * k + x) % a.size()])) *
            __half2float(b[(static_cast<size_t>(j) * k + x) % b.size()]);
        sum += product;
        size += std::abs(product);
      }
      worst = std::max(worst, std::abs(sum - __half2float(row[j])) / size);
    }
  }
  std::printf("worst error %.2g of the sum of magnitudes\n", worst);
  return worst < 1e-3;
}

int main(int argc, char** argv) {
  int sizes[3] = {16384, 16384, 16384};
  int given = 0;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) {
      check = true;
    } else if (given < 3) {
      sizes[given++] = std::atoi(argv[i]);
    }
  }
  const auto [m, n, k] = sizes;
  if (m < kTile || n < kTile || k < kDepth || m % kTile != 0 || n % kTile != 0 || k % kDepth != 0) {
    std::fprintf(stderr, "gemm_pipelined: M and N are multiples of %d, K of %d\n", kTile, kDepth);
    return 2;
  }
  // Patterns of odd lengths, repeated: no tile equals another.
  std::vector<half> a_values((1 << 20) - 3);
  std::vector<half> b_values((1 << 20) - 5);
  unsigned state = 1;
  for (auto* values : {&a_values, &b_values}) {
    for (half& v : *values) {
      state = state * 1664525 + 1013904223;
      v = __float2half(static_cast<float>(state >> 16) / 32768 - 1);
    }
  }
  half* device[3] = {};
  const size_t counts[3] = {static_cast<size_t>(m) * k, static_cast<size_t>(n) * k,
                            static_cast<size_t>(m) * n};
  for (int i = 0; i < 3; ++i) {
    if (cudaMalloc(&device[i], counts[i] * sizeof(half)) != cudaSuccess) {
      std::fprintf(stderr, "gemm_pipelined: no room on the device\n");
      return 3;
    }
  }
  for (int i = 0; i < 2; ++i) {
    const std::vector<half>& values = i == 0 ? a_values : b_values;
    for (size_t at = 0; at < counts[i]; at += values.size()) {
      const size_t some = std::min(values.size(), counts[i] - at);
      cudaMemcpy(device[i] + at, values.data(), some * sizeof(half), cudaMemcpyHostToDevice);
    }
  }
  cudaFuncSetAttribute(gemm_pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  gemm_pipelined<<<dim3(n / kTile, m / kTile), kThreads, kSharedBytes>>>(device[0], device[1],
                                                                         device[2], n, k);
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::fprintf(stderr, "gemm_pipelined: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 3;
  }
  return !check || right(a_values, b_values, device[2], m, n, k) ? 0 : 1;
}
