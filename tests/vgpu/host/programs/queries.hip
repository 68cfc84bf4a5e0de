// What a program asks before it decides how to launch.
#include <cstring>

#include "check.h"

__global__ void uses_static_lds(float* out) {
  __shared__ float lds[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) lds[i] = out[i];
  __syncthreads();
  out[threadIdx.x] = lds[4095 - threadIdx.x];
}

int main() {
  int count = 0;
  OK(hipGetDeviceCount(&count));
  CHECK(count == 1);
  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  CHECK(properties.warpSize == 64 && properties.maxThreadsPerBlock == 1024);
  CHECK(std::strncmp(properties.gcnArchName, "gfx942", 6) == 0);
  CHECK(properties.multiProcessorCount == 304);
  int value = 0;
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(value == properties.multiProcessorCount);
  CHECK(hipGetDeviceProperties(&properties, 1) == hipErrorInvalidDevice);

  std::size_t free_bytes = 0;
  std::size_t total = 0;
  OK(hipMemGetInfo(&free_bytes, &total));
  void* half = nullptr;
  OK(hipMalloc(&half, free_bytes / 2));
  std::size_t now_free = 0;
  OK(hipMemGetInfo(&now_free, &total));
  CHECK(now_free == free_bytes - free_bytes / 2 && total >= free_bytes);
  OK(hipFree(half));

  hipFuncAttributes attributes;
  OK(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(uses_static_lds)));
  CHECK(attributes.sharedSizeBytes == 4096 * sizeof(float) && attributes.numRegs > 0);
  int blocks = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, uses_static_lds, 256, 0));
  CHECK(blocks == 4);
  int version = 0;
  OK(hipRuntimeGetVersion(&version));
  CHECK(version > 0);
}
