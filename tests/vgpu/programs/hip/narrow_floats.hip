// bfloat16 and the two formats of eight bits: conversions both ways, and sums in them.
#include <hip/hip_bfloat16.h>

#include "check.h"

__global__ void brain(const float* in, hip_bfloat16* narrow, float* out, int n) {
  const int i = threadIdx.x;
  narrow[i] = hip_bfloat16(in[i]);
  const hip_bfloat16 a = narrow[i];
  const hip_bfloat16 b(in[(i + 1) % n]);
  out[i] = static_cast<float>(a + b);
  out[n + i] = static_cast<float>(a * b);
  out[2 * n + i] = a < b;
  __bf16 native = static_cast<__bf16>(in[i]);
  out[3 * n + i] = static_cast<float>(native);
}

typedef float float2_t __attribute__((ext_vector_type(2)));

// All 256 values of both formats (those of gfx942: no infinities, one NaN at 0x80).
__global__ void widen(float* fp8, float* bf8, float* pairs) {
  const int code = threadIdx.x;
  fp8[code] = __builtin_amdgcn_cvt_f32_fp8(code, 0);
  bf8[code] = __builtin_amdgcn_cvt_f32_bf8(code << 8, 1);
  const float2_t both = __builtin_amdgcn_cvt_pk_f32_fp8(code << 16 | (code ^ 1) << 24, true);
  pairs[2 * code] = both.x;
  pairs[2 * code + 1] = both.y;
}

__global__ void narrow(const float* in, int* fp8, int* bf8) {
  const int i = threadIdx.x;
  fp8[i] = __builtin_amdgcn_cvt_pk_fp8_f32(in[i], -in[i], 0, false);
  bf8[i] = __builtin_amdgcn_cvt_pk_bf8_f32(in[i], -in[i], 0x1234, true);
}

float brain_rounded(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// The value of a code with so many bits of exponent (bias one larger than IEEE's).
double value_of(int code, int exponent_bits, int mantissa_bits) {
  if (code == 0x80) return NAN;
  const int exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1);
  const double mantissa = code & ((1 << mantissa_bits) - 1);
  const int bias = 1 << (exponent_bits - 1);
  const double scale = 1 << mantissa_bits;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa / scale, 1 - bias)
                                         : std::ldexp(1 + mantissa / scale, exponent - bias);
  return code & 0x80 ? -magnitude : magnitude;
}

/// The nearest code of a positive number; ties to even; too large becomes the largest.
int nearest(double x, int exponent_bits, int mantissa_bits) {
  int best = 0;
  for (int code = 0; code < 0x80; ++code) {
    const double d = std::fabs(value_of(code, exponent_bits, mantissa_bits) - x);
    const double e = std::fabs(value_of(best, exponent_bits, mantissa_bits) - x);
    if (d < e || (d == e && code % 2 == 0)) best = code;
  }
  return best;
}

int main() {
  const int n = 256;
  std::vector<float> values(n);
  Numbers numbers(5);
  for (int i = 0; i < n; ++i) values[i] = std::ldexp(numbers.real() + 1.001f, static_cast<int>(numbers.next() % 19) - 13);
  Array<float> in(values);
  Array<hip_bfloat16> stored(n);
  Array<float> out(4 * n);
  brain<<<1, n>>>(in, stored, out, n);
  out.download();
  for (int i = 0; i < n; ++i) {
    const float a = brain_rounded(values[i]);
    const float b = brain_rounded(values[(i + 1) % n]);
    check_equal("sum", i, out.host[i], brain_rounded(a + b));
    check_equal("product", i, out.host[n + i], brain_rounded(a * b));
    check_equal("less", i, out.host[2 * n + i], a < b);
    check_equal("native", i, out.host[3 * n + i], a);
  }

  Array<float> fp8(256);
  Array<float> bf8(256);
  Array<float> pairs(512);
  widen<<<1, 256>>>(fp8, bf8, pairs);
  fp8.download();
  bf8.download();
  pairs.download();
  for (int code = 0; code < 256; ++code) {
    check_close("fp8", code, fp8.host[code], value_of(code, 4, 3), 0);
    check_close("bf8", code, bf8.host[code], value_of(code, 5, 2), 0);
    check_close("pair", code, pairs.host[2 * code], value_of(code, 4, 3), 0);
    check_close("pair", code, pairs.host[2 * code + 1], value_of(code ^ 1, 4, 3), 0);
  }
  Array<int> a(n);
  Array<int> b(n);
  narrow<<<1, n>>>(in, a, b);
  a.download();
  b.download();
  for (int i = 0; i < n; ++i) {
    const int p = nearest(values[i], 4, 3);
    const int q = nearest(values[i], 5, 2);
    const int minus_p = p == 0 ? 0 : p | 0x80;
    const int minus_q = q == 0 ? 0 : q | 0x80;
    check_equal("to fp8", i, a.host[i], p | minus_p << 8);
    check_equal("to bf8", i, b.host[i], 0x1234 | q << 16 | minus_q << 24);
  }
  return report();
}
