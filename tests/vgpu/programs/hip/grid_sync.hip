// A cooperative launch: all blocks meet at barriers of the grid, several times.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

// Each round every block reads what other blocks wrote in the round before.
__global__ void rounds(int* a, int* b, int n, int count) {
  cg::grid_group grid = cg::this_grid();
  int* from = a;
  int* to = b;
  for (int round = 0; round < count; ++round) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      to[i] = from[(i + 1) % n] + from[(i + n / 2) % n];
    grid.sync();
    int* other = from;
    from = to;
    to = other;
  }
}

__global__ void sum_all(const float* in, float* partial, float* out, int n) {
  __shared__ float shared[128];
  cg::grid_group grid = cg::this_grid();
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = shared[0];
  grid.sync();
  if (grid.thread_rank() == 0) {
    float total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *out = total;
  }
}

int main() {
  const int n = 1000;
  int count = 5;
  std::vector<int> now(n);
  for (int i = 0; i < n; ++i) now[i] = i % 5;
  Array<int> a(now);
  Array<int> b(n);
  int size = n;
  void* arguments[] = {&a.device, &b.device, &size, &count};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(7), dim3(64), arguments, 0, nullptr));
  for (int round = 0; round < count; ++round) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = now[(i + 1) % n] + now[(i + n / 2) % n];
    now = next;
  }
  b.download();
  for (int i = 0; i < n; ++i) check_equal("rounds", i, b.host[i], now[i]);

  std::vector<float> ones(5000, 1.0f);
  Array<float> in(ones);
  Array<float> partial(20);
  Array<float> out(1);
  int length = 5000;
  void* more[] = {&in.device, &partial.device, &out.device, &length};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_all), dim3(20), dim3(128), more, 0, nullptr));
  out.download();
  CHECK(out.host[0] == 5000.0f);

  // More blocks than the device holds at once cannot meet.
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_all), dim3(1000000), dim3(128), more, 0,
                                   nullptr) == hipErrorCooperativeLaunchTooLarge);
  (void)hipGetLastError();
  return report();
}
