// Random numbers in kernels. Philox is Philox (the same numbers as cuRAND's); the others keep their
// names and their quality, but start each subsequence from a hash of its number, where cuRAND jumps
// 2^67 steps ahead: programs that average over numbers see no difference, those that print them do.
#pragma once

#include "cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)

struct curandStateXORWOW {
  unsigned d, v[5];
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
struct curandStateMRG32k3a : curandStateXORWOW {};
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

struct curandStatePhilox4_32_10 {
  uint4 counter, output;
  uint2 key;
  unsigned used;
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

SWIZZLEPERF_DEVICE unsigned long long __swizzleperf_mix(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// ---- Marsaglia's xorwow
// ----------------------------------------------------------------------------

SWIZZLEPERF_DEVICE unsigned curand(curandStateXORWOW* s) {
  const unsigned t = s->v[0] ^ s->v[0] >> 2;
  for (int i = 0; i < 4; ++i) s->v[i] = s->v[i + 1];
  s->v[4] = (s->v[4] ^ s->v[4] << 4) ^ (t ^ t << 1);
  s->d += 362437;
  return s->v[4] + s->d;
}
SWIZZLEPERF_DEVICE void skipahead(unsigned long long n, curandStateXORWOW* s) {
  for (; n != 0; --n) curand(s);
}
SWIZZLEPERF_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                    unsigned long long offset, curandStateXORWOW* s) {
  unsigned long long x = __swizzleperf_mix(seed ^ __swizzleperf_mix(subsequence));
  for (unsigned& v : s->v) v = (unsigned)((x = __swizzleperf_mix(x)) >> 32) | 1;
  s->d = (unsigned)__swizzleperf_mix(x);
  s->has_spare = s->has_spare_double = false;
  skipahead(offset, s);
}

// ---- Philox 4 x 32, ten rounds
// ---------------------------------------------------------------------

SWIZZLEPERF_DEVICE uint4 __swizzleperf_philox(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.x;
    const unsigned long long b = 0xCD9E8D57ull * c.z;
    c = make_uint4((unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k.y,
                   (unsigned)a);
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}
/// Adds to the 128-bit counter.
SWIZZLEPERF_DEVICE void __swizzleperf_advance(uint4& c, unsigned long long n, bool upper) {
  const unsigned long long low = (unsigned long long)c.y << 32 | c.x;
  unsigned long long high = (unsigned long long)c.w << 32 | c.z;
  const unsigned long long sum = upper ? low : low + n;
  high += upper ? n : sum < low;
  c = make_uint4((unsigned)sum, (unsigned)(sum >> 32), (unsigned)high, (unsigned)(high >> 32));
}
SWIZZLEPERF_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10* s) {
  n += s->used;
  __swizzleperf_advance(s->counter, n / 4, false);
  s->used = (unsigned)(n % 4);
  s->output = __swizzleperf_philox(s->counter, s->key);
}
SWIZZLEPERF_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                    unsigned long long offset, curandStatePhilox4_32_10* s) {
  s->counter = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  s->used = 0;
  s->has_spare = s->has_spare_double = false;
  __swizzleperf_advance(s->counter, subsequence, true);
  skipahead(offset, s);
}
SWIZZLEPERF_DEVICE unsigned curand(curandStatePhilox4_32_10* s) {
  const unsigned r = s->used == 0   ? s->output.x
                     : s->used == 1 ? s->output.y
                     : s->used == 2 ? s->output.z
                                    : s->output.w;
  if (++s->used == 4) {
    s->used = 0;
    __swizzleperf_advance(s->counter, 1, false);
    s->output = __swizzleperf_philox(s->counter, s->key);
  }
  return r;
}
SWIZZLEPERF_DEVICE uint4 curand4(curandStatePhilox4_32_10* s) {
  const unsigned x = curand(s), y = curand(s), z = curand(s), w = curand(s);
  return make_uint4(x, y, z, w);
}

// ---- Distributions
// -----------------------------------------------------------------------------------

SWIZZLEPERF_DEVICE float __swizzleperf_unit(unsigned x) { return x * 0x1p-32f + 0x1p-33f; }

template <class State>
SWIZZLEPERF_DEVICE float curand_uniform(State* s) {
  return __swizzleperf_unit(curand(s));
}
template <class State>
SWIZZLEPERF_DEVICE double curand_uniform_double(State* s) {
  const unsigned long long low = curand(s);
  const unsigned long long bits = low ^ (unsigned long long)curand(s) << 21;
  return bits * 0x1p-53 + 0x1p-54;
}
template <class State>
SWIZZLEPERF_DEVICE float2 curand_normal2(State* s) {
  const float radius = sqrtf(-2.0f * logf(curand_uniform(s)));
  const float angle = 6.2831853071795865f * curand_uniform(s);
  return make_float2(radius * sinf(angle), radius * cosf(angle));
}
template <class State>
SWIZZLEPERF_DEVICE double2 curand_normal2_double(State* s) {
  const double radius = sqrt(-2.0 * log(curand_uniform_double(s)));
  const double angle = 6.2831853071795865 * curand_uniform_double(s);
  return make_double2(radius * sin(angle), radius * cos(angle));
}
template <class State>
SWIZZLEPERF_DEVICE float curand_normal(State* s) {
  if (s->has_spare) {
    s->has_spare = false;
    return s->spare;
  }
  const float2 pair = curand_normal2(s);
  s->spare = pair.y;
  s->has_spare = true;
  return pair.x;
}
template <class State>
SWIZZLEPERF_DEVICE double curand_normal_double(State* s) {
  if (s->has_spare_double) {
    s->has_spare_double = false;
    return s->spare_double;
  }
  const double2 pair = curand_normal2_double(s);
  s->spare_double = pair.y;
  s->has_spare_double = true;
  return pair.x;
}
template <class State>
SWIZZLEPERF_DEVICE float curand_log_normal(State* s, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(s));
}
template <class State>
SWIZZLEPERF_DEVICE double curand_log_normal_double(State* s, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(s));
}
SWIZZLEPERF_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10* s) {
  const uint4 r = curand4(s);
  return make_float4(__swizzleperf_unit(r.x), __swizzleperf_unit(r.y), __swizzleperf_unit(r.z),
                     __swizzleperf_unit(r.w));
}
SWIZZLEPERF_DEVICE float4 curand_normal4(curandStatePhilox4_32_10* s) {
  const float2 a = curand_normal2(s);
  const float2 b = curand_normal2(s);
  return make_float4(a.x, a.y, b.x, b.y);
}
/// Knuth's method in steps that do not underflow.
template <class State>
SWIZZLEPERF_DEVICE unsigned curand_poisson(State* s, double lambda) {
  unsigned count = 0;
  for (double left = lambda, product = 1;; ++count) {
    product *= curand_uniform_double(s);
    while (product < 1 && left > 0) {
      const double step = left < 500 ? left : 500;
      product *= exp(step);
      left -= step;
    }
    if (product <= 1) return count;
  }
}

#endif
