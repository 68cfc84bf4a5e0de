// A program for the stand-in of the CUDA driver. Its first argument says how it launches.
#include <cstdio>
#include <string>

#include "fake.h"

namespace {

constexpr int kElements = 256;

/// y = 2 x + 1, and z counts.
void work(void** parameters) {
  auto* const y = *static_cast<float**>(parameters[0]);
  const auto* const x = *static_cast<float**>(parameters[1]);
  auto* const z = *static_cast<float**>(parameters[2]);
  for (int i = 0; i < kElements; ++i) y[i] = 2 * x[i] + 1;
  z[0] += 1;
}

}  // namespace

int main(int, char** argv) {
  const std::string mode = argv[1];
  cuInit(0);
  CUfunc_st kernel{"_Z4workPfPKfS_", work, {8, 8, 8}};
  if (mode == "faults") kernel.result = CUDA_ERROR_ILLEGAL_ADDRESS;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  CUdeviceptr freed = 0;
  CUdeviceptr pitched = 0;
  CUdeviceptr managed = 0;
  CUdeviceptr x = 0;
  CUdeviceptr y = 0;
  std::size_t pitch = 0;
  cuMemAlloc(&freed, 77);
  cuMemAllocPitch(&pitched, &pitch, 100, 3, 4);
  cuMemAllocManaged(&managed, 16, CU_MEM_ATTACH_GLOBAL);
  cuMemAllocAsync(&x, kBytes, nullptr);
  cuMemAllocFromPoolAsync(&y, kBytes, nullptr, nullptr);
  cuMemFreeAsync(freed, nullptr);
  cuMemAlloc(&freed, 78);
  cuMemFree(freed);
  CUdeviceptr z = fake_cuda_untold(64);
  for (int i = 0; i < kElements; ++i) reinterpret_cast<float*>(x)[i] = static_cast<float>(i);
  void* parameters[] = {&y, &x, &z};
  if (mode == "captured") cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL);
  if (mode == "cooperative") {
    cuLaunchCooperativeKernel(&kernel, 4, 1, 1, 64, 1, 1, 32, nullptr, parameters);
  } else if (mode == "extended") {
    const CUlaunchConfig config{4, 1, 1, 64, 1, 1, 32, nullptr, nullptr, 0};
    cuLaunchKernelEx(&config, &kernel, parameters, nullptr);
  } else {
    cuLaunchKernel(&kernel, 4, 1, 1, 64, 1, 1, 32, nullptr, parameters, nullptr);
  }
  std::printf("%.1f %.1f\n", static_cast<double>(reinterpret_cast<float*>(y)[kElements - 1]),
              static_cast<double>(reinterpret_cast<float*>(z)[0]));
}
