// What HIP's half precision gained after 5.2: least and greatest with signed zeros and NaNs, masks
// of comparisons, shuffles.
#include <hip/hip_fp16.h>

#include "check.h"

__global__ void pairs(const unsigned short* in, unsigned* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  __half a, b;
  __builtin_memcpy(&a, in + 2 * i, 2);
  __builtin_memcpy(&b, in + 2 * i + 1, 2);
  const auto bits = [](__half h) {
    unsigned short u;
    __builtin_memcpy(&u, &h, 2);
    return (unsigned)u;
  };
  const __half2 x = __halves2half2(a, b), y = __halves2half2(b, b);
  const unsigned results[] = {bits(__hmax(a, b)),     bits(__hmin(a, b)),
                              bits(__hmax_nan(a, b)), bits(__low2half(__hmin2(x, y))),
                              __heq2_mask(x, y),      __hne2_mask(x, y),
                              __hgt2_mask(x, y),      __hltu2_mask(x, y),
                              __hneu2_mask(x, y)};
  for (int k = 0; k < 9; ++k) out[9 * i + k] = results[k];
}

__global__ void shuffles(float* out) {
  const int lane = threadIdx.x;
  const __half h = __float2half((float)lane);
  out[lane] = __half2float(__shfl_down(h, 1)) + 100 * __half2float(__shfl_xor(h, 2, 16));
  const __half2 pair = __floats2half2_rn((float)lane, 1.0f);
  out[64 + lane] = __low2float(__shfl(pair, 63)) + __high2float(__shfl_up_sync(~0ull, pair, 1));
}

int main() {
  constexpr unsigned short kOne = 0x3c00, kTwo = 0x4000, kNan = 0x7e00, kZero = 0, kMinus = 0x8000;
  const std::vector<unsigned short> in = {kOne, kTwo, kTwo,  kOne,   kOne,   kNan,
                                          kNan, kOne, kZero, kMinus, kMinus, kZero};
  const unsigned wanted[6][9] = {
      // max, min, max_nan, min2; ==, !=, >, unordered <, unordered != of (a, b) and (b, b)
      {kTwo, kOne, kTwo, kOne, 0xffff0000u, 0xffffu, 0, 0xffffu, 0xffffu},
      {kTwo, kOne, kTwo, kOne, 0xffff0000u, 0xffffu, 0xffffu, 0, 0xffffu},
      {kOne, kOne, kNan, kOne, 0, 0, 0, ~0u, ~0u},
      {kOne, kOne, kNan, kOne, 0xffff0000u, 0, 0, 0xffffu, 0xffffu},
      {kZero, kMinus, kZero, kMinus, ~0u, 0, 0, 0, 0},
      {kZero, kMinus, kZero, kMinus, ~0u, 0, 0, 0, 0},
  };
  Array<unsigned short> operands(in);
  Array<unsigned> out(6 * 9);
  pairs<<<1, 64>>>(operands, out, 6);
  out.download();
  for (std::size_t i = 0; i < 54; ++i) check_equal("pair", i, out.host[i], wanted[i / 9][i % 9]);
  Array<float> moved(128);
  shuffles<<<1, 64>>>(moved);
  moved.download();
  for (int lane = 0; lane < 64; ++lane) {
    const int next = lane < 63 ? lane + 1 : lane;
    check_equal("half", lane, moved.host[lane], (float)(next + 100 * (lane ^ 2)));
    check_equal("half2", lane, moved.host[64 + lane], 64.0f);
  }
  return report();
}
