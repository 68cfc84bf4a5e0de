// printf in kernels: every conversion, in the order of blocks. The test compares what arrives.
#include "check.h"

__global__ void hello(const char* name, float x) {
  const int i = threadIdx.x;
  if (i < 2) printf("block %d thread %d says hello to %s: %5.2f|%-6d|%06x|%c|%%\n", blockIdx.x, i, name, x, i - 5, 255, 'A' + i);
}

__global__ void numbers(long long big, unsigned u, double d, const void* p) {
  if (threadIdx.x != 0) return;
  printf("%lld %llu %u %e %g %p %s\n", big, static_cast<unsigned long long>(big), u, d, d, p, "literal");
  printf("%hhd %hd %lu %*d %.*f|%5s|%-5s|\n", 300, 70000, 123456789012ul, 6, 42, 2, 3.14159, "ab", "cd");
  printf("no arguments\n");
}

int main() {
  std::printf("before\n");
  char* name;
  OK(hipMalloc(&name, 16));
  OK(hipMemcpy(name, "world", 6, hipMemcpyHostToDevice));
  hello<<<3, 64>>>(name, 1.5f);
  numbers<<<1, 64>>>(-5000000000ll, 4000000000u, 0.001, reinterpret_cast<void*>(0x1234));
  OK(hipDeviceSynchronize());
  return report();
}
