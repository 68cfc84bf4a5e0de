// Blocks that wait for each other through memory: a look-back scan, a barrier by hand, a lock, and
// waves of one block that wait for each other.
#include "check.h"

// Tiles are taken from a counter, so that every block waits only for blocks that have begun.
__global__ void look_back_scan(const int* in, int* out, int n, int* tiles, volatile int* state,
                               volatile int* sums) {
  __shared__ int shared[256];
  __shared__ int tile;
  __shared__ int before;
  if (threadIdx.x == 0) tile = atomicAdd(tiles, 1);
  __syncthreads();
  const int i = tile * 256 + threadIdx.x;
  shared[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    const int add = threadIdx.x >= step ? shared[threadIdx.x - step] : 0;
    __syncthreads();
    shared[threadIdx.x] += add;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const int total = shared[255];
    sums[2 * tile] = total;
    __threadfence();
    state[tile] = 1;  // the tile's own sum is there
    int exclusive = 0;
    for (int t = tile - 1; t >= 0; --t) {
      while (state[t] == 0) {
      }
      __threadfence();
      if (state[t] == 2) {
        exclusive += sums[2 * t + 1];
        break;
      }
      exclusive += sums[2 * t];
    }
    sums[2 * tile + 1] = exclusive + total;
    __threadfence();
    state[tile] = 2;  // the sum of all so far is there
    before = exclusive;
  }
  __syncthreads();
  if (i < n) out[i] = shared[threadIdx.x] + before;
}

__device__ void meet(int* arrived, int goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < goal) {
    }
  }
  __syncthreads();
}

// Block b waits for block b + 1: none of them could end alone.
__global__ void barrier_by_hand(int* values, int* out, int* arrived) {
  const int b = blockIdx.x;
  if (threadIdx.x == 0) values[b] = b * b;
  meet(arrived, gridDim.x);
  if (threadIdx.x == 0) out[b] = values[(b + 1) % gridDim.x];
  meet(arrived, 2 * gridDim.x);
  if (threadIdx.x == 0) values[b] = out[(b + 2) % gridDim.x];
}

__global__ void locked(int* lock, int* counter) {
  if (threadIdx.x != 0) return;
  for (int k = 0; k < 10; ++k) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    const int seen = *(volatile int*)counter;
    *(volatile int*)counter = seen + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Wave 0 consumes what wave 1 produces, and is executed first.
__global__ void producer_and_consumer(int* out) {
  __shared__ volatile int box;
  __shared__ volatile int full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  if (threadIdx.x == 64) {
    for (int k = 0; k < 5; ++k) {
      while (full != 0) {
      }
      box = 100 + k;
      __threadfence_block();
      full = 1;
    }
  } else if (threadIdx.x == 0) {
    for (int k = 0; k < 5; ++k) {
      while (full == 0) {
      }
      __threadfence_block();
      out[k] = box;
      full = 0;
    }
  }
}

int main() {
  const int n = 10000;
  const int tiles = (n + 255) / 256;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  Array<int> in(values);
  Array<int> out(n);
  Array<int> counter(1);
  Array<int> state(tiles);
  Array<int> sums(2 * tiles);
  look_back_scan<<<tiles, 256>>>(in, out, n, counter, state, sums);
  out.download();
  int sum = 0;
  for (int i = 0; i < n; ++i) check_equal("scan", i, out.host[i], sum += values[i]);

  const int blocks = 50;
  Array<int> squares(blocks);
  Array<int> shifted(blocks);
  Array<int> arrived(1);
  barrier_by_hand<<<blocks, 64>>>(squares, shifted, arrived);
  squares.download();
  for (int b = 0; b < blocks; ++b) {
    const int from = (b + 3) % blocks;
    check_equal("barrier", b, squares.host[b], from * from);
  }

  Array<int> lock(1);
  Array<int> count(1);
  locked<<<30, 64>>>(lock, count);
  count.download();
  CHECK(count.host[0] == 300);

  Array<int> box(5);
  producer_and_consumer<<<1, 128>>>(box);
  box.download();
  for (int k = 0; k < 5; ++k) check_equal("box", k, box.host[k], 100 + k);
  return report();
}
