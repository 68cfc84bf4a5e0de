// Kernels whose blocks share memory in all the ways that `check` has to tell apart. The first
// argument says which launch is made; the numbers behind it are its sizes.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

constexpr int kThreads = 256;
constexpr int kTile = 1024;  // floats a block writes: 4096 bytes
constexpr int kDies = 8;

// ---- remaps ------------------------------------------------------------------------------------

enum Remap { kIdentity, kLossy, kExact };

/// The share of the blocks that a die computes is contiguous; kLossy only where 8 divides n.
__device__ int remap(int p, int n, Remap how) {
  if (how == kIdentity) return p;
  const int die = p % kDies;
  const int turn = p / kDies;
  if (how == kLossy) return die * (n / kDies) + turn;
  return die * (n / kDies) + min(die, n % kDies) + turn;
}

__device__ void scale_tile(float* c, const float* a, int tile) {
  for (int i = threadIdx.x; i < kTile; i += kThreads) c[tile * kTile + i] = 2 * a[tile * kTile + i];
}

__global__ void scale(float* c, const float* a, Remap how) {
  scale_tile(c, a, remap(blockIdx.x, gridDim.x, how));
}

__global__ void scale_plainly(float* c, const float* a) { scale_tile(c, a, blockIdx.x); }

__global__ void scale_even_tiles(float* c, const float* a) { scale_tile(c, a, 2 * blockIdx.x); }

/// In place, so that a tile computed twice is wrong.
__global__ void scale_in_place(float* c, Remap how) {
  scale_tile(c, c, remap(blockIdx.x, gridDim.x, how));
}

/// Attention's shape: each block reads all keys of its head and writes one tile of the output.
__global__ void attention(float* o, const float* q, const float* k, int heads, int tiles,
                          bool lossy) {
  const int p = blockIdx.x;
  int head = 0;
  int tile = 0;
  if (lossy) {  // head-first: all tiles of a head on one die, 8 dies, heads / 8 heads each
    const int turn = p / kDies;
    head = p % kDies * (heads / kDies) + turn / tiles;
    tile = turn % tiles;
  } else {
    const int exact = remap(p, heads * tiles, kExact);
    head = exact / tiles;
    tile = exact % tiles;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) sum += k[(head * tiles + i) * kThreads + threadIdx.x];
  const int at = (head * tiles + tile) * kThreads + threadIdx.x;
  o[at] = sum * q[at];
}

// ---- blocks that depend on each other ----------------------------------------------------------

/// Decoupled look-back: each block adds up its tile, publishes the sum, then waits for the prefix
/// of the block before.
__global__ void look_back(float* out, const float* in, volatile int* flag, volatile float* prefix) {
  __shared__ float sum;
  __shared__ float before;
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += in[b * kThreads + i];
    before = 0;
    if (b > 0) {
      while (flag[b - 1] == 0) {
      }
      __threadfence();
      before = prefix[b - 1];
    }
    prefix[b] = before + sum;
    __threadfence();
    flag[b] = 1;
  }
  __syncthreads();
  out[b * kThreads + threadIdx.x] = before + in[b * kThreads + threadIdx.x];
}

/// The same with atomics only: nothing is a plain load.
__global__ void look_back_by_atomics(float* out, const float* in, int* flag, float* prefix) {
  __shared__ float before;
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    before = 0;
    if (b > 0) {
      while (atomicAdd(&flag[b - 1], 0) == 0) {
      }
      __threadfence();
      before = prefix[b - 1];
    }
    prefix[b] = before + in[b * kThreads];
    __threadfence();
    atomicExch(&flag[b], 1);
  }
  __syncthreads();
  out[b * kThreads + threadIdx.x] = before;
}

/// Waits for the block behind it: only blocks that take turns come to an end.
__global__ void look_ahead(int* out, volatile int* flag) {
  const int b = blockIdx.x;
  if (threadIdx.x != 0) return;
  if (b + 1 < gridDim.x) {
    while (flag[b + 1] == 0) {
    }
  }
  out[b] = b;
  __threadfence();
  flag[b] = 1;
}

/// Each block reads one element that the next block has not yet overwritten.
__global__ void shift_in_place(float* c) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float next = c[i + 1];
  __syncthreads();
  c[i] = next;
}

// ---- stores to the same bytes ------------------------------------------------------------------

/// Tiles of 64 rows that overlap by two: both compute the same values there.
__global__ void halo(float* c, const float* a) {
  const int i = blockIdx.x * (kThreads - 2) + threadIdx.x;
  c[i] = a[i] + 1;
}

__global__ void owner(int* c) {
  const int i = blockIdx.x * (kThreads - 2) + threadIdx.x;
  c[i] = blockIdx.x;
}

__global__ void any_negative(int* found, const float* a) {
  if (a[blockIdx.x * kThreads + threadIdx.x] <= 0) *found = 1;
}

// ---- what is all right -------------------------------------------------------------------------

__global__ void histogram(unsigned* bins, const float* a) {
  const float value = a[blockIdx.x * kThreads + threadIdx.x];
  atomicAdd(&bins[static_cast<unsigned>(value) % 16], 1U);
}

__device__ void add_by_compare_and_swap(double* to, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(to);
  unsigned long long old = *bits;
  unsigned long long assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
}

__global__ void sum_by_compare_and_swap(double* sums, const float* a) {
  add_by_compare_and_swap(&sums[threadIdx.x % 4], a[blockIdx.x * kThreads + threadIdx.x]);
}

/// Block (tile, k) adds its share of the k-loop to the tile.
__global__ void split_k(float* c, const float* a, int tiles) {
  const int tile = blockIdx.x % tiles;
  const int part = blockIdx.x / tiles;
  atomicAdd(&c[tile * kThreads + threadIdx.x], a[(part * tiles + tile) * kThreads + threadIdx.x]);
}

/// The same with a work space: the last block of a tile to arrive adds up what the others left.
__global__ void split_k_last(float* c, float* work, const float* a, unsigned* arrived, int tiles,
                             int parts) {
  __shared__ bool last;
  const int tile = blockIdx.x % tiles;
  const int part = blockIdx.x / tiles;
  const int at = (part * tiles + tile) * kThreads + threadIdx.x;
  work[at] = a[at];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&arrived[tile], 1U) == parts - 1U;
  __syncthreads();
  if (!last) return;
  float sum = 0;
  for (int i = 0; i < parts; ++i) sum += work[(i * tiles + tile) * kThreads + threadIdx.x];
  c[tile * kThreads + threadIdx.x] = sum;
  if (threadIdx.x == 0) arrived[tile] = 0;
}

__global__ void persistent(float* c, const float* a, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) scale_tile(c, a, tile);
}

__global__ void persistent_by_ticket(float* c, const float* a, unsigned* next, unsigned tiles) {
  __shared__ unsigned tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1U);
    __syncthreads();
    if (tile >= tiles) return;
    scale_tile(c, a, static_cast<int>(tile));
    __syncthreads();
  }
}

// ---- the host ----------------------------------------------------------------------------------

template <class T>
T* device_array(std::size_t count, T step = 0) {
  std::vector<T> host(count);
  for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<T>(i) * step;
  T* array = nullptr;
  if (hipMalloc(&array, count * sizeof(T)) != hipSuccess) std::exit(4);
  if (hipMemcpy(array, host.data(), count * sizeof(T), hipMemcpyHostToDevice) != hipSuccess)
    std::exit(4);
  return array;
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int n = argc > 2 ? std::atoi(argv[2]) : 10;
  const int m = argc > 3 ? std::atoi(argv[3]) : 1;
  const auto floats = [](int count) { return device_array<float>(count, 0.5F); };
  const auto ints = [](int count) { return device_array<int>(count); };
  const auto is = [&](const char* name) { return mode == name; };
  const Remap how = is("lossy") || is("in-place-lossy") ? kLossy : is("exact") ? kExact : kIdentity;

  if (is("identity") || is("lossy") || is("exact")) {
    scale<<<n, kThreads>>>(floats(n * kTile), floats(n * kTile), how);
  } else if (is("short")) {  // the host's grid misses the last, ragged tile
    scale<<<n - 1, kThreads>>>(floats(n * kTile), floats(n * kTile), kIdentity);
  } else if (is("even")) {
    scale_even_tiles<<<n / 2, kThreads>>>(floats(n * kTile), floats(n * kTile));
  } else if (is("two-launches")) {  // the first is complete
    float* const a = floats(n * kTile);
    scale_plainly<<<n, kThreads>>>(floats(n * kTile), a);
    scale<<<n, kThreads>>>(floats(n * kTile), a, kLossy);
  } else if (is("in-place-lossy")) {
    scale_in_place<<<n, kThreads>>>(floats(n * kTile), how);
  } else if (is("heads-lossy") || is("heads-exact")) {
    const int count = n * m * kThreads;
    attention<<<n * m, kThreads>>>(floats(count), floats(count), floats(count), n, m,
                                   is("heads-lossy"));
  } else if (is("look-back")) {
    look_back<<<n, kThreads>>>(floats(n * kThreads), floats(n * kThreads), ints(n), floats(n));
  } else if (is("look-back-by-atomics")) {
    look_back_by_atomics<<<n, kThreads>>>(floats(n * kThreads), floats(n * kThreads), ints(n),
                                          floats(n));
  } else if (is("look-ahead")) {
    look_ahead<<<n, kThreads>>>(ints(n), ints(n));
  } else if (is("shift")) {
    shift_in_place<<<n, kThreads>>>(floats(n * kThreads + 1));
  } else if (is("halo")) {
    halo<<<n, kThreads>>>(floats(n * kThreads), floats(n * kThreads));
  } else if (is("race")) {
    owner<<<n, kThreads>>>(ints(n * kThreads));
  } else if (is("flag")) {
    any_negative<<<n, kThreads>>>(ints(1), device_array<float>(n * kThreads, -1.0F));
  } else if (is("histogram")) {
    histogram<<<n, kThreads>>>(device_array<unsigned>(16), floats(n * kThreads));
  } else if (is("compare-and-swap")) {
    sum_by_compare_and_swap<<<n, kThreads>>>(device_array<double>(4), floats(n * kThreads));
  } else if (is("split-k")) {
    split_k<<<n * m, kThreads>>>(floats(n * kThreads), floats(n * m * kThreads), n);
  } else if (is("split-k-last")) {
    split_k_last<<<n * m, kThreads>>>(floats(n * kThreads), floats(n * m * kThreads),
                                      floats(n * m * kThreads), device_array<unsigned>(n), n, m);
  } else if (is("persistent")) {
    persistent<<<m, kThreads>>>(floats(n * kTile), floats(n * kTile), n);
  } else if (is("persistent-by-ticket")) {
    persistent_by_ticket<<<m, kThreads>>>(floats(n * kTile), floats(n * kTile),
                                          device_array<unsigned>(1), n);
  } else {
    std::fprintf(stderr, "unknown mode '%s'\n", mode.c_str());
    return 2;
  }
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
