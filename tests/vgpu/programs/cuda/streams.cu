// Streams, events, pinned memory, asynchronous copies, a host function in its order.
#include <cuda_runtime.h>

#include "check.h"

__global__ void triple(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 3.0f;
}

void CUDART_CB count_call(void* data) { ++*static_cast<int*>(data); }

int main() {
  constexpr int kStreams = 3, kEach = 1000;
  cudaStream_t streams[kStreams];
  cudaEvent_t start, stop, ready;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  float *host, *device;
  CHECK(cudaMallocHost(&host, kStreams * kEach * sizeof(float)));
  CHECK(cudaMalloc(&device, kStreams * kEach * sizeof(float)));
  for (int i = 0; i < kStreams * kEach; ++i) host[i] = (float)i;
  int calls = 0;
  CHECK(cudaEventRecord(start));
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    float* const part = device + s * kEach;
    CHECK(cudaMemcpyAsync(part, host + s * kEach, kEach * sizeof(float), cudaMemcpyHostToDevice,
                          streams[s]));
    triple<<<(kEach + 255) / 256, 256, 0, streams[s]>>>(part, kEach);
    CHECK(cudaMemcpyAsync(host + s * kEach, part, kEach * sizeof(float), cudaMemcpyDeviceToHost,
                          streams[s]));
    CHECK(cudaLaunchHostFunc(streams[s], count_call, &calls));
  }
  CHECK(cudaEventRecord(ready, streams[0]));
  CHECK(cudaStreamWaitEvent(streams[1], ready, 0));
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  CHECK(cudaDeviceSynchronize());
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  EXPECT(ms > 0 && calls == kStreams);
  for (int i = 0; i < kStreams * kEach; ++i) EXPECT_NEAR(host[i], 3.0f * (float)i, 0);
  for (cudaStream_t s : streams) {
    CHECK(cudaStreamQuery(s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaStreamDestroy(s));
  }
  EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaSuccess);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int lanes = 0;
  CHECK(cudaDeviceGetAttribute(&lanes, cudaDevAttrWarpSize, 0));
  EXPECT(p.warpSize == 32 && lanes == 32 && p.multiProcessorCount > 0 && p.maxThreadsPerBlock == 1024);
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
  return finish();
}
