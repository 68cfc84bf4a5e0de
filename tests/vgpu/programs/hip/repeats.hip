// Launches in loops, as benchmarks make them: of the same on the same memory only the first few are
// executed, and every value is as if all had been. Last comes a kernel to trace.
#include "check.h"

__global__ void copy_scaled(const int* in, int* out, int factor) {
  out[threadIdx.x] = in[threadIdx.x] * factor;
}
__global__ void count_up(int* bins) { atomicAdd(&bins[threadIdx.x % 8], 1); }
__device__ int offset;
__global__ void add_offset(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + offset; }
__global__ void print(int i) { printf("said %d\n", i); }

int main() {
  Array<int> x(64), y(64), bins(8);
  for (int i = 0; i < 64; ++i) x.host[i] = i;
  x.upload();
  for (int r = 0; r < 20; ++r) {
    copy_scaled<<<1, 64>>>(x, y, 2);  // the same each time
    if (r == 10) {                    // but for once
      x.host[5] = 100;
      x.upload();
    }
    OK(hipMemset(bins, 0, 8 * sizeof(int)));
    count_up<<<1, 64>>>(bins);  // of the same memory another one
    y.download();
    bins.download();
    check_equal("scaled", r, y.host[5], r > 10 ? 200 : 10);
    check_equal("counted", r, bins.host[3], 8);
  }
  for (int r = 0; r < 20; ++r) count_up<<<1, 64>>>(bins);  // another one each time
  check_equal("counted on", 0, bins.download()[7], 8 * 21);
  for (int r = 0; r < 9; ++r) {  // there and back
    copy_scaled<<<1, 64>>>(r % 2 == 0 ? x : y, r % 2 == 0 ? y : x, r % 2 == 0 ? 3 : 1);
  }
  check_equal("there and back", 0, y.download()[2], 2 * 3 * 3 * 3 * 3 * 3);
  for (int r = 0; r < 12; ++r) {  // a variable that is set from outside
    const int value = r / 4;
    OK(hipMemcpyToSymbol(HIP_SYMBOL(offset), &value, sizeof value));
    add_offset<<<1, 8>>>(bins, y);
    check_equal("offset", r, y.download()[0], 168 + value);
  }
  int* managed;
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), 64 * sizeof(int)));
  for (int r = 0; r < 12; ++r) {  // memory that the host writes by itself
    managed[1] = r / 4;
    copy_scaled<<<1, 64>>>(managed, y, 5);
    check_equal("managed", r, y.download()[1], r / 4 * 5);
  }
  for (int r = 0; r < 5; ++r) print<<<1, 1>>>(7);  // and what is not in memory
  copy_scaled<<<1, 64>>>(x, y, 1);
  return report();
}
