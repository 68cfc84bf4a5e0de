// Integer atomics of 32 and 64 bits, on global memory and LDS, and at every scope.
#include <climits>

#include "check.h"

template <class T>
__global__ void operations(T* g, T* old) {
  const T lane = threadIdx.x;
  atomicAdd(&g[0], lane);
  atomicMin(&g[1], lane + 5);
  atomicMax(&g[2], lane * 3);
  atomicAnd(&g[3], static_cast<T>(~(static_cast<T>(1) << (lane % 8))));
  atomicOr(&g[4], static_cast<T>(1) << (lane % 20));
  atomicXor(&g[5], lane);
  atomicExch(&g[6], lane);
  if (lane == 3) old[0] = atomicCAS(&g[7], static_cast<T>(11), static_cast<T>(12));
  if (lane == 3) old[1] = atomicCAS(&g[7], static_cast<T>(11), static_cast<T>(13));
  if (lane == 3) old[2] = atomicCAS(&g[7], static_cast<T>(12), static_cast<T>(14));
  old[8 + threadIdx.x] = atomicAdd(&g[8], static_cast<T>(2));
}

template <class T>
void check_operations() {
  std::vector<T> start = {100, 1000, 0, static_cast<T>(0xff), 0, 0, 77, 11, 0};
  Array<T> g(start);
  Array<T> old(8 + 64);
  operations<T><<<1, 64>>>(g, old);
  g.download();
  old.download();
  T x = 0;
  for (T i = 0; i < 64; ++i) x ^= i;
  CHECK(g.host[0] == 100 + 63 * 32);
  CHECK(g.host[1] == 5);
  CHECK(g.host[2] == 189);
  CHECK(g.host[3] == 0);
  CHECK(g.host[4] == 0xfffff);
  CHECK(g.host[5] == x);
  CHECK(g.host[6] < 64);
  CHECK(g.host[7] == 14);
  CHECK(old.host[0] == 11 && old.host[1] == 12 && old.host[2] == 12);
  CHECK(g.host[8] == 128);
  std::vector<bool> seen(128);
  for (int i = 0; i < 64; ++i) {
    const auto value = static_cast<std::size_t>(old.host[8 + i]);
    CHECK(value < 128 && value % 2 == 0 && !seen[value]);
    if (value < 128) seen[value] = true;
  }
}

__global__ void wrapping(unsigned* g) {
  atomicInc(&g[0], 9);
  atomicDec(&g[1], 9);
  atomicSub(&g[2], 3u);
}

__global__ void signed_extremes(int* g) {
  atomicMin(&g[0], static_cast<int>(threadIdx.x) - 30);
  atomicMax(&g[1], static_cast<int>(threadIdx.x) - 70);
}

__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void scopes(int* g, unsigned long long* h) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  __hip_atomic_fetch_add(&s, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __hip_atomic_fetch_add(&g[0], 1, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_or(&g[1], 1 << (threadIdx.x % 31), __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_fetch_max(&h[0], static_cast<unsigned long long>(threadIdx.x), __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_SYSTEM);
  atomicAdd_system(&g[2], 2);
  __hip_atomic_fetch_add(&g[3], 3, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) {
    __hip_atomic_store(&g[4], s, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    g[5] = __hip_atomic_load(&g[4], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    int expected = 64;
    g[6] = __hip_atomic_compare_exchange_weak(&g[4], &expected, 65, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED,
                                              __HIP_MEMORY_SCOPE_AGENT);
  }
}

// The maximum of numbers of which there is no atomic: by compare and swap.
__device__ void max_of_shorts(unsigned* packed, unsigned value) {
  unsigned old = *packed;
  unsigned assumed;
  do {
    assumed = old;
    const unsigned low = max(assumed & 0xffff, value & 0xffff);
    const unsigned high = max(assumed >> 16, value >> 16);
    old = atomicCAS(packed, assumed, high << 16 | low);
  } while (assumed != old);
}
__global__ void packed_maximum(unsigned* g) {
  max_of_shorts(g, threadIdx.x << 16 | (63 - threadIdx.x) * 7);
}

int main() {
  check_operations<int>();
  check_operations<unsigned>();
  check_operations<unsigned long long>();

  Array<unsigned> wrap(std::vector<unsigned>{0, 0, 1000});
  wrapping<<<1, 64>>>(wrap);
  wrap.download();
  CHECK(wrap.host[0] == 64 % 10);
  CHECK(wrap.host[1] == 6);  // 9, 8, ..., 0 is one round of ten
  CHECK(wrap.host[2] == 1000 - 3 * 64);

  Array<int> extremes(std::vector<int>{INT_MAX, INT_MIN});
  signed_extremes<<<1, 64>>>(extremes);
  extremes.download();
  CHECK(extremes.host[0] == -30 && extremes.host[1] == -7);

  const int n = 50000;
  std::vector<unsigned char> bytes(n);
  std::vector<unsigned> wanted(256);
  Numbers numbers(1);
  for (auto& b : bytes) ++wanted[b = static_cast<unsigned char>(numbers.next() % 251)];
  Array<unsigned char> in(bytes);
  Array<unsigned> bins(256);
  histogram<<<10, 256>>>(in, bins, n);
  bins.download();
  for (int i = 0; i < 256; ++i) check_equal("bin", i, bins.host[i], wanted[i]);

  Array<int> g(8);
  Array<unsigned long long> h(1);
  scopes<<<1, 64>>>(g, h);
  g.download();
  h.download();
  CHECK(g.host[0] == 64 && g.host[1] == 0x7fffffff && g.host[2] == 128 && g.host[3] == 192);
  CHECK(g.host[4] == 65 && g.host[5] == 64 && g.host[6] == 1 && h.host[0] == 63);

  Array<unsigned> packed(1);
  packed_maximum<<<1, 64>>>(packed);
  packed.download();
  CHECK(packed.host[0] == (63u << 16 | 63 * 7));
  return report();
}
