// Streams and events keep the order of the calls; time between two events is never zero.
#include "check.h"

__global__ void add(int* value, int amount) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *value = *value * 2 + amount;
}

static void on_done(hipStream_t, hipError_t status, void* data) {
  CHECK(status == hipSuccess);
  *static_cast<bool*>(data) = true;
}

int main() {
  int* value = nullptr;
  OK(hipMalloc(&value, sizeof(int)));
  hipStream_t first = nullptr;
  hipStream_t second = nullptr;
  OK(hipStreamCreate(&first));
  OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));

  float milliseconds = 0;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipErrorInvalidHandle);
  OK(hipMemsetAsync(value, 0, sizeof(int), first));
  OK(hipEventRecord(start, first));
  add<<<2, 64, 0, first>>>(value, 3);
  OK(hipEventRecord(stop, first));
  OK(hipStreamWaitEvent(second, stop, 0));
  add<<<1, 1, 0, second>>>(value, 1);
  bool done = false;
  OK(hipStreamAddCallback(second, on_done, &done, 0));
  OK(hipStreamSynchronize(second));
  CHECK(done);
  OK(hipEventSynchronize(stop));
  OK(hipEventQuery(stop));
  OK(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0);

  int host = 0;
  OK(hipMemcpyAsync(&host, value, sizeof host, hipMemcpyDeviceToHost, second));
  OK(hipDeviceSynchronize());
  CHECK(host == 7);

  OK(hipEventDestroy(start));
  CHECK(hipEventRecord(start, first) == hipErrorInvalidHandle);
  OK(hipEventDestroy(stop));
  OK(hipStreamDestroy(first));
  CHECK(hipStreamDestroy(first) == hipErrorInvalidHandle);
  OK(hipStreamDestroy(second));
  OK(hipFree(value));
}
