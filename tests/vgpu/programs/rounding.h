// Directed rounding of + - * / sqrt and fma, single and double, in one text for HIP and CUDA: every
// result is compared, bit by bit, with the host's own under fesetround. Operands are random, close
// to each other, and at the edges: zeros, denormals, the largest numbers.
#pragma once

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "demand.h"

constexpr int kResults = 24;  // six operations in four directions

#define DIRECTIONS(f, ...) \
  {f##_rn(__VA_ARGS__), f##_rz(__VA_ARGS__), f##_rd(__VA_ARGS__), f##_ru(__VA_ARGS__)}
__global__ void rounded(const float* in, float* out, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  const float r[6][4] = {DIRECTIONS(__fadd, a, b), DIRECTIONS(__fsub, a, b),
                         DIRECTIONS(__fmul, a, b), DIRECTIONS(__fdiv, a, b),
                         DIRECTIONS(__fsqrt, a),   DIRECTIONS(__fmaf, a, b, c)};
  for (int k = 0; k < kResults; ++k) out[kResults * i + k] = r[k / 4][k % 4];
}
__global__ void rounded(const double* in, double* out, int n) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const double a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  const double r[6][4] = {DIRECTIONS(__dadd, a, b), DIRECTIONS(__dsub, a, b),
                          DIRECTIONS(__dmul, a, b), DIRECTIONS(__ddiv, a, b),
                          DIRECTIONS(__dsqrt, a),   DIRECTIONS(__fma, a, b, c)};
  for (int k = 0; k < kResults; ++k) out[kResults * i + k] = r[k / 4][k % 4];
}

/// By the host's processor; volatile keeps the compiler from computing in its own rounding.
template <class T>
T on_host(int k, T x, T y, T z) {
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  volatile T a = x, b = y, c = z, r = 0;
  std::fesetround(modes[k % 4]);
  switch (k / 4) {
    case 0:
      r = a + b;
      break;
    case 1:
      r = a - b;
      break;
    case 2:
      r = a * b;
      break;
    case 3:
      r = a / b;
      break;
    case 4:
      r = sizeof(T) == 4 ? (T)sqrtf((float)a) : (T)sqrt((double)a);
      break;
    default:
      r = sizeof(T) == 4 ? (T)fmaf((float)a, (float)b, (float)c)
                         : (T)fma((double)a, (double)b, (double)c);
  }
  std::fesetround(FE_TONEAREST);
  return r;
}

static unsigned long long rounding_state = 88172645463325252ull;
static unsigned long long random_bits() {
  rounding_state ^= rounding_state << 13;
  rounding_state ^= rounding_state >> 7;
  return rounding_state ^= rounding_state << 17;
}
template <class T>
T number_of(unsigned long long bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
template <class T>
std::vector<T> operands(int random) {
  const int digits = sizeof(T) == 4 ? 23 : 52, exponents = sizeof(T) == 4 ? 8 : 11;
  const unsigned long long one = ((1ull << (exponents - 1)) - 1) << digits;
  const unsigned long long infinity = ((1ull << exponents) - 1) << digits;
  const unsigned long long sign = 1ull << (digits + exponents);
  std::vector<T> edges;
  for (unsigned long long magnitude :
       {0ull, 1ull, 3ull, (1ull << digits) - 1, 1ull << digits, one - 1, one, one + 1,
        one + (1ull << (digits - 1)), infinity - 1, infinity - 3, infinity}) {
    edges.push_back(number_of<T>(magnitude));
    edges.push_back(number_of<T>(magnitude | sign));
  }
  std::vector<T> in;
  for (std::size_t a = 0; a < edges.size(); ++a)
    for (std::size_t b = 0; b < edges.size(); ++b)
      in.insert(in.end(), {edges[a], edges[b], edges[(a * 7 + b * 3) % edges.size()]});
  for (int i = 0; i < random; ++i) {
    unsigned long long a = random_bits(), b = random_bits(), c = random_bits();
    if (i % 5 == 1) {  // neighbouring exponents
      b = (b & ~infinity) | (((a & infinity) + (random_bits() % 5 << digits)) & infinity);
    } else if (i % 5 == 2) {  // a product that c all but cancels
      a = (a & ~infinity) | one;
      b = (b & ~infinity) | one;
      const T product = -(number_of<T>(a) * number_of<T>(b));
      c = 0;
      std::memcpy(&c, &product, sizeof product);
      c += random_bits() % 3;
    } else if (i % 5 == 3) {  // tiny quotients and products
      a = (a & ~infinity) | (random_bits() % 60 << digits);
      b = (b & ~infinity) | ((random_bits() % 2 ? one : infinity) - (random_bits() % 60 << digits));
      c = (c & ~infinity) | (random_bits() % 60 << digits);
    } else if (i % 5 == 4) {  // a product beyond the largest number, which c brings back
      a = (a & ~infinity & ~sign) | (infinity - (1ull << digits));
      b = (b & ~infinity & ~sign) | (one + (random_bits() % 2 << digits));
      c = (c & ~infinity) | sign | (infinity - (1ull << digits));
    }
    in.insert(in.end(), {number_of<T>(a), number_of<T>(b), number_of<T>(c)});
  }
  return in;
}

template <class T>
int test_rounding_of(const char* type, int random) {
  const std::vector<T> in = operands<T>(random);
  const int n = (int)in.size() / 3;
  std::vector<T> out(n * kResults);
  T *device_in, *device_out;
  DEMAND(GPU(Malloc)((void**)&device_in, in.size() * sizeof(T)));
  DEMAND(GPU(Malloc)((void**)&device_out, out.size() * sizeof(T)));
  DEMAND(GPU(Memcpy)(device_in, in.data(), in.size() * sizeof(T), GPU(MemcpyHostToDevice)));
  rounded<<<(n + 127) / 128, 128>>>(device_in, device_out, n);
  DEMAND(GPU(Memcpy)(out.data(), device_out, out.size() * sizeof(T), GPU(MemcpyDeviceToHost)));
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < kResults; ++k) {
      const T a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
      const T got = out[kResults * i + k], wanted = on_host<T>(k, a, b, c);
      if (std::memcmp(&got, &wanted, sizeof got) == 0 || (got != got && wanted != wanted)) continue;
      if (++wrong <= 10) {
        std::printf("FAIL %s operation %d direction %d of %a %a %a: %a instead of %a\n", type,
                    k / 4, k % 4, (double)a, (double)b, (double)c, (double)got, (double)wanted);
      }
    }
  }
  return wrong;
}

inline int test_rounding() {
  const int wrong =
      test_rounding_of<float>("float", 4000) + test_rounding_of<double>("double", 4000);
  std::printf(wrong == 0 ? "PASS\n" : "FAIL %d in all\n", wrong);
  return wrong == 0 ? 0 : 1;
}
