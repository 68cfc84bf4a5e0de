// Every kind of memory: pitched, pinned, registered, managed, asynchronous, from pools; fills, copies
// of boxes, pointer attributes, symbols, errors.
#include "check.h"

__constant__ float weights[16];
__device__ int total;
__managed__ int managed_total = 5;

__global__ void rows(float* data, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x < width && y < height) reinterpret_cast<float*>(reinterpret_cast<char*>(data) + y * pitch)[x] += weights[y % 16] * x;
}
__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
  if (i == 0) total += n, managed_total += n;
}

int main() {
  // Pitched: copied in and out with other pitches.
  const int width = 50;
  const int height = 20;
  float* data;
  size_t pitch;
  OK(hipMallocPitch(reinterpret_cast<void**>(&data), &pitch, width * sizeof(float), height));
  CHECK(pitch >= width * sizeof(float) && pitch % 128 == 0);
  std::vector<float> host(width * height, 1.0f);
  std::vector<float> factors(16);
  for (int i = 0; i < 16; ++i) factors[i] = static_cast<float>(i);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(weights), factors.data(), 16 * sizeof(float)));
  OK(hipMemcpy2D(data, pitch, host.data(), width * 4, width * 4, height, hipMemcpyHostToDevice));
  rows<<<dim3(1, height), 64>>>(data, pitch, width, height);
  OK(hipMemcpy2D(host.data(), width * 4, data, pitch, width * 4, height, hipMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) check_equal("pitched", y * width + x, host[y * width + x], 1.0f + (y % 16) * x);
  OK(hipMemset2D(data, pitch, 0, width * 4, height));
  OK(hipFree(data));

  // A box of three dimensions.
  hipPitchedPtr box;
  OK(hipMalloc3D(&box, make_hipExtent(24 * 4, 10, 5)));
  OK(hipMemset3D(box, 0x11, make_hipExtent(24 * 4, 10, 5)));
  std::vector<int> filled(24 * 10 * 5);
  hipMemcpy3DParms copy = {};
  copy.srcPtr = box;
  copy.dstPtr = make_hipPitchedPtr(filled.data(), 24 * 4, 24, 10);
  copy.extent = make_hipExtent(24 * 4, 10, 5);
  copy.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3D(&copy));
  for (std::size_t i = 0; i < filled.size(); ++i) check_equal("box", i, filled[i], 0x11111111);

  // Pinned, mapped, registered, managed: kernels and host use the same pointers.
  const int n = 300;
  int* pinned;
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), n * sizeof(int), hipHostMallocMapped));
  int* seen;
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&seen), pinned, 0));
  std::vector<int> mine(n, 4);
  OK(hipHostRegister(mine.data(), n * sizeof(int), hipHostRegisterDefault));
  int* managed;
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), n * sizeof(int)));
  for (int i = 0; i < n; ++i) pinned[i] = managed[i] = i;
  twice<<<2, 256>>>(seen, n);
  twice<<<2, 256>>>(mine.data(), n);
  twice<<<2, 256>>>(managed, n);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    check_equal("pinned", i, pinned[i], 2 * i);
    check_equal("registered", i, mine[i], 8);
    check_equal("managed", i, managed[i], 2 * i);
  }
  int sum = 0;
  OK(hipMemcpyFromSymbol(&sum, HIP_SYMBOL(total), sizeof sum));
  CHECK(sum == 3 * n && managed_total == 5 + 3 * n);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.memoryType == hipMemoryTypeHost);
  OK(hipPointerGetAttributes(&attributes, managed));
  CHECK(attributes.isManaged == 1);
  CHECK(hipPointerGetAttributes(&attributes, &sum) == hipErrorInvalidValue);
  OK(hipHostUnregister(mine.data()));
  OK(hipHostFree(pinned));
  OK(hipFree(managed));

  // In the order of a stream, from the default pool and one of our own.
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  hipMemPool_t pool;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long keep = 1 << 20;
  OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
  int* a;
  int* b;
  OK(hipMallocAsync(reinterpret_cast<void**>(&a), n * sizeof(int), stream));
  OK(hipMallocFromPoolAsync(reinterpret_cast<void**>(&b), n * sizeof(int), pool, stream));
  OK(hipMemsetD32Async(a, 21, n, stream));
  twice<<<2, 256, 0, stream>>>(a, n);
  OK(hipMemcpyDtoDAsync(b, a, n * sizeof(int), stream));
  OK(hipMemcpyAsync(mine.data(), b, n * sizeof(int), hipMemcpyDeviceToHost, stream));
  OK(hipFreeAsync(a, stream));
  OK(hipFreeAsync(b, stream));
  OK(hipStreamSynchronize(stream));
  for (int i = 0; i < n; ++i) check_equal("stream", i, mine[i], 42);

  size_t free_bytes;
  size_t total_bytes;
  OK(hipMemGetInfo(&free_bytes, &total_bytes));
  CHECK(free_bytes <= total_bytes && free_bytes > 0);
  void* much = &much;
  CHECK(hipMalloc(&much, size_t{1} << 60) == hipErrorOutOfMemory);
  CHECK(much == nullptr);
  CHECK(hipPeekAtLastError() == hipErrorOutOfMemory);
  CHECK(hipGetLastError() == hipErrorOutOfMemory);
  CHECK(hipGetLastError() == hipSuccess);
  CHECK(std::strcmp(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory") == 0);
  CHECK(hipFree(reinterpret_cast<void*>(0x1234)) == hipErrorInvalidValue);
  CHECK(hipMemcpy(nullptr, mine.data(), 4, hipMemcpyHostToDevice) != hipSuccess);
  return report();
}
