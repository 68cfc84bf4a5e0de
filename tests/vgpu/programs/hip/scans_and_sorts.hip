// Reductions, scans, sorting and compaction as benchmark suites write them.
#include <algorithm>

#include "check.h"

template <unsigned kBlock>
__global__ void reduce(const int* in, int* out, unsigned n) {
  __shared__ int shared[kBlock];
  unsigned i = blockIdx.x * kBlock * 2 + threadIdx.x;
  int sum = 0;
  while (i < n) {
    sum += in[i] + (i + kBlock < n ? in[i + kBlock] : 0);
    i += kBlock * 2 * gridDim.x;
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  if (kBlock >= 512) { if (threadIdx.x < 256) shared[threadIdx.x] += shared[threadIdx.x + 256]; __syncthreads(); }
  if (kBlock >= 256) { if (threadIdx.x < 128) shared[threadIdx.x] += shared[threadIdx.x + 128]; __syncthreads(); }
  if (kBlock >= 128) { if (threadIdx.x < 64) shared[threadIdx.x] += shared[threadIdx.x + 64]; __syncthreads(); }
  // The last wave without barriers, through volatile LDS.
  if (threadIdx.x < 32) {
    volatile int* v = shared;
    v[threadIdx.x] += v[threadIdx.x + 32];
    v[threadIdx.x] += v[threadIdx.x + 16];
    v[threadIdx.x] += v[threadIdx.x + 8];
    v[threadIdx.x] += v[threadIdx.x + 4];
    v[threadIdx.x] += v[threadIdx.x + 2];
    v[threadIdx.x] += v[threadIdx.x + 1];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

// The last block to finish adds the partial sums.
__device__ unsigned finished = 0;
__global__ void reduce_once(const int* in, int* partial, int* out, int n) {
  __shared__ int shared[256];
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = shared[0];
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += ((volatile int*)partial)[b];
    *out = total;
    finished = 0;
  }
}

// Blelloch's exclusive scan of one block.
__global__ void blelloch(const int* in, int* out, int n) {
  extern __shared__ int tree[];
  const int t = threadIdx.x;
  tree[2 * t] = in[2 * t];
  tree[2 * t + 1] = in[2 * t + 1];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1;
      const int b = offset * (2 * t + 2) - 1;
      const int x = tree[a];
      tree[a] = tree[b];
      tree[b] += x;
    }
  }
  __syncthreads();
  out[2 * t] = tree[2 * t];
  out[2 * t + 1] = tree[2 * t + 1];
}

__global__ void bitonic(unsigned* data, unsigned j, unsigned k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned other = i ^ j;
  if (other <= i) return;
  const bool up = (i & k) == 0;
  if ((data[i] > data[other]) == up) {
    const unsigned t = data[i];
    data[i] = data[other];
    data[other] = t;
  }
}

// One pass of a radix sort: digits are counted, and each key finds its place.
__global__ void radix_pass(const unsigned* in, unsigned* out, int n, int shift) {
  __shared__ int counts[16];
  __shared__ int starts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[in[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int d = 0; d < 16; ++d) starts[d] = sum, sum += counts[d];
  }
  __syncthreads();
  // In order: one wave, one digit after the other. What lane 0 writes, the others read without a
  // barrier: volatile.
  volatile int* begins = starts;
  if (threadIdx.x < 64)
    for (int base = 0; base < n; base += 64) {
      const int i = base + threadIdx.x;
      const unsigned key = i < n ? in[i] : 0;
      const int digit = i < n ? static_cast<int>(key >> shift & 15) : -1;
      for (int d = 0; d < 16; ++d) {
        const unsigned long long same = __ballot(digit == d);
        const int start = begins[d];
        if (digit == d) out[start + __popcll(same & ((1ull << threadIdx.x) - 1))] = key;
        if (threadIdx.x == 0) begins[d] = start + __popcll(same);
      }
    }
}

int main() {
  const int n = 30000;
  std::vector<int> values(n);
  Numbers numbers(13);
  long long wanted = 0;
  for (int& v : values) wanted += v = static_cast<int>(numbers.next() % 100) - 50;
  Array<int> in(values);
  Array<int> partial(32);
  reduce<256><<<32, 256>>>(in, partial, n);
  long long got = 0;
  for (int p : partial.download()) got += p;
  CHECK(got == wanted);
  Array<int> out(1);
  for (int round = 0; round < 2; ++round) {
    reduce_once<<<32, 256>>>(in, partial, out, n);
    CHECK(out.download()[0] == wanted);
  }

  Array<int> scanned(512);
  blelloch<<<1, 256, 512 * sizeof(int)>>>(in, scanned, 512);
  scanned.download();
  int sum = 0;
  for (int i = 0; i < 512; ++i) {
    check_equal("scan", i, scanned.host[i], sum);
    sum += values[i];
  }

  std::vector<unsigned> keys(2048);
  for (unsigned& k : keys) k = numbers.next();
  Array<unsigned> data(keys);
  for (unsigned k = 2; k <= 2048; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) bitonic<<<8, 256>>>(data, j, k);
  data.download();
  std::vector<unsigned> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  CHECK(data.host == sorted);

  Array<unsigned> ping(keys);
  Array<unsigned> pong(2048);
  for (int shift = 0; shift < 32; shift += 8) {
    radix_pass<<<1, 256>>>(ping, pong, 2048, shift);
    radix_pass<<<1, 256>>>(pong, ping, 2048, shift + 4);
  }
  ping.download();
  CHECK(ping.host == sorted);
  return report();
}
