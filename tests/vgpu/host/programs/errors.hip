// Launches and allocations that are refused, and how the last error is kept.
#include <cstring>

#include "check.h"

__global__ void nothing(int* where) {
  if (where) *where = 1;
}

__global__ void uses_lds(float* out) {
  extern __shared__ float lds[];
  lds[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = lds[63 - threadIdx.x];
}

static void not_a_kernel() {}

int main() {
  nothing<<<1, 1025>>>(nullptr);
  CHECK(hipPeekAtLastError() == hipErrorInvalidConfiguration);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  CHECK(hipGetLastError() == hipSuccess);
  nothing<<<0, 64>>>(nullptr);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  nothing<<<1U << 31, 64>>>(nullptr);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  nothing<<<dim3(1, 1, 1), dim3(32, 32, 2)>>>(nullptr);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);

  float* out = nullptr;
  OK(hipMalloc(&out, 64 * sizeof(float)));
  uses_lds<<<1, 64, 65536 + 4>>>(out);
  CHECK(hipGetLastError() == hipErrorInvalidValue);
  uses_lds<<<1, 64, 64 * sizeof(float)>>>(out);
  OK(hipGetLastError());
  float host[64];
  OK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
  CHECK(host[0] == 63 && host[63] == 0);

  void* arguments[] = {&out};
  CHECK(hipLaunchKernel(reinterpret_cast<const void*>(not_a_kernel), dim3(1), dim3(1), arguments, 0,
                        nullptr) == hipErrorInvalidDeviceFunction);
  OK(hipLaunchKernel(reinterpret_cast<const void*>(uses_lds), dim3(1), dim3(64), arguments,
                     64 * sizeof(float), nullptr));

  void* huge = &huge;
  CHECK(hipMalloc(&huge, std::size_t{1} << 60) == hipErrorOutOfMemory);
  CHECK(huge == nullptr);
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  CHECK(std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
  CHECK(std::strlen(hipGetErrorString(hipErrorInvalidDevice)) > 0);
  OK(hipFree(out));
}
