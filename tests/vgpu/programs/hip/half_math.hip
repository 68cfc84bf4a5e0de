// Half precision: scalars, pairs, conversions, comparisons, functions.
#include <hip/hip_fp16.h>

#include "check.h"

enum { kAdd, kMul, kFma, kDiv, kSqrt, kExp, kSin, kFloor, kCompare, kInt, kRcp, kLog, kCount };

__global__ void scalars(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  const __half a = __float2half(in[i]);
  const __half b = __float2half(in[(i + 1) % n]);
  float* row = out + i;
  row[kAdd * n] = __half2float(__hadd(a, b));
  row[kMul * n] = __half2float(__hmul(a, b));
  row[kFma * n] = __half2float(__hfma(a, b, a));
  row[kDiv * n] = __half2float(__hdiv(a, b));
  row[kSqrt * n] = __half2float(hsqrt(__habs(a)));
  row[kExp * n] = __half2float(hexp(a));
  row[kSin * n] = __half2float(hsin(a));
  row[kFloor * n] = __half2float(hfloor(a));
  row[kCompare * n] = __hlt(a, b) + 2 * __hgt(a, b) + 4 * __heq(a, a) + 8 * __hisnan(a);
  row[kInt * n] = __half2int_rz(a) + __half2float(__int2half_rn(i));
  row[kRcp * n] = __half2float(hrcp(b));
  row[kLog * n] = __half2float(hlog(__habs(a)));
}

__global__ void pairs(const __half2* x, const __half2* y, __half2* out, float* sums) {
  const int i = threadIdx.x;
  out[i] = __hfma2(x[i], y[i], __float2half2_rn(0.5f));
  out[64 + i] = __hadd2(x[i], __hneg2(y[i]));
  out[128 + i] = __halves2half2(__high2half(x[i]), __low2half(x[i]));
  out[192 + i] = h2exp(x[i]);
  const float2 f = __half22float2(__hmul2(x[i], y[i]));
  sums[i] = f.x + f.y;
}

float rounded(float x) { return static_cast<float>(static_cast<_Float16>(x)); }

int main() {
  const int n = 64;
  std::vector<float> values(n);
  Numbers numbers(3);
  for (float& v : values) v = rounded(numbers.real() * 4);
  Array<float> in(values);
  Array<float> out(kCount * n);
  scalars<<<1, n>>>(in, out, n);
  out.download();
  for (int i = 0; i < n; ++i) {
    const float a = values[i];
    const float b = values[(i + 1) % n];
    const auto got = [&](int row) { return out.host[row * n + i]; };
    check_equal("add", i, got(kAdd), rounded(a + b));
    check_equal("mul", i, got(kMul), rounded(a * b));
    check_equal("fma", i, got(kFma), rounded(static_cast<float>(static_cast<double>(a) * b + a)));
    check_close("div", i, got(kDiv), a / b, 2e-3);
    check_close("sqrt", i, got(kSqrt), std::sqrt(std::fabs(a)), 1e-3);
    check_close("exp", i, got(kExp), std::exp(a), 2e-3);
    check_close("sin", i, got(kSin), std::sin(a), 1e-3);
    check_equal("floor", i, got(kFloor), std::floor(a));
    check_equal("compare", i, got(kCompare), (a < b) + 2 * (a > b) + 4);
    check_equal("int", i, got(kInt), std::trunc(a) + i);
    check_close("rcp", i, got(kRcp), 1 / b, 2e-3);
    check_close("log", i, got(kLog), std::log(std::fabs(a)), 2e-3);
  }

  typedef _Float16 pair __attribute__((ext_vector_type(2)));
  std::vector<pair> xs(n);
  std::vector<pair> ys(n);
  for (int i = 0; i < n; ++i) {
    xs[i] = pair{static_cast<_Float16>(numbers.real()), static_cast<_Float16>(numbers.real())};
    ys[i] = pair{static_cast<_Float16>(numbers.real()), static_cast<_Float16>(numbers.real())};
  }
  Array<pair> x(xs);
  Array<pair> y(ys);
  Array<pair> z(4 * n);
  Array<float> sums(n);
  pairs<<<1, n>>>(reinterpret_cast<__half2*>(x.device), reinterpret_cast<__half2*>(y.device),
                  reinterpret_cast<__half2*>(z.device), sums);
  z.download();
  sums.download();
  for (int i = 0; i < n; ++i) {
    const float a = xs[i].x;
    const float b = ys[i].x;
    check_equal("fma2", i, static_cast<float>(z.host[i].x), rounded(a * b + 0.5f));
    check_equal("sub2", i, static_cast<float>(z.host[64 + i].x), rounded(a - b));
    check_equal("swap", i, static_cast<float>(z.host[128 + i].x), static_cast<float>(xs[i].y));
    check_close("exp2", i, static_cast<float>(z.host[192 + i].x), std::exp(a), 2e-3);
    check_equal("mul2", i, sums.host[i],
                rounded(a * b) + rounded(static_cast<float>(xs[i].y) * static_cast<float>(ys[i].y)));
  }
  return report();
}
