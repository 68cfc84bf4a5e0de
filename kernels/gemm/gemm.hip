// C = A * B in half precision with float accumulation, for AMD's matrix cores.
//
//   A is M x K, B is K x N, C is M x N, all row-major; any M, N, K.
//
// One block of 256 threads computes a 128 x 128 tile of C in steps of 64 along K. Its four waves
// form a 2 x 2 square; each owns 64 x 64 of the tile as 2 x 2 matrix-core tiles of 32 x 32.
//
//            n ->                       step s:  registers -> LDS, barrier,
//        +---------+---------+                   fetch step s + 1 into registers,
//    m   | wave 0  | wave 1  |                   multiply from LDS, barrier
//    |   +---------+---------+
//    v   | wave 2  | wave 3  |          so global latency hides behind the multiplication.
//        +---------+---------+
//
// Global memory is read in 16-byte chunks (8 halves). Both tiles lie in LDS with k contiguous,
// which is what the matrix cores want, so B is transposed on its way: a thread fetches 4 (k) x 8
// (n) and stores eight columns of 4. A row of a tile is 64 halves = 8 chunks = all 32 banks, so
// every row starts in the same bank; chunk c of row r is therefore kept at position c ^ swizzle(r),
// and both the transposing stores and the 16-byte reads spread over the banks without padding.
//
// Which tile a block computes is decided in one place, tile_of(): by default in groups of 8
// tile rows, so that blocks that run together share columns of B as well as rows of A.
//
// Usage: gemm [M N K] [--group G] [--check]      (8192 8192 8192, group 8)
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using half = _Float16;
using half4 = half __attribute__((ext_vector_type(4)));
using half8 = half __attribute__((ext_vector_type(8)));
using float16 = float __attribute__((ext_vector_type(16)));

constexpr int kTileM = 128;
constexpr int kTileN = 128;
constexpr int kTileK = 64;
constexpr int kThreads = 256;
constexpr int kWavesPerSimd = 2;  // two blocks a compute unit: 64 KB of LDS, 256 registers a lane
constexpr int kChunk = 8;         // halves in a 16-byte access
constexpr int kRowChunks = kTileK / kChunk;                    // of a tile's row in LDS
constexpr int kMma = 32;                                       // edge of a matrix-core tile
constexpr int kWaveTiles = kTileM / 2 / kMma;                  // of a wave, along m and along n
constexpr int kFetches = kTileM * kTileK / kChunk / kThreads;  // chunks a thread, of A and of B
constexpr int kFetchRows = kTileM / kFetches;                  // of A, between a thread's chunks

static_assert(kTileM == kTileN && kFetches == 4 && kRowChunks == 8);

// ---- tiles -------------------------------------------------------------------------------------

struct Tile {
  int m;
  int n;
};

/// The tile that block `id` computes. Row-major for group <= 1; else in bands of `group` tile rows,
/// down each of a band's columns in turn. The last band may be lower.
__device__ Tile tile_of(int id, int tiles_m, int tiles_n, int group) {
  if (group <= 1) return {id / tiles_n, id % tiles_n};
  const int band_size = group * tiles_n;
  const int first = id / band_size * group;
  const int height = min(group, tiles_m - first);
  const int in_band = id % band_size;
  return {first + in_band % height, in_band / height};
}

// ---- global memory -> registers ----------------------------------------------------------------

/// What one thread carries from global memory to LDS in one step.
struct Carried {
  half8 a[kFetches];
  half8 b[kFetches];
};

/// Eight halves of a row from `index` on. kWide: rows are 16-byte aligned and their length is a
/// multiple of eight, so that a chunk is one load. Where the row has ended its last value is read
/// again: such values must not count, but loading them needs no branch.
template <bool kWide>
__device__ half8 load_chunk(const half* row, int index, int length) {
  if constexpr (kWide) {
    return *reinterpret_cast<const half8*>(row + min(index, length - kChunk));
  } else {
    half8 chunk;
#pragma unroll
    for (int i = 0; i < kChunk; ++i) chunk[i] = row[min(index + i, length - 1)];
    return chunk;
  }
}

/// Thread t fetches chunk t % 8 of rows t / 8, + 32, + 64, + 96 of the A tile: eight threads read
/// one line of 128 bytes. Of the B tile, four rows from 4 * (t / 16) on, at chunk t % 16: sixteen
/// threads read 256 bytes.
///
/// Beyond the end of A and B the last row or column is read again. Along m and n that lands in
/// rows and columns of C that do not exist; along k it is cleared, since k is summed.
template <bool kWide>
class Fetcher {
 public:
  __device__ Fetcher(const half* a, const half* b, int m, int n, int k, Tile tile)
      : b_(b),
        n_(n),
        k_(k),
        a_k_(threadIdx.x % kRowChunks * kChunk),
        b_k_(threadIdx.x / 16 * 4),
        column_(tile.n * kTileN + threadIdx.x % 16 * kChunk) {
    const int row = tile.m * kTileM + threadIdx.x / kRowChunks;
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      a_[i] = a + static_cast<std::size_t>(min(row + i * kFetchRows, m - 1)) * k;
    }
  }

  /// The step that begins at `k0`.
  __device__ Carried fetch(int k0) const {
    Carried carried;
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      carried.a[i] = load_chunk<kWide>(a_[i], k0 + a_k_, k_);
      const int row = min(k0 + b_k_ + i, k_ - 1);
      carried.b[i] = load_chunk<kWide>(b_ + static_cast<std::size_t>(row) * n_, column_, n_);
    }
    if (k0 + kTileK > k_) clear_beyond(carried, k_ - k0);
    return carried;
  }

 private:
  /// Only the first `left` values of k exist.
  __device__ void clear_beyond(Carried& carried, int left) const {
#pragma unroll
    for (int i = 0; i < kFetches; ++i) {
      if (b_k_ + i >= left) carried.b[i] = half8{};
      if constexpr (kWide) {
        if (a_k_ >= left) carried.a[i] = half8{};
      } else {
        for (int j = max(0, left - a_k_); j < kChunk; ++j) carried.a[i][j] = 0;
      }
    }
  }

  const half* a_[kFetches];
  const half* b_;
  int n_;
  int k_;
  int a_k_;
  int b_k_;
  int column_;
};

// ---- LDS ---------------------------------------------------------------------------------------

/// Both tiles with k contiguous, and after the last step the finished tile of C in the same place.
union Shared {
  struct {
    half a[kTileM * kTileK];
    half b[kTileN * kTileK];
  } step;
  half c[kTileM * kTileN];
};

/// Where chunk `chunk` of row `row` begins. Rows that are read together differ in their low bits,
/// rows that are written together (8 apart) in the next ones.
__device__ int place(int row, int chunk) {
  return row * kTileK + (chunk ^ row ^ (row >> 3)) % kRowChunks * kChunk;
}

/// From the place of (row, chunk) to that of (row + rows, chunk + chunks), when neither addition
/// carries: the pattern is linear, so constant steps need one xor and an offset.
__device__ int advance(int from, int rows, int chunks) {
  return (from ^ (chunks ^ rows ^ (rows >> 3)) % kRowChunks * kChunk) + rows * kTileK;
}

__device__ void store_step(Shared& lds, const Carried& carried) {
  const int a_place = place(threadIdx.x / kRowChunks, threadIdx.x % kRowChunks);
#pragma unroll
  for (int i = 0; i < kFetches; ++i) {
    *reinterpret_cast<half8*>(&lds.step.a[advance(a_place, i * kFetchRows, 0)]) = carried.a[i];
  }
  const half8 b0 = carried.b[0];
  const half8 b1 = carried.b[1];
  const half8 b2 = carried.b[2];
  const half8 b3 = carried.b[3];
  const int k = threadIdx.x / 16 * 4;
  const int b_place = place(threadIdx.x % 16 * kChunk, k / kChunk) + k % kChunk;
#pragma unroll
  for (int j = 0; j < kChunk; ++j) {
    const half4 four = {b0[j], b1[j], b2[j], b3[j]};
    *reinterpret_cast<half4*>(&lds.step.b[advance(b_place, j, 0)]) = four;
  }
}

// ---- multiplication ----------------------------------------------------------------------------

/// One wave's 32 x 32 part of the tile, transposed: lane l holds column l % 32 of rows of B^T A^T,
/// which is row l % 32 of C, and there the columns 8 q + 4 (l / 32) + {0, 1, 2, 3} in elements 4 q
/// on.
using Sums = float16;

__device__ int lane() { return threadIdx.x % 64; }

/// The first of the four columns in elements 4 q to 4 q + 3.
__device__ int column_of(int q) { return 8 * q + lane() / kMma * 4; }

__device__ half8 read_chunk(const half* tile, int at) {
  return *reinterpret_cast<const half8*>(&tile[at]);
}

/// Adds one step's products to a wave's 64 x 64 part of the tile, which begins at (m, n).
__device__ void multiply_step(Sums (&sums)[kWaveTiles][kWaveTiles], const Shared& lds, int m,
                              int n) {
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
  // The instruction takes k in fours: 0-3 from lanes 0-31, 4-7 from lanes 32-63. A lane reads eight
  // that are neighbours in memory and gives them in two halves, so k is paired in another order
  // than memory's, but in the same one for both operands, and a sum does not care.
  const int a_place = place(m + lane() % kMma, lane() / kMma);
  const int b_place = place(n + lane() % kMma, lane() / kMma);
#pragma unroll
  for (int chunk = 0; chunk < kRowChunks; chunk += 2) {
#pragma unroll
    for (int i = 0; i < kWaveTiles; ++i) {
      const half8 a = read_chunk(lds.step.a, advance(a_place, i * kMma, chunk));
#pragma unroll
      for (int j = 0; j < kWaveTiles; ++j) {
        const half8 b = read_chunk(lds.step.b, advance(b_place, j * kMma, chunk));
        sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(b.lo, a.lo, sums[i][j], 0, 0, 0);
        sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(b.hi, a.hi, sums[i][j], 0, 0, 0);
      }
    }
  }
#else
  // Targets without these matrix instructions: the same sums in the same places, one by one.
  for (int chunk = 0; chunk < kRowChunks; ++chunk) {
    for (int i = 0; i < kWaveTiles; ++i) {
      const half8 a = read_chunk(lds.step.a, place(m + i * kMma + lane() % kMma, chunk));
      for (int j = 0; j < kWaveTiles; ++j) {
#pragma unroll
        for (int e = 0; e < 16; ++e) {
          const int row = n + j * kMma + column_of(e / 4) + e % 4;
          const half8 b = read_chunk(lds.step.b, place(row, chunk));
          for (int k = 0; k < kChunk; ++k) {
            sums[i][j][e] += static_cast<float>(a[k]) * static_cast<float>(b[k]);
          }
        }
      }
    }
  }
#endif
}

// ---- registers -> C ----------------------------------------------------------------------------

constexpr int kResultChunks = kTileN / kChunk;  // of a row of the finished tile

__device__ int result_place(int row, int chunk) {
  return row * kTileN + ((chunk ^ row) % kResultChunks) * kChunk;
}

__device__ void store_sums(Shared& lds, const Sums& sums, int m, int n) {
  const int row = m + lane() % kMma;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const int column = n + column_of(q);
    half4 four;
    for (int i = 0; i < 4; ++i) four[i] = static_cast<half>(sums[4 * q + i]);
    half* const to = &lds.c[result_place(row, column / kChunk) + column % kChunk];
    *reinterpret_cast<half4*>(to) = four;
  }
}

/// Sixteen threads write 256 bytes of a row.
template <bool kWide>
__device__ void write_result(const Shared& lds, half* c, int m, int n, Tile tile) {
  const int chunk = threadIdx.x % kResultChunks;
  const int column = tile.n * kTileN + chunk * kChunk;
  constexpr int kRows = kThreads / kResultChunks;
#pragma unroll
  for (int i = 0; i < kTileM / kRows; ++i) {
    const int in_tile = threadIdx.x / kResultChunks + i * kRows;
    const int row = tile.m * kTileM + in_tile;
    if (row >= m || column >= n) continue;
    const half8 eight = *reinterpret_cast<const half8*>(&lds.c[result_place(in_tile, chunk)]);
    half* const to = c + static_cast<std::size_t>(row) * n + column;
    if constexpr (kWide) {
      *reinterpret_cast<half8*>(to) = eight;
    } else {
      for (int j = 0; j < min(kChunk, n - column); ++j) to[j] = eight[j];
    }
  }
}

}  // namespace

// ---- the kernel --------------------------------------------------------------------------------

/// kWide: N and K are multiples of 8, so that rows can be read and written in 16-byte chunks.
template <bool kWide>
__global__ __launch_bounds__(kThreads, kWavesPerSimd) void gemm(const half* __restrict__ a,
                                                                const half* __restrict__ b,
                                                                half* __restrict__ c, int m, int n,
                                                                int k, int group) {
  __shared__ Shared lds;
  const int id = blockIdx.y * gridDim.x + blockIdx.x;
  const Tile tile = tile_of(id, gridDim.y, gridDim.x, group);

  const int wave = threadIdx.x / 64;
  const int wave_m = wave / 2 * kWaveTiles * kMma;
  const int wave_n = wave % 2 * kWaveTiles * kMma;
  Sums sums[kWaveTiles][kWaveTiles] = {};

  const Fetcher<kWide> fetcher(a, b, m, n, k, tile);
  Carried carried = fetcher.fetch(0);
  for (int k0 = 0; k0 < k; k0 += kTileK) {
    store_step(lds, carried);
    __syncthreads();
    if (k0 + kTileK < k) carried = fetcher.fetch(k0 + kTileK);
    multiply_step(sums, lds, wave_m, wave_n);
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < kWaveTiles; ++i) {
#pragma unroll
    for (int j = 0; j < kWaveTiles; ++j) {
      store_sums(lds, sums[i][j], wave_m + i * kMma, wave_n + j * kMma);
    }
  }
  __syncthreads();
  write_result<kWide>(lds, c, m, n, tile);
}

// ---- host --------------------------------------------------------------------------------------

namespace {

#define HIP_CHECK(call)                                                        \
  do {                                                                         \
    const hipError_t status = (call);                                          \
    if (status != hipSuccess) {                                                \
      std::fprintf(stderr, "gemm: %s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   hipGetErrorString(status));                                 \
      std::exit(2);                                                            \
    }                                                                          \
  } while (false)

struct Options {
  int m = 8192;
  int n = 8192;
  int k = 8192;
  int group = 8;
  bool check = false;
};

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: gemm [M N K] [--group G] [--check]\n");
  std::exit(2);
}

int positive(const char* text) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 1 || value > 1 << 20) usage();
  return static_cast<int>(value);
}

Options parse(int argc, char** argv) {
  Options options;
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) {
      options.check = true;
    } else if (std::strcmp(argv[i], "--group") == 0 && i + 1 < argc) {
      options.group = positive(argv[++i]);
    } else {
      sizes.push_back(positive(argv[i]));
    }
  }
  if (sizes.size() == 3) {
    options.m = sizes[0];
    options.n = sizes[1];
    options.k = sizes[2];
  } else if (!sizes.empty()) {
    usage();
  }
  return options;
}

std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

/// A matrix of random-like values that costs no more than a copy: each row is a window, at a random
/// place, into one pool of values. They are k / 16 with 1 <= |k| <= 16: never zero, and products
/// and sums of up to 65536 of them are exact in single precision, so the only error that C may show
/// is its own rounding to half.
class Matrix {
 public:
  Matrix(std::uint32_t seed, int rows, int columns)
      : seed_(seed),
        rows_(rows),
        columns_(columns),
        values_(kPlaces + columns),
        halves_(kPlaces + columns) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::uint32_t bits = mix(seed + static_cast<std::uint32_t>(i));
      const float magnitude = static_cast<float>(1 + bits % 16) / 16.0F;
      values_[i] = bits & 0x100 ? -magnitude : magnitude;
      halves_[i] = static_cast<half>(values_[i]);
    }
  }

  const float* row(int index) const { return &values_[place(index)]; }

  /// Allocates device memory and fills it, a few megabytes at a time.
  half* upload() const {
    const std::size_t row_bytes = sizeof(half) * columns_;
    half* device = nullptr;
    HIP_CHECK(hipMalloc(&device, row_bytes * rows_));
    const int at_once = static_cast<int>(std::clamp<std::size_t>((4 << 20) / row_bytes, 1, rows_));
    std::vector<half> stage(static_cast<std::size_t>(at_once) * columns_);
    for (int first = 0; first < rows_; first += at_once) {
      const int count = std::min(at_once, rows_ - first);
      for (int i = 0; i < count; ++i) {
        std::memcpy(&stage[static_cast<std::size_t>(i) * columns_], &halves_[place(first + i)],
                    row_bytes);
      }
      HIP_CHECK(hipMemcpy(device + static_cast<std::size_t>(first) * columns_, stage.data(),
                          row_bytes * count, hipMemcpyHostToDevice));
    }
    return device;
  }

 private:
  static constexpr int kPlaces = 1 << 16;

  std::size_t place(int row) const {
    return mix(seed_ ^ (0x9e3779b9U * static_cast<std::uint32_t>(row + 1))) % kPlaces;
  }

  std::uint32_t seed_;
  int rows_;
  int columns_;
  std::vector<float> values_;
  std::vector<half> halves_;  // the same
};

/// The largest relative error of C: over all elements where that is quick, else over samples that
/// include the corners and the edges of tiles.
double largest_error(const Options& o, const Matrix& a, const Matrix& b,
                     const std::vector<half>& c) {
  const auto error_at = [&](int row, int column) {
    const float* const a_row = a.row(row);
    double exact = 0;
    for (int i = 0; i < o.k; ++i) exact += static_cast<double>(a_row[i]) * b.row(i)[column];
    const auto got = static_cast<double>(c[static_cast<std::size_t>(row) * o.n + column]);
    constexpr double kSmallest = 1.0 / 256;  // of nonzero sums
    return std::fabs(got - exact) / std::max(std::fabs(exact), kSmallest);
  };
  constexpr double kQuick = 3e8;
  double largest = 0;
  if (static_cast<double>(o.m) * o.n * o.k <= kQuick) {
    for (int row = 0; row < o.m; ++row) {
      for (int column = 0; column < o.n; ++column) {
        largest = std::max(largest, error_at(row, column));
      }
    }
    return largest;
  }
  constexpr std::uint32_t kSamples = 4096;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    const int row = static_cast<int>(mix(i) % o.m);
    const int column = static_cast<int>(mix(~i) % o.n);
    // Every fourth sample moves to the last row or column of its tile, or of the matrix.
    const int last_row = std::min(row / kTileM * kTileM + kTileM, o.m) - 1;
    const int last_column = std::min(column / kTileN * kTileN + kTileN, o.n) - 1;
    largest = std::max(largest, i % 4 ? error_at(row, column) : error_at(last_row, last_column));
  }
  for (const int row : {0, o.m - 1}) {
    for (const int column : {0, o.n - 1}) largest = std::max(largest, error_at(row, column));
  }
  return largest;
}

/// Runs the kernel once between two events; milliseconds.
float run(const Options& o, const half* a, const half* b, half* c) {
  const dim3 grid((o.n + kTileN - 1) / kTileN, (o.m + kTileM - 1) / kTileM);
  const bool wide = o.n % kChunk == 0 && o.k % kChunk == 0;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  HIP_CHECK(hipEventCreate(&start));
  HIP_CHECK(hipEventCreate(&stop));
  HIP_CHECK(hipEventRecord(start, nullptr));
  if (wide) {
    gemm<true><<<grid, kThreads>>>(a, b, c, o.m, o.n, o.k, o.group);
  } else {
    gemm<false><<<grid, kThreads>>>(a, b, c, o.m, o.n, o.k, o.group);
  }
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipEventRecord(stop, nullptr));
  HIP_CHECK(hipEventSynchronize(stop));
  float milliseconds = 0;
  HIP_CHECK(hipEventElapsedTime(&milliseconds, start, stop));
  HIP_CHECK(hipEventDestroy(start));
  HIP_CHECK(hipEventDestroy(stop));
  return milliseconds;
}

/// Half a unit in the last place of a half, for the one rounding that happens.
constexpr double kAllowed = 1.0 / 2048;

bool check(const Options& o, const Matrix& a, const Matrix& b, const half* device_c) {
  std::vector<half> c(static_cast<std::size_t>(o.m) * o.n);
  HIP_CHECK(hipMemcpy(c.data(), device_c, c.size() * sizeof(half), hipMemcpyDeviceToHost));
  const double error = largest_error(o, a, b, c);
  const bool pass = error <= kAllowed;
  std::printf("largest relative error %.3g, allowed %.3g: %s\n", error, kAllowed,
              pass ? "PASS" : "FAIL");
  return pass;
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = parse(argc, argv);
  const Matrix a(1, o.m, o.k);
  const Matrix b(2, o.k, o.n);
  half* const device_a = a.upload();
  half* const device_b = b.upload();
  half* device_c = nullptr;
  HIP_CHECK(hipMalloc(&device_c, sizeof(half) * o.m * o.n));

  const float milliseconds = run(o, device_a, device_b, device_c);
  const double flops = 2.0 * o.m * o.n * o.k;
  std::printf("gemm %d x %d x %d, group %d: %.3f ms, %.1f TFLOP/s by the device's events\n", o.m,
              o.n, o.k, o.group, milliseconds, flops / milliseconds * 1e-9);
  const bool pass = !o.check || check(o, a, b, device_c);

  HIP_CHECK(hipFree(device_a));
  HIP_CHECK(hipFree(device_b));
  HIP_CHECK(hipFree(device_c));
  return pass ? 0 : 1;
}
