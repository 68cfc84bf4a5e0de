// Every kind of copy and fill, linear and in two dimensions, and what is refused.
#include <cstring>
#include <numeric>
#include <vector>

#include "check.h"

__global__ void copy_bytes(char* to, const char* from) { to[threadIdx.x] = from[threadIdx.x]; }

/// What the kernel copies agrees with what the runtime copies.
static void by_kernel() {
  char host[64] = "some bytes";
  char* device = nullptr;
  OK(hipMalloc(&device, 128));
  OK(hipMemcpyHtoD(device, host, 64));
  copy_bytes<<<1, 64>>>(device + 64, device);
  char back[64] = {};
  OK(hipMemcpyDtoH(back, device + 64, 64));
  CHECK(std::memcmp(host, back, 64) == 0);
  OK(hipFree(device));
}

static void linear_copies() {
  constexpr int kCount = 1000;
  std::vector<int> host(kCount);
  std::iota(host.begin(), host.end(), 7);
  int* a = nullptr;
  int* b = nullptr;
  OK(hipMalloc(&a, kCount * sizeof(int)));
  OK(hipMalloc(&b, kCount * sizeof(int)));
  OK(hipMemcpy(a, host.data(), kCount * sizeof(int), hipMemcpyHostToDevice));
  OK(hipMemcpy(b, a, kCount * sizeof(int), hipMemcpyDeviceToDevice));
  std::vector<int> back(kCount);
  OK(hipMemcpy(back.data(), b, kCount * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(back == host);
  OK(hipMemcpyDtoD(b + 10, a, 5 * sizeof(int)));
  OK(hipMemcpyAsync(back.data(), b, kCount * sizeof(int), hipMemcpyDefault, nullptr));
  CHECK(back[10] == 7 && back[14] == 11 && back[15] == 22);
  CHECK(hipMemcpy(a, host.data(), (kCount + 1) * sizeof(int), hipMemcpyHostToDevice) ==
        hipErrorInvalidValue);
  CHECK(hipMemcpy(host.data(), a, 4, static_cast<hipMemcpyKind>(17)) ==
        hipErrorInvalidMemcpyDirection);
  CHECK(hipMemcpy(host.data(), host.data(), 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  OK(hipFree(a));
  OK(hipFree(b));
  CHECK(hipFree(a) == hipErrorInvalidValue);
  OK(hipFree(nullptr));
}

static void fills() {
  unsigned* a = nullptr;
  OK(hipMalloc(&a, 64));
  OK(hipMemset(a, 0xab, 64));
  OK(hipMemsetD32(a, 0x01020304, 3));
  OK(hipMemsetD16(a + 4, 0x0506, 2));
  unsigned back[16];
  OK(hipMemcpy(back, a, 64, hipMemcpyDeviceToHost));
  CHECK(back[2] == 0x01020304 && back[3] == 0xabababab && back[4] == 0x05060506);
  CHECK(hipMemset(a, 0, 65) == hipErrorInvalidValue);
  OK(hipFree(a));
}

static void pitched() {
  constexpr std::size_t kWidth = 100;
  constexpr std::size_t kHeight = 7;
  char* device = nullptr;
  std::size_t pitch = 0;
  OK(hipMallocPitch(reinterpret_cast<void**>(&device), &pitch, kWidth, kHeight));
  CHECK(pitch >= kWidth && pitch % 256 == 0);
  OK(hipMemset2D(device, pitch, 'x', kWidth, kHeight));
  std::vector<char> host(kWidth * kHeight);
  std::iota(host.begin(), host.end(), 0);
  OK(hipMemcpy2D(device, pitch, host.data(), kWidth, kWidth, kHeight - 1, hipMemcpyHostToDevice));
  std::vector<char> back(kWidth * kHeight);
  OK(hipMemcpy2D(back.data(), kWidth, device, pitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  CHECK(std::memcmp(back.data(), host.data(), kWidth * (kHeight - 1)) == 0);
  CHECK(back.back() == 'x');
  CHECK(hipMemcpy2D(device, 50, host.data(), kWidth, kWidth, 2, hipMemcpyHostToDevice) ==
        hipErrorInvalidPitchValue);
  OK(hipFree(device));
}

int main() {
  by_kernel();
  linear_copies();
  fills();
  pitched();
}
