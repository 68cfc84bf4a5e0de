#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.h"

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  float* data = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&data), n * sizeof(float)) != hipSuccess) return 2;
  run_first(data, n);
  run_second(data, n);
  std::vector<float> back(n);
  if (hipMemcpy(back.data(), data, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess)
    return 3;
  for (int i = 0; i < n; ++i) {
    const float wanted = 2.0f * (float)i + 10.0f * (float)(i % 4 + 1) + 5.0f + 1000.0f + 14.0f;
    if (back[i] != wanted) {
      std::printf("FAIL %d: %g instead of %g\n", i, back[i], wanted);
      return 1;
    }
  }
  std::puts("PASS");
  return 0;
}
