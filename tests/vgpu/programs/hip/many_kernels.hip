// Twenty kernels, the last of which moves the most: the launch that is traced when nobody says which.
// Also 70,000 allocations, more than a trace can number.
#include "check.h"

template <int kWhich>
__global__ void part(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += kWhich;
}

__global__ void whole(int* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] *= 2;
}

template <int kWhich>
void launch_parts(int* data) {
  if constexpr (kWhich < 19) {
    part<kWhich><<<1, 64>>>(data, 64);
    launch_parts<kWhich + 1>(data);
  }
}

int main() {
  const int n = 100000;
  std::vector<void*> many(70000);
  for (void*& pointer : many) OK(hipMalloc(&pointer, 64));
  Array<int> data(std::vector<int>(n, 1));
  launch_parts<0>(data);
  whole<<<100, 256>>>(data, n);
  data.download();
  for (int i = 0; i < n; ++i) check_equal("data", i, data.host[i], i < 64 ? 2 * (1 + 171) : 2);
  for (std::size_t k = many.size(); k > 0; --k) OK(hipFree(many[k - 1]));
  return report();
}
