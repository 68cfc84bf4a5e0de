// Device variables, constants and managed variables, seen from both sides.
#include "check.h"

__constant__ float weights[4];
__device__ int counters[8] = {1, 2, 3};
__device__ int untouched = 42;
__managed__ int managed = 5;

__global__ void use(float* out) {
  const int i = threadIdx.x;
  out[i] = weights[i % 4] + counters[i % 8] + managed;
  if (i < 8) counters[i] += 100;
  if (i == 0) managed = 6;
}

int main() {
  const float host_weights[4] = {0.5F, 1.5F, 2.5F, 3.5F};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(weights), host_weights, sizeof host_weights));
  const int four = 4;
  OK(hipMemcpyToSymbol(HIP_SYMBOL(counters), &four, sizeof four, 3 * sizeof(int)));
  managed += 10;

  float* out = nullptr;
  OK(hipMalloc(&out, 64 * sizeof(float)));
  use<<<1, 64>>>(out);
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  float host[64];
  OK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  CHECK(host[0] == 0.5F + 1 + 15 && host[3] == 3.5F + 4 + 15 && host[6] == 2.5F + 0 + 15);
  CHECK(managed == 6);

  int counted[8];
  OK(hipMemcpyFromSymbol(counted, HIP_SYMBOL(counters), sizeof counted));
  CHECK(counted[0] == 101 && counted[3] == 104 && counted[7] == 100);

  void* address = nullptr;
  std::size_t bytes = 0;
  OK(hipGetSymbolAddress(&address, HIP_SYMBOL(counters)));
  OK(hipGetSymbolSize(&bytes, HIP_SYMBOL(counters)));
  CHECK(bytes == sizeof counted);
  OK(hipMemcpy(counted, address, sizeof counted, hipMemcpyDeviceToHost));
  CHECK(counted[1] == 102);

  int not_a_symbol = 0;
  CHECK(hipMemcpyToSymbol(&not_a_symbol, &four, sizeof four) == hipErrorInvalidSymbol);
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), host_weights, 17) == hipErrorInvalidSymbol);
  OK(hipFree(out));
}
