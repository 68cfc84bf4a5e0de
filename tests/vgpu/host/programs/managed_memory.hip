// Memory that both sides use by the same pointer: managed, pinned, registered.
#include <vector>

#include "check.h"

__global__ void twice(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= 2;
}

static void on_both_sides(int* data, int count) {
  for (int i = 0; i < count; ++i) data[i] = i;
  twice<<<(count + 127) / 128, 128>>>(data, count);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < count; ++i) CHECK(data[i] == 2 * i);
}

int main() {
  constexpr int kCount = 1000;
  int* managed = nullptr;
  OK(hipMallocManaged(&managed, kCount * sizeof(int)));
  OK(hipMemPrefetchAsync(managed, kCount * sizeof(int), 0, nullptr));
  on_both_sides(managed, kCount);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, managed + 3));
  CHECK(attributes.isManaged == 1);
  OK(hipFree(managed));

  int* pinned = nullptr;
  OK(hipHostMalloc(&pinned, kCount * sizeof(int), hipHostMallocDefault));
  int* on_device = nullptr;
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&on_device), pinned, 0));
  on_both_sides(on_device, kCount);
  OK(hipPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.memoryType == hipMemoryTypeHost);
  CHECK(hipFree(pinned) == hipErrorInvalidValue);
  OK(hipHostFree(pinned));

  std::vector<int> own(kCount);
  OK(hipHostRegister(own.data(), kCount * sizeof(int), hipHostRegisterDefault));
  CHECK(hipHostRegister(own.data() + 1, 4, 0) == hipErrorHostMemoryAlreadyRegistered);
  on_both_sides(own.data(), kCount);
  OK(hipHostUnregister(own.data()));
  CHECK(hipHostUnregister(own.data()) == hipErrorHostMemoryNotRegistered);
  CHECK(hipPointerGetAttributes(&attributes, own.data()) == hipErrorInvalidValue);
}
