// Matrix instructions on eight-bit floats (gfx942's formats), every pair of the two formats.
#include "check.h"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));

template <int kPair>
__device__ f4 multiply(long a, long b, f4 c) {
  if constexpr (kPair == 0) return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0);
  if constexpr (kPair == 1) return __builtin_amdgcn_mfma_f32_16x16x32_fp8_bf8(a, b, c, 0, 0, 0);
  if constexpr (kPair == 2) return __builtin_amdgcn_mfma_f32_16x16x32_bf8_fp8(a, b, c, 0, 0, 0);
  return __builtin_amdgcn_mfma_f32_16x16x32_bf8_bf8(a, b, c, 0, 0, 0);
}

template <int kPair>
__global__ void small(const unsigned char* a, const unsigned char* b, float* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  long x = 0, y = 0;
  for (int e = 0; e < 8; ++e) {
    x |= static_cast<long>(a[row * 32 + 8 * k + e]) << (8 * e);
    y |= static_cast<long>(b[(8 * k + e) * 16 + row]) << (8 * e);
  }
  const f4 acc = multiply<kPair>(x, y, f4{1, 1, 1, 1});
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}

__global__ void large(const unsigned char* a, const unsigned char* b, float* d) {
  const int lane = threadIdx.x, row = lane % 32, k = lane / 32;
  long x = 0, y = 0;
  for (int e = 0; e < 8; ++e) {
    x |= static_cast<long>(a[row * 16 + 8 * k + e]) << (8 * e);
    y |= static_cast<long>(b[(8 * k + e) * 32 + row]) << (8 * e);
  }
  f16v acc = {};
  acc = __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(x, y, acc, 0, 0, 0);
  for (int e = 0; e < 16; ++e) d[(8 * (e / 4) + 4 * k + e % 4) * 32 + row] = acc[e];
}

static double value_of(int code, bool bf8) {
  const int mantissa_bits = bf8 ? 2 : 3;
  const int bias = bf8 ? 16 : 8;
  const int exponent = (code & 0x7f) >> mantissa_bits;
  const double mantissa = (code & ((1 << mantissa_bits) - 1)) / static_cast<double>(1 << mantissa_bits);
  const double size = exponent == 0 ? std::ldexp(mantissa, 1 - bias) : std::ldexp(1 + mantissa, exponent - bias);
  return code & 0x80 ? -size : size;
}

/// Of moderate size, so that sums in single precision stay close.
static unsigned char moderate(Numbers& numbers, bool bf8) {
  for (;;) {
    const int code = static_cast<int>(numbers.next() & 0xff);
    const double size = code == 0x80 ? 1e9 : std::fabs(value_of(code, bf8));
    if (size < 8 && (size > 0.01 || size == 0)) return static_cast<unsigned char>(code);
  }
}

template <class Kernel>
void check_pair(Kernel kernel, int m, int k, bool a_bf8, bool b_bf8, double start) {
  Numbers numbers(static_cast<unsigned long long>(m + 2 * a_bf8 + b_bf8));
  std::vector<unsigned char> as(m * k);
  std::vector<unsigned char> bs(k * m);
  for (auto& x : as) x = moderate(numbers, a_bf8);
  for (auto& x : bs) x = moderate(numbers, b_bf8);
  Array<unsigned char> a(as);
  Array<unsigned char> b(bs);
  Array<float> d(m * m);
  kernel<<<1, 64>>>(a, b, d);
  d.download();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = start;
      for (int e = 0; e < k; ++e) sum += value_of(as[i * k + e], a_bf8) * value_of(bs[e * m + j], b_bf8);
      check_close("pair", i * m + j, d.host[i * m + j], sum, 1e-5);
    }
}

int main() {
  check_pair(small<0>, 16, 32, false, false, 1);
  check_pair(small<1>, 16, 32, false, true, 1);
  check_pair(small<2>, 16, 32, true, false, 1);
  check_pair(small<3>, 16, 32, true, true, 1);
  check_pair(large, 32, 16, false, true, 0);
  return report();
}
