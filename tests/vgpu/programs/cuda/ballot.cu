// Votes, matches and reductions over a warp, also of lanes that diverged.
#include <cuda_runtime.h>

#include "check.h"

constexpr unsigned kFull = 0xffffffffu;

__global__ void votes(unsigned* out) {
  const int lane = threadIdx.x % 32;
  unsigned* mine = out + 12 * threadIdx.x;
  mine[0] = __ballot_sync(kFull, lane % 3 == 0);
  mine[1] = __any_sync(kFull, lane == 7);
  mine[2] = __all_sync(kFull, lane < 31);
  mine[3] = __activemask();
  if (lane < 10) {
    mine[4] = __activemask();
    mine[5] = __ballot_sync(0x3ff, lane & 1);
    mine[6] = __all_sync(0x3ff, lane < 10);
  }
  __syncwarp();
  mine[7] = __match_any_sync(kFull, lane / 5);
  int all = -1;
  mine[8] = __match_all_sync(kFull, 42, &all);
  mine[9] = __reduce_add_sync(kFull, (unsigned)lane);
  mine[10] = (unsigned)__reduce_max_sync(kFull, lane == 9 ? 77 : -lane);
  mine[11] = __reduce_or_sync(kFull, 1u << (lane / 2)) + (unsigned)all;
}

/// Stream compaction: one addition to the counter for a whole warp.
__global__ void compact(const int* in, int* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && in[i] % 3 == 0;
  const unsigned mask = __ballot_sync(kFull, keep);
  const int lane = threadIdx.x & 31;
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(kFull, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

int main() {
  unsigned* d;
  static unsigned h[12 * 64];
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMemset(d, 0, sizeof h));
  votes<<<1, 64>>>(d);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  unsigned thirds = 0;
  for (int lane = 0; lane < 32; lane += 3) thirds |= 1u << lane;
  for (int t = 0; t < 64; ++t) {
    const unsigned* mine = h + 12 * t;
    const int lane = t % 32;
    EXPECT(mine[0] == thirds && mine[1] == 1 && mine[2] == 0 && mine[3] == kFull);
    EXPECT(lane >= 10 ? mine[4] == 0 : mine[4] == 0x3ff && mine[5] == 0x2aa && mine[6] == 1);
    unsigned equal = 0;
    for (int other = 0; other < 32; ++other) equal |= (unsigned)(other / 5 == lane / 5) << other;
    EXPECT(mine[7] == equal);
    EXPECT(mine[8] == kFull && mine[9] == 496 && mine[10] == 77 && mine[11] == 0xffff + 1);
  }
  constexpr int kN = 1000;
  static int in[kN], out[kN];
  for (int i = 0; i < kN; ++i) in[i] = i * 7 % 1001;
  int *din, *dout, *dcount, count = 0, wanted = 0;
  long long sum = 0, wanted_sum = 0;
  for (int v : in) {
    if (v % 3 == 0) ++wanted, wanted_sum += v;
  }
  CHECK(cudaMalloc(&din, sizeof in));
  CHECK(cudaMalloc(&dout, sizeof out));
  CHECK(cudaMalloc(&dcount, sizeof count));
  CHECK(cudaMemset(dcount, 0, sizeof count));
  CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
  compact<<<(kN + 127) / 128, 128>>>(din, dout, dcount, kN);
  CHECK(cudaMemcpy(&count, dcount, sizeof count, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) sum += out[i];
  EXPECT(count == wanted && sum == wanted_sum);
  return finish();
}
