// Matrix instructions of gfx942 in f32, f16, bf16, i8, xf32 and f64: D = A B + C against a product in
// double precision. Where an element lies in which lane is AMD's documented layout.
#include "check.h"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));

__global__ void f32_16x16x4(const float* a, const float* b, const float* c, float* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  f4 acc;
  for (int e = 0; e < 4; ++e) acc[e] = c[(4 * k + e) * 16 + row];
  acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a[row * 4 + k], b[k * 16 + row], acc, 0, 0, 0);
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}
__global__ void f16_32x32x8(const _Float16* a, const _Float16* b, const float* c, float* d) {
  const int lane = threadIdx.x, row = lane % 32, k = lane / 32;
  h4 x, y;
  for (int e = 0; e < 4; ++e) x[e] = a[row * 8 + 4 * k + e], y[e] = b[(4 * k + e) * 32 + row];
  f16v acc;
  for (int e = 0; e < 16; ++e) acc[e] = c[(8 * (e / 4) + 4 * k + e % 4) * 32 + row];
  acc = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, acc, 0, 0, 0);
  for (int e = 0; e < 16; ++e) d[(8 * (e / 4) + 4 * k + e % 4) * 32 + row] = acc[e];
}
__global__ void bf16_16x16x16(const short* a, const short* b, const float* c, float* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  s4 x, y;
  for (int e = 0; e < 4; ++e) x[e] = a[row * 16 + 4 * k + e], y[e] = b[(4 * k + e) * 16 + row];
  f4 acc;
  for (int e = 0; e < 4; ++e) acc[e] = c[(4 * k + e) * 16 + row];
  acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(x, y, acc, 0, 0, 0);
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}
__global__ void i8_16x16x32(const signed char* a, const signed char* b, const int* c, int* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  long x = 0, y = 0;
  for (int e = 0; e < 8; ++e) {
    x |= static_cast<long>(static_cast<unsigned char>(a[row * 32 + 8 * k + e])) << (8 * e);
    y |= static_cast<long>(static_cast<unsigned char>(b[(8 * k + e) * 16 + row])) << (8 * e);
  }
  i4 acc;
  for (int e = 0; e < 4; ++e) acc[e] = c[(4 * k + e) * 16 + row];
  acc = __builtin_amdgcn_mfma_i32_16x16x32_i8(x, y, acc, 0, 0, 0);
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}
__global__ void xf32_16x16x8(const float* a, const float* b, const float* c, float* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  f2 x, y;
  for (int e = 0; e < 2; ++e) x[e] = a[row * 8 + 2 * k + e], y[e] = b[(2 * k + e) * 16 + row];
  f4 acc;
  for (int e = 0; e < 4; ++e) acc[e] = c[(4 * k + e) * 16 + row];
  acc = __builtin_amdgcn_mfma_f32_16x16x8_xf32(x, y, acc, 0, 0, 0);
  for (int e = 0; e < 4; ++e) d[(4 * k + e) * 16 + row] = acc[e];
}
__global__ void f64_16x16x4(const double* a, const double* b, const double* c, double* d) {
  const int lane = threadIdx.x, row = lane % 16, k = lane / 16;
  d4 acc;
  for (int e = 0; e < 4; ++e) acc[e] = c[(4 * e + k) * 16 + row];
  acc = __builtin_amdgcn_mfma_f64_16x16x4f64(a[row * 4 + k], b[k * 16 + row], acc, 0, 0, 0);
  for (int e = 0; e < 4; ++e) d[(4 * e + k) * 16 + row] = acc[e];
}

static double value(float x) { return x; }
static double value(double x) { return x; }
static double value(_Float16 x) { return static_cast<double>(x); }
static double value(signed char x) { return x; }
static double value(short bits) {
  const unsigned wide = static_cast<unsigned>(static_cast<unsigned short>(bits)) << 16;
  float x;
  std::memcpy(&x, &wide, 4);
  return x;
}

template <class In, class Out, class Kernel, class Make>
void check_matrix(const char* name, Kernel kernel, int m, int k, Make make, double tolerance) {
  Numbers numbers(static_cast<unsigned long long>(m * 100 + k));
  std::vector<In> as(m * k);
  std::vector<In> bs(k * m);
  std::vector<Out> cs(m * m);
  for (In& x : as) x = make(numbers);
  for (In& x : bs) x = make(numbers);
  for (Out& x : cs) x = static_cast<Out>(static_cast<int>(numbers.next() % 9) - 4);
  Array<In> a(as);
  Array<In> b(bs);
  Array<Out> c(cs);
  Array<Out> d(m * m);
  kernel<<<1, 64>>>(a.device, b.device, c.device, d.device);
  d.download();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = cs[i * m + j];
      for (int e = 0; e < k; ++e) sum += value(as[i * k + e]) * value(bs[e * m + j]);
      check_close(name, i * m + j, d.host[i * m + j], sum, tolerance);
    }
}

int main() {
  const auto real = [](Numbers& n) { return n.real(); };
  check_matrix<float, float>("f32", f32_16x16x4, 16, 4, real, 1e-6);
  check_matrix<_Float16, float>("f16", f16_32x32x8, 32, 8, [](Numbers& n) { return static_cast<_Float16>(n.real()); }, 1e-6);
  check_matrix<short, float>("bf16", bf16_16x16x16, 16, 16, [](Numbers& n) {
    const float x = n.real();
    unsigned bits;
    std::memcpy(&bits, &x, 4);
    return static_cast<short>(bits >> 16);
  }, 1e-6);
  check_matrix<signed char, int>("i8", i8_16x16x32, 16, 32, [](Numbers& n) { return static_cast<signed char>(n.next()); }, 0);
  check_matrix<float, float>("xf32", xf32_16x16x8, 16, 8, [](Numbers& n) { return static_cast<float>(static_cast<int>(n.next() % 2047) - 1023) / 64; }, 1e-6);
  check_matrix<double, double>("f64", f64_16x16x4, 16, 4, [](Numbers& n) { return static_cast<double>(n.real()); }, 1e-14);
  return report();
}
