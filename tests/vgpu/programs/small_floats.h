// Sixteen- and eight-bit floating point against a reference that knows nothing of its arithmetic: a
// format is the sorted list of its numbers, and rounding is a search in it. All patterns of a type
// are converted both ways; floats between neighbours, at the middle and beside it are rounded in
// every direction; sums, products and quotients of pairs are rounded once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "demand.h"

/// A format: what its positive patterns mean, ascending from pattern 0.
struct Format {
  std::vector<double> values;
  double beyond;  ///< where the next number would be
  int bits;       ///< of a pattern
  bool has_infinity;
  Format(int exponent_bits, int mantissa_bits, int bias, int finite, bool infinity)
      : bits(exponent_bits + mantissa_bits + 1), has_infinity(infinity) {
    for (int code = 0; code <= finite; ++code) {
      const int e = code >> mantissa_bits, f = code & ((1 << mantissa_bits) - 1);
      const double v = std::ldexp(e == 0 ? f : f + (1 << mantissa_bits),
                                  (e == 0 ? 1 : e) - bias - mantissa_bits);
      if (code == finite) {
        beyond = v;
      } else {
        values.push_back(v);
      }
    }
  }
  /// The pattern of x rounded: 0 nearest, 1 towards zero, 2 down, 3 up. What is beyond the largest
  /// number is the pattern after it, or the largest.
  unsigned round(double x, int direction, bool saturate) const {
    const bool negative = std::signbit(x);
    const double size = std::fabs(x);
    std::size_t high = std::lower_bound(values.begin(), values.end(), size) - values.begin();
    const double upper = high < values.size() ? values[high] : beyond;
    std::size_t code = high;
    const bool exact = high < values.size() && upper == size;
    if (!exact && high > 0 && size != INFINITY) {
      const double lower = values[high - 1], middle = lower + (upper - lower) / 2;
      const bool away = direction == 0   ? size > middle || (size == middle && high % 2 == 0)
                        : direction == 1 ? false
                        : direction == 2 ? negative
                                         : !negative;
      code = away ? high : high - 1;
    }
    if (code >= values.size()) code = saturate ? values.size() - 1 : values.size();
    return (unsigned)code | (negative ? 1u << (bits - 1) : 0u);
  }
};

/// Numbers around all of a format's: themselves, between, at the middle and just beside it.
inline std::vector<float> around(const Format& format) {
  std::vector<float> in;
  for (std::size_t i = 0; i < format.values.size(); ++i) {
    const double low = format.values[i];
    const double high = i + 1 < format.values.size() ? format.values[i + 1] : format.beyond;
    const float middle = (float)(low + (high - low) / 2);
    for (const float x : {(float)low, (float)(low + (high - low) / 4), middle,
                          std::nextafterf(middle, 0.0f), std::nextafterf(middle, INFINITY)}) {
      if (std::fabs(x) == INFINITY) continue;
      in.push_back(x);
      in.push_back(-x);
    }
  }
  in.push_back(INFINITY);
  in.push_back(-INFINITY);
  while (in.size() % 64 != 0) in.push_back(0.0f);
  return in;
}

static int small_wrong = 0;
inline void same_bits(const char* what, double a, double b, unsigned got, unsigned wanted) {
  if (got == wanted || ++small_wrong > 20) return;
  std::printf("FAIL %s of %a and %a: %04x instead of %04x\n", what, a, b, got, wanted);
}

/// out[i] = f(i), on the device.
template <class F, class T>
__global__ void small_each(F f, T* out, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = f(i);
}
template <class T>
struct Shared {
  T* p;
  explicit Shared(std::size_t n) { DEMAND(GPU(MallocManaged)((void**)&p, n * sizeof(T))); }
  explicit Shared(const std::vector<T>& v) : Shared(v.size()) { std::copy(v.begin(), v.end(), p); }
  ~Shared() { (void)GPU(Free)(p); }
};
template <class T, class F>
std::vector<T> on_device(int n, F f) {
  Shared<T> out(n);
  small_each<<<(n + 255) / 256, 256>>>(f, out.p, n);
  DEMAND(GPU(DeviceSynchronize)());
  return std::vector<T>(out.p, out.p + n);
}

template <class T>
__host__ __device__ T of_bits(unsigned bits) {
  const unsigned short half = (unsigned short)bits;
  T value;
  memcpy((void*)&value, &half, sizeof value);
  return value;
}
template <class T>
__host__ __device__ unsigned bits_of(T value) {
  unsigned short half = 0;
  memcpy(&half, (const void*)&value, sizeof value);
  return half;
}

/// f(i, x) rounds x in the format; compared with the reference.
template <class F>
void test_rounding_to(const char* what, const Format& format, int direction, bool saturate, F f) {
  const std::vector<float> in = around(format);
  const Shared<float> shared(in);
  const float* const p = shared.p;
  const auto got =
      on_device<unsigned>((int)in.size(), [=] __device__(int i) -> unsigned { return f(p[i]); });
  for (std::size_t i = 0; i < in.size(); ++i) {
    same_bits(what, in[i], direction, got[i], format.round(in[i], direction, saturate));
  }
}

/// Both ways for all patterns, and + - * / fma of pairs. T is constructible from and converts to
/// float.
template <class T>
void test_arithmetic(const char* name, const Format& format) {
  const int patterns = 65536;
  const auto floats = on_device<float>(
      patterns, [=] __device__(int i) -> float { return (float)of_bits<T>((unsigned)i); });
  for (int i = 0; i < patterns; ++i) {
    const std::size_t code = (std::size_t)i & 0x7fff;
    const double sign = i & 0x8000 ? -1 : 1;
    if (code < format.values.size()) {
      if ((double)floats[i] != sign * format.values[code])
        same_bits(name, i, floats[i], (unsigned)i, ~0u);
    } else if (code == format.values.size() ? floats[i] != sign * INFINITY
                                            : floats[i] == floats[i]) {
      same_bits(name, i, floats[i], (unsigned)i, ~0u);
    }
  }
  struct Results {
    unsigned short sum, difference, product, quotient, fma;
    unsigned short less, equal;
  };
  const int pairs = 40000;
  const auto pair = [](int i, unsigned& a, unsigned& b) {
    unsigned long long s = (unsigned long long)i * 0x9E3779B97F4A7C15ull + 12345;
    s ^= s >> 31;
    a = (unsigned)(s >> 8) & 0xffff;
    b = i % 3 == 0 ? (a & 0x7c00) ^ ((unsigned)(s >> 24) & 0x83ff) : (unsigned)(s >> 24) & 0xffff;
  };
  std::vector<unsigned> operands(2 * pairs);
  for (int i = 0; i < pairs; ++i) pair(i, operands[2 * i], operands[2 * i + 1]);
  const Shared<unsigned> shared(operands);
  const unsigned* const p = shared.p;
  const auto results = on_device<Results>(pairs, [=] __device__(int i) -> Results {
    const T a = of_bits<T>(p[2 * i]), b = of_bits<T>(p[2 * i + 1]);
    return {(unsigned short)bits_of(__hadd(a, b)),
            (unsigned short)bits_of(__hsub(a, b)),
            (unsigned short)bits_of(__hmul(a, b)),
            (unsigned short)bits_of(__hdiv(a, b)),
            (unsigned short)bits_of(__hfma(a, b, a)),
            (unsigned short)__hlt(a, b),
            (unsigned short)__heq(a, b)};
  });
  for (int i = 0; i < pairs; ++i) {
    const std::size_t ca = operands[2 * i] & 0x7fff, cb = operands[2 * i + 1] & 0x7fff;
    if (ca >= format.values.size() || cb >= format.values.size()) continue;
    const double a = floats[operands[2 * i]], b = floats[operands[2 * i + 1]];
    const Results& r = results[i];
    const auto check = [&](const char* what, unsigned short got, double exact) {
      if (exact == exact) same_bits(what, a, b, got, format.round(exact, 0, false));
    };
    check("sum", r.sum, a + b);  // of these widths exact in double, or far from any middle
    check("difference", r.difference, a - b);
    check("product", r.product, a * b);
    check("quotient", r.quotient, a / b);
    check("fma", r.fma, a * b + a);
    same_bits("less", a, b, r.less, a < b);
    same_bits("equal", a, b, r.equal, a == b);
  }
}

/// All codes of an eight-bit type to float, given how many of them are numbers.
template <class Fp8>
void test_fp8(const char* name, const Format& format, bool fnuz) {
  const auto floats = on_device<float>(
      256, [=] __device__(int i) -> float { return (float)of_bits<Fp8>((unsigned)i); });
  for (int i = 0; i < 256; ++i) {
    const std::size_t code = (std::size_t)i & 0x7f;
    const double sign = i & 0x80 ? -1 : 1;
    const bool number = code < format.values.size() && !(fnuz && i == 0x80);
    const bool infinite = format.has_infinity && code == format.values.size();
    const bool right = number     ? floats[i] == (float)(sign * format.values[code])
                       : infinite ? floats[i] == (float)(sign * INFINITY)
                                  : floats[i] != floats[i];
    if (!right) same_bits(name, i, floats[i], (unsigned)i, ~0u);
  }
}
