// gfx950: scaled matrix instructions on eight-bit (OCP) and four-bit floats, with one scale for all of
// A and one for all of B.
#include "check.h"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));

template <int kFormat>  // 0 = fp8, 4 = fp4
__global__ void product(const int* a, const int* b, float* d, int scale_a, int scale_b) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  i8v x = {}, y = {};
  for (int e = 0; e < (kFormat == 0 ? 8 : 4); ++e) x[e] = a[lane * 8 + e], y[e] = b[lane * 8 + e];
  f4 acc = {1, 1, 1, 1};
  acc = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, acc, kFormat, kFormat, 0, scale_a, 0, scale_b);
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}

static double fp8(int code) {
  const int exponent = code >> 3 & 15;
  const double m = (code & 7) / 8.0;
  const double size = exponent == 0 ? std::ldexp(m, -6) : std::ldexp(1 + m, exponent - 7);
  return code & 0x80 ? -size : size;
}
static double fp4(int code) {
  const double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -sizes[code & 7] : sizes[code & 7];
}

template <int kFormat>
void check_format() {
  const int bits = kFormat == 0 ? 8 : 4;
  Numbers numbers(31);
  std::vector<int> as(512), bs(512);
  for (auto* words : {&as, &bs})
    for (int& w : *words)
      for (int at = 0; at < 32; at += bits) {
        const int code = kFormat == 0 ? static_cast<int>(numbers.next() % 0x48) | static_cast<int>(numbers.next() % 2) << 7
                                      : static_cast<int>(numbers.next() % 16);
        w = at == 0 ? code : static_cast<int>(static_cast<unsigned>(w) | static_cast<unsigned>(code) << at);
      }
  Array<int> a(as);
  Array<int> b(bs);
  Array<float> d(256);
  product<kFormat><<<1, 64>>>(a, b, d, 128, 126);  // 2 and 1/2
  product<kFormat><<<1, 64>>>(a, b, d, 129, 127);  // 4 and 1
  d.download();
  const auto element = [&](const std::vector<int>& words, int row, int k) {
    const int word = (k / 32 * 16 + row) * 8 + k % 32 * bits / 32;
    const int code = static_cast<int>(static_cast<unsigned>(words[word]) >> (k % 32 * bits % 32)) & ((1 << bits) - 1);
    return kFormat == 0 ? fp8(code) : fp4(code);
  };
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int k = 0; k < 128; ++k) sum += element(as, i, k) * element(bs, j, k);
      check_close("scaled", i * 16 + j, d.host[i * 16 + j], 1 + 4 * sum, 1e-4);
    }
}

int main() {
  check_format<0>();
  check_format<4>();
  return report();
}
