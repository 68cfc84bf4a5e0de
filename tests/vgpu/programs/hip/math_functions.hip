// The mathematical library in single and double precision, against the host's.
#include "check.h"

// clang-format off: it never settles on such a list
#define FUNCTIONS(F)                                                                              \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sqrt) F(cbrt) F(erf) F(erfc)         \
  F(tgamma) F(lgamma) F(floor) F(ceil) F(trunc) F(round) F(rint) F(nearbyint) F(fabs) F(logb)     \
  F(j0) F(j1) F(y0) F(y1)
#define FUNCTIONS2(F) \
  F(pow) F(atan2) F(fmod) F(remainder) F(hypot) F(fmin) F(fmax) F(fdim) F(copysign) F(nextafter)
// clang-format on

enum {
#define NAME(f) k_##f,
  FUNCTIONS(NAME) FUNCTIONS2(NAME)
#undef NAME
      kCount
};

template <class T>
__global__ void all(const T* x, const T* y, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#define CALL(f) out[k_##f * n + i] = f(x[i]);
  FUNCTIONS(CALL)
#undef CALL
#define CALL(f) out[k_##f * n + i] = f(x[i], y[i]);
  FUNCTIONS2(CALL)
#undef CALL
}

template <class T>
void check_all(double tolerance) {
  const int n = 100;
  std::vector<T> xs(n);
  std::vector<T> ys(n);
  Numbers numbers(7);
  for (int i = 0; i < n; ++i) {
    xs[i] = static_cast<T>(i < 50 ? numbers.real() : numbers.real() * 20);
    ys[i] = static_cast<T>(numbers.real() * 5);
  }
  Array<T> x(xs);
  Array<T> y(ys);
  Array<T> out(kCount * n);
  all<T><<<2, 64>>>(x, y, out, n);
  out.download();
  for (int i = 0; i < n; ++i) {
#define COMPARE(f) check_close(#f, i, out.host[k_##f * n + i], f(xs[i]), tolerance);
    FUNCTIONS(COMPARE)
#undef COMPARE
#define COMPARE(f) check_close(#f, i, out.host[k_##f * n + i], f(xs[i], ys[i]), tolerance);
    FUNCTIONS2(COMPARE)
#undef COMPARE
  }
}

// The names of double precision, for single.
__device__ inline float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
__device__ inline float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
__device__ inline void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
__device__ inline float rsqrt(float x) { return rsqrtf(x); }
__device__ inline float rcbrt(float x) { return rcbrtf(x); }
__device__ inline float sinpi(float x) { return sinpif(x); }
__device__ inline float cospi(float x) { return cospif(x); }
__device__ inline float erfinv(float x) { return erfinvf(x); }
__device__ inline float erfcx(float x) { return erfcxf(x); }
__device__ inline float normcdf(float x) { return normcdff(x); }
__device__ inline float normcdfinv(float x) { return normcdfinvf(x); }
__device__ inline float exp10(float x) { return exp10f(x); }

// What the host has no function of the same name for.
enum {
  kRsqrt,
  kRcbrt,
  kSinPi,
  kCosPi,
  kErfInv,
  kErfCX,
  kNormCdf,
  kNormCdfInv,
  kExp10,
  kSinCos,
  kModf,
  kFrexp,
  kLdexp,
  kRemquo,
  kFma,
  kNorm3,
  kI0,
  kPowi,
  kFast,
  kMore
};
template <class T>
__global__ void others(const T* x, T* out, int n) {
  const int i = threadIdx.x;
  const T v = x[i];
  T* row = out + i;
  row[kRsqrt * n] = rsqrt(v);
  row[kRcbrt * n] = rcbrt(v);
  row[kSinPi * n] = sinpi(v);
  row[kCosPi * n] = cospi(v);
  row[kErfInv * n] = erfinv(v / 4);
  row[kErfCX * n] = erfcx(v);
  row[kNormCdf * n] = normcdf(v);
  row[kNormCdfInv * n] = normcdfinv(v / 4);
  row[kExp10 * n] = exp10(v);
  T s, c;
  sincos(v, &s, &c);
  row[kSinCos * n] = s + 2 * c;
  T whole;
  const T part = modf(v * 10, &whole);
  row[kModf * n] = part + whole * 100;
  int e;
  const T mantissa = frexp(v, &e);
  row[kFrexp * n] = mantissa + e;
  row[kLdexp * n] = ldexp(v, 5) + scalbn(v, -2);
  int quotient;
  const T rest = remquo(v * 50, static_cast<T>(3), &quotient);
  row[kRemquo * n] = rest + 10 * (quotient & 7);
  row[kFma * n] = fma(v, v, v);
  row[kNorm3 * n] = norm3d(v, v, v);
  row[kI0 * n] = cyl_bessel_i0(v);
  row[kPowi * n] = pow(v, 3);
  row[kFast * n] = isnan(v) + 2 * isinf(v / 0) + 4 * isfinite(v) + 8 * signbit(-v);
}
template <class T>
void check_others(double tolerance) {
  const int n = 64;
  std::vector<T> xs(n);
  for (int i = 0; i < n; ++i) xs[i] = static_cast<T>(0.05 + i * 0.05);
  Array<T> x(xs);
  Array<T> out(kMore * n);
  others<T><<<1, n>>>(x, out, n);
  out.download();
  const double pi = 3.14159265358979323846;
  for (int i = 0; i < n; ++i) {
    const double v = xs[i];
    const auto got = [&](int row) { return static_cast<double>(out.host[row * n + i]); };
    check_close("rsqrt", i, got(kRsqrt), 1 / std::sqrt(v), tolerance);
    check_close("rcbrt", i, got(kRcbrt), 1 / std::cbrt(v), tolerance);
    check_close("sinpi", i, got(kSinPi), std::sin(pi * v), tolerance);
    check_close("cospi", i, got(kCosPi), std::cos(pi * v), tolerance);
    check_close("erfinv", i, std::erf(got(kErfInv)), v / 4, tolerance);
    check_close("erfcx", i, got(kErfCX), std::exp(v * v) * std::erfc(v), 4 * tolerance);
    check_close("normcdf", i, got(kNormCdf), std::erfc(-v / std::sqrt(2.0)) / 2, tolerance);
    check_close("normcdfinv", i, std::erfc(-got(kNormCdfInv) / std::sqrt(2.0)) / 2, v / 4,
                tolerance);
    check_close("exp10", i, got(kExp10), std::pow(10.0, v), 8 * tolerance);
    check_close("sincos", i, got(kSinCos), std::sin(v) + 2 * std::cos(v), tolerance);
    T whole;
    const T part = std::modf(xs[i] * 10, &whole);
    check_close("modf", i, got(kModf), part + whole * 100, tolerance);
    int e;
    const T mantissa = std::frexp(xs[i], &e);
    check_close("frexp", i, got(kFrexp), mantissa + e, 0);
    check_close("ldexp", i, got(kLdexp), std::ldexp(xs[i], 5) + std::ldexp(xs[i], -2), tolerance);
    int quotient;
    const T rest = std::remquo(xs[i] * 50, static_cast<T>(3), &quotient);
    check_close("remquo", i, got(kRemquo), rest + 10 * (quotient & 7), tolerance);
    check_close("fma", i, got(kFma), v * v + v, tolerance);
    check_close("norm3d", i, got(kNorm3), std::sqrt(3 * v * v), tolerance);
    double bessel = 1;
    double term = 1;
    for (int k = 1; k < 50; ++k) bessel += term *= v * v / 4 / k / k;
    check_close("i0", i, got(kI0), bessel, tolerance);
    check_close("powi", i, got(kPowi), v * v * v, tolerance);
    check_close("classes", i, got(kFast), 2 + 4 + 8, 0);
  }
}

// Intrinsics for speed, and those that round in a direction.
__global__ void fast(const float* x, float* out, double* directed) {
  const int i = threadIdx.x;
  const float v = x[i];
  out[i] = __expf(v);
  out[64 + i] = __logf(v);
  out[128 + i] = __sinf(v);
  out[192 + i] = __cosf(v);
  out[256 + i] = __powf(v, 1.5f);
  out[320 + i] = __fdividef(v, 3.0f);
  out[384 + i] = __frsqrt_rn(v) + __fsqrt_rn(v) + __frcp_rn(v);
  out[448 + i] = __saturatef(v * 2 - 1);
  directed[i] = __dadd_rn(v, 1.0) + __dmul_rn(v, v) + __ddiv_rn(1.0, v) + __dsqrt_rn(v);
}

int main() {
  check_all<float>(2e-6);
  check_all<double>(1e-14);
  check_others<float>(2e-6);
  check_others<double>(1e-13);
  std::vector<float> xs(64);
  for (int i = 0; i < 64; ++i) xs[i] = 0.1f + i * 0.03f;
  Array<float> x(xs);
  Array<float> out(512);
  Array<double> directed(64);
  fast<<<1, 64>>>(x, out, directed);
  out.download();
  directed.download();
  for (int i = 0; i < 64; ++i) {
    const double v = xs[i];
    check_close("expf", i, out.host[i], std::exp(v), 1e-5);
    check_close("logf", i, out.host[64 + i], std::log(v), 1e-5);
    check_close("sinf", i, out.host[128 + i], std::sin(v), 1e-5);
    check_close("cosf", i, out.host[192 + i], std::cos(v), 1e-5);
    check_close("powf", i, out.host[256 + i], std::pow(v, 1.5), 1e-5);
    check_close("divide", i, out.host[320 + i], v / 3, 1e-6);
    check_close("nearest", i, out.host[384 + i], 1 / std::sqrt(v) + std::sqrt(v) + 1 / v, 1e-6);
    check_close("saturate", i, out.host[448 + i], std::fmin(std::fmax(v * 2 - 1, 0.0), 1.0), 1e-6);
    check_close("double", i, directed.host[i], v + 1 + v * v + 1 / v + std::sqrt(v), 1e-13);
  }
  return report();
}
