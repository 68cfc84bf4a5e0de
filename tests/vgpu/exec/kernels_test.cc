// Kernels of every kind a HIP program has, against the same computation on the CPU, bit for bit.
// Device::launch also checks that address mode records what functional mode does.
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "harness.h"

namespace swizzleperf::vgpu::test {
namespace {

template <class T>
std::vector<T> random_values(std::size_t n, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(n);
  for (T& v : values) {
    if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(engine());
    else
      v = static_cast<T>(std::uniform_real_distribution<double>(-100, 100)(engine));
  }
  return values;
}

TEST(Kernels, VectorAddWithRaggedTail) {
  Device device(R"(
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
})");
  const int n = 1000;
  const auto a = random_values<float>(n, 1);
  const auto b = random_values<float>(n, 2);
  float* c = device.buffer(std::vector<float>(n));
  device.launch("add", {8}, {128}, 0, device.buffer(a), device.buffer(b), c, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
}

TEST(Kernels, LdsReductionWithBarriers) {
  Device device(R"(
__global__ void reduce(const float* x, float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = s[0];
})");
  const auto x = random_values<float>(4 * 256, 3);
  float* y = device.buffer(std::vector<float>(4));
  device.launch("reduce", {4}, {256}, 0, device.buffer(x), y);
  for (int b = 0; b < 4; ++b) {
    std::vector<float> s(x.begin() + b * 256, x.begin() + (b + 1) * 256);
    for (std::size_t o = 128; o > 0; o >>= 1)
      for (std::size_t t = 0; t < o; ++t) s[t] += s[t + o];
    EXPECT_EQ(y[b], s[0]);
  }
}

TEST(Kernels, DynamicLdsReverseInBlocksOfAnySize) {
  Device device(R"(
extern __shared__ int dynamic[];
__global__ void reverse(int* x) {
  __shared__ int fixed[3];
  const int n = blockDim.x;
  if (threadIdx.x < 3) fixed[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = x[blockIdx.x * n + threadIdx.x];
  __syncthreads();
  x[blockIdx.x * n + threadIdx.x] = dynamic[n - 1 - threadIdx.x] + fixed[threadIdx.x % 3];
})");
  for (const std::uint32_t n : {1U, 33U, 64U, 100U, 257U, 1024U}) {
    const auto x = random_values<int>(3 * n, n);
    int* y = device.buffer(x);
    device.launch("reverse", {3}, {n}, n * 4, y);
    for (std::uint32_t b = 0; b < 3; ++b)
      for (std::uint32_t t = 0; t < n; ++t)
        ASSERT_EQ(y[b * n + t], x[b * n + n - 1 - t] + static_cast<int>(t % 3)) << n;
  }
}

TEST(Kernels, GridsAndBlocksOfThreeDimensions) {
  Device device(R"(
__global__ void index(uint* out, uint3 extent) {
  uint x = blockIdx.x * blockDim.x + threadIdx.x;
  uint y = blockIdx.y * blockDim.y + threadIdx.y;
  uint z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= extent.x || y >= extent.y || z >= extent.z) return;
  out[(z * extent.y + y) * extent.x + x] =
      x + 100 * y + 10000 * z + 1000000 * (gridDim.x + gridDim.y + gridDim.z);
})");
  struct Extent {
    std::uint32_t x, y, z;
  };
  const Extent e{13, 11, 5};
  auto* out = device.buffer(std::vector<std::uint32_t>(e.x * e.y * e.z));
  device.launch("index", {3, 4, 3}, {5, 3, 2}, 0, out, e);
  for (std::uint32_t z = 0; z < e.z; ++z)
    for (std::uint32_t y = 0; y < e.y; ++y)
      for (std::uint32_t x = 0; x < e.x; ++x)
        ASSERT_EQ(out[(z * e.y + y) * e.x + x], x + 100 * y + 10000 * z + 10000000);
}

TEST(Kernels, StructArgumentsAndWideVectors) {
  Device device(R"(
struct Inner { double scale; char tag; };
struct Params { const float4* in; float2 bias; Inner inner; int n; float4* out; };
__global__ void wide(Params p, short small, bool flag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.n) return;
  float4 v = p.in[i];
  v.x = v.x * (float)p.inner.scale + p.bias.x;
  v.y += p.bias.y * p.inner.tag;
  v.z = flag ? -v.z : v.z;
  v.w += small;
  p.out[i] = v;
})");
  struct alignas(16) Float4 {
    float x, y, z, w;
  };
  struct Inner {
    double scale;
    char tag;
  };
  struct Params {
    const Float4* in;
    float bx, by;
    Inner inner;
    int n;
    Float4* out;
  };
  const int n = 150;
  const auto values = random_values<float>(4 * n, 5);
  std::vector<Float4> in(n);
  std::memcpy(in.data(), values.data(), sizeof(Float4) * n);
  auto* out = device.buffer(std::vector<Float4>(n));
  const Params p{device.buffer(in), 0.5F, -2.0F, {1.25, 7}, n, out};
  device.launch("wide", {3}, {64}, 0, p, static_cast<short>(-3), true);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(out[i].x, in[i].x * 1.25F + 0.5F);
    EXPECT_EQ(out[i].y, in[i].y + -2.0F * 7);
    EXPECT_EQ(out[i].z, -in[i].z);
    EXPECT_EQ(out[i].w, in[i].w + -3);
  }
}

/// One integer kernel a type: every operator, with shifts and divisions at their corners.
template <class T>
void check_integers(const std::string& type, unsigned seed) {
  Device device("typedef " + type + R"( T;
__global__ void ops(const T* a, const T* b, T* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T x = a[i], y = b[i];
  T* r = o + i * 16;
  r[0] = x + y; r[1] = x - y; r[2] = x * y; r[3] = x & y; r[4] = x | y; r[5] = x ^ y;
  r[6] = y != 0 && !(y == (T)-1) ? x / y : x; r[7] = y != 0 && !(y == (T)-1) ? x % y : y;
  r[8] = x << (y & (sizeof(T) * 8 - 1)); r[9] = x >> (y & (sizeof(T) * 8 - 1));
  r[10] = x < y; r[11] = x <= y; r[12] = x == y; r[13] = x > y ? x : y; r[14] = -x; r[15] = ~x;
})");
  const std::size_t n = 333;
  auto a = random_values<T>(n, seed);
  auto b = random_values<T>(n, seed + 1);
  const T corners[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::min()};
  for (int k = 0; k < 25; ++k) {
    a[k] = corners[k / 5];
    b[k] = corners[k % 5];
  }
  b[30] = a[30];
  T* o = device.buffer(std::vector<T>(n * 16));
  device.launch("ops", {6}, {64}, 0, device.buffer(a), device.buffer(b), o, static_cast<int>(n));
  using U = std::make_unsigned_t<T>;
  for (std::size_t i = 0; i < n; ++i) {
    const T x = a[i];
    const T y = b[i];
    const auto ux = static_cast<std::uint64_t>(static_cast<U>(x));
    const auto uy = static_cast<std::uint64_t>(static_cast<U>(y));
    const int s = static_cast<int>(uy & (sizeof(T) * 8 - 1));
    const bool divides = y != 0 && y != static_cast<T>(-1);
    const T expected[] = {static_cast<T>(ux + uy),
                          static_cast<T>(ux - uy),
                          static_cast<T>(ux * uy),
                          static_cast<T>(x & y),
                          static_cast<T>(x | y),
                          static_cast<T>(x ^ y),
                          divides ? static_cast<T>(x / y) : x,
                          divides ? static_cast<T>(x % y) : y,
                          static_cast<T>(ux << s),
                          static_cast<T>(x >> s),
                          x<y, x <= y, x == y, x> y ? x : y,
                          static_cast<T>(0 - ux),
                          static_cast<T>(~x)};
    for (int k = 0; k < 16; ++k)
      ASSERT_EQ(+o[i * 16 + k], +expected[k]) << type << " op " << k << " of " << +x << ", " << +y;
  }
}

TEST(Kernels, SignedIntegers) {
  check_integers<std::int8_t>("signed char", 1);
  check_integers<std::int16_t>("short", 2);
  check_integers<std::int32_t>("int", 3);
  check_integers<std::int64_t>("long", 4);
}

TEST(Kernels, UnsignedIntegers) {
  check_integers<std::uint8_t>("unsigned char", 5);
  check_integers<std::uint16_t>("unsigned short", 6);
  check_integers<std::uint32_t>("unsigned int", 7);
  check_integers<std::uint64_t>("unsigned long", 8);
}

TEST(Kernels, BitFunctions) {
  Device device(R"(
__global__ void bits(const uint* a, uint* o, const unsigned long* b, unsigned long* p) {
  int i = threadIdx.x;
  uint x = a[i];
  o[i * 8 + 0] = __popc(x); o[i * 8 + 1] = __clz(x); o[i * 8 + 2] = __ffs(x);
  o[i * 8 + 3] = __brev(x); o[i * 8 + 4] = __byte_perm(x, ~x, 0x3715);
  o[i * 8 + 5] = __umulhi(x, 0x9e3779b9u); o[i * 8 + 6] = (uint)__mulhi((int)x, -77);
  o[i * 8 + 7] = __funnelshift_l(x, ~x, 7);
  p[i] = (unsigned long)__popcll(b[i]) + 100 * __clzll(b[i]) + 10000 * (b[i] % 1000003);
})");
  const auto a = random_values<std::uint32_t>(64, 9);
  const auto b = random_values<std::uint64_t>(64, 10);
  auto* o = device.buffer(std::vector<std::uint32_t>(64 * 8));
  auto* p = device.buffer(std::vector<std::uint64_t>(64));
  device.launch("bits", {1}, {64}, 0, device.buffer(a), o, device.buffer(b), p);
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t x = a[i];
    EXPECT_EQ(o[i * 8 + 0], static_cast<std::uint32_t>(__builtin_popcount(x)));
    EXPECT_EQ(o[i * 8 + 1], static_cast<std::uint32_t>(__builtin_clz(x)));
    EXPECT_EQ(o[i * 8 + 2], static_cast<std::uint32_t>(__builtin_ffs(static_cast<int>(x))));
    std::uint32_t reversed = 0;
    for (int k = 0; k < 32; ++k) reversed |= (x >> k & 1) << (31 - k);
    EXPECT_EQ(o[i * 8 + 3], reversed);
    const std::uint64_t both = static_cast<std::uint64_t>(~x) << 32 | x;
    std::uint32_t permuted = 0;
    const int selector[] = {5, 1, 7, 3};
    for (int k = 0; k < 4; ++k)
      permuted |= static_cast<std::uint32_t>(both >> (8 * selector[k]) & 0xff) << (8 * k);
    EXPECT_EQ(o[i * 8 + 4], permuted);
    EXPECT_EQ(o[i * 8 + 5], static_cast<std::uint32_t>((std::uint64_t{x} * 0x9e3779b9U) >> 32));
    EXPECT_EQ(static_cast<int>(o[i * 8 + 6]),
              static_cast<int>((std::int64_t{static_cast<int>(x)} * -77) >> 32));
    EXPECT_EQ(o[i * 8 + 7], ~x << 7 | x >> 25);
    EXPECT_EQ(p[i], static_cast<std::uint64_t>(__builtin_popcountll(b[i])) +
                        100 * static_cast<std::uint64_t>(__builtin_clzll(b[i])) +
                        10000 * (b[i] % 1000003));
  }
}

TEST(Kernels, WideMultiplicationAndText) {
  Device device(R"(
__global__ void wide(const unsigned long* a, unsigned long* o) {
  int i = threadIdx.x;
  o[2 * i] = __umul64hi(a[i], a[i + 1]);
  o[2 * i + 1] = (unsigned long)__mul64hi((long)a[i], (long)a[i + 1]);
  if (i == 3) printf("thread %d\n", i);
})");
  const auto a = random_values<std::uint64_t>(65, 21);
  auto* o = device.buffer(std::vector<std::uint64_t>(128));
  ::testing::internal::CaptureStdout();
  device.launch("wide", {1}, {64}, 0, device.buffer(a), o);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "thread 3\n");
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(o[2 * i], static_cast<std::uint64_t>(UnsignedWide{a[i]} * a[i + 1] >> 64));
    const auto x = static_cast<std::int64_t>(a[i]);
    const auto y = static_cast<std::int64_t>(a[i + 1]);
    EXPECT_EQ(o[2 * i + 1], static_cast<std::uint64_t>(Wide{x} * y >> 64));
  }
}

TEST(Kernels, DoubleAndConversions) {
  Device device(R"(
__global__ void conversions(const double* a, double* d, float* f, int* s, unsigned long* u) {
  int i = threadIdx.x;
  double x = a[i];
  d[i] = sqrt(fabs(x)) / (x + 3.0) - fma(x, x, 1.0) + floor(x) * fmin(x, 2.0);
  f[i] = (float)x + (float)(int)x + (float)(unsigned long)fabs(x * 1e15);
  s[i] = (int)x + (int)(float)(x * 3) + (x > 5 ? 1 : 0);
  u[i] = (unsigned long)fabs(x * 1e12);
})");
  const auto a = random_values<double>(100, 11);
  auto* d = device.buffer(std::vector<double>(100));
  auto* f = device.buffer(std::vector<float>(100));
  auto* s = device.buffer(std::vector<int>(100));
  auto* u = device.buffer(std::vector<std::uint64_t>(100));
  device.launch("conversions", {1}, {100}, 0, device.buffer(a), d, f, s, u);
  for (int i = 0; i < 100; ++i) {
    const double x = a[i];
    EXPECT_EQ(d[i], std::sqrt(std::fabs(x)) / (x + 3.0) - std::fma(x, x, 1.0) +
                        std::floor(x) * std::fmin(x, 2.0));
    EXPECT_EQ(f[i], static_cast<float>(x) + static_cast<float>(static_cast<int>(x)) +
                        static_cast<float>(static_cast<std::uint64_t>(std::fabs(x * 1e15))));
    EXPECT_EQ(s[i],
              static_cast<int>(x) + static_cast<int>(static_cast<float>(x * 3)) + (x > 5 ? 1 : 0));
    EXPECT_EQ(u[i], static_cast<std::uint64_t>(std::fabs(x * 1e12)));
  }
}

TEST(Kernels, HalfPrecisionRoundsOnce) {
  Device device(R"(
__global__ void halves(const _Float16* a, const _Float16* b, const _Float16* c, _Float16* o, __half2* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i * 6 + 0] = a[i] + b[i]; o[i * 6 + 1] = a[i] * b[i]; o[i * 6 + 2] = a[i] / b[i];
  o[i * 6 + 3] = a[i] - b[i]; o[i * 6 + 4] = __builtin_fmaf16(a[i], b[i], c[i]);
  o[i * 6 + 5] = (_Float16)((float)a[i] * 0.3f);
  v[i] = __hfma2(v[i], v[i], __hadd2(v[i], v[i]));
})");
  const std::size_t n = 4096;
  const auto bits = random_values<std::uint16_t>(5 * n, 12);
  std::vector<_Float16> x(5 * n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    // All exponents but infinity and NaN.
    const auto u =
        static_cast<std::uint16_t>((bits[i] & 0x7c00) == 0x7c00 ? bits[i] & 0x83ff : bits[i]);
    std::memcpy(&x[i], &u, 2);
  }
  const auto part = [&](std::size_t k) {
    return std::vector<_Float16>(x.begin() + static_cast<std::ptrdiff_t>(k * n),
                                 x.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
  };
  const std::vector<_Float16> pairs(x.begin() + 3 * n, x.end());
  auto* o = device.buffer(std::vector<_Float16>(6 * n));
  auto* v = device.buffer(pairs);
  device.launch("halves", {n / 256}, {256}, 0, device.buffer(part(0)), device.buffer(part(1)),
                device.buffer(part(2)), o, v);
  // The exact sum of an fma in half precision fits a long double.
  const auto fma_exact = [](_Float16 a, _Float16 b, _Float16 c) {
    return static_cast<_Float16>(static_cast<long double>(a) * static_cast<long double>(b) +
                                 static_cast<long double>(c));
  };
  const auto same = [](_Float16 a, _Float16 b) {
    return std::memcmp(&a, &b, 2) == 0 || (a != a && b != b);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const _Float16 a = x[i];
    const _Float16 b = x[n + i];
    const _Float16 c = x[2 * n + i];
    const auto fa = static_cast<float>(a);
    const auto fb = static_cast<float>(b);
    EXPECT_TRUE(same(o[i * 6 + 0], static_cast<_Float16>(fa + fb)));
    EXPECT_TRUE(same(o[i * 6 + 1], static_cast<_Float16>(fa * fb)));
    EXPECT_TRUE(same(o[i * 6 + 2], static_cast<_Float16>(fa / fb)));
    EXPECT_TRUE(same(o[i * 6 + 3], static_cast<_Float16>(fa - fb)));
    EXPECT_TRUE(same(o[i * 6 + 4], fma_exact(a, b, c))) << fa << " * " << fb << " + " << float(c);
    EXPECT_TRUE(same(o[i * 6 + 5], static_cast<_Float16>(fa * 0.3F)));
    for (std::size_t k = 0; k < 2; ++k) {
      const _Float16 h = pairs[2 * i + k];
      const auto twice = static_cast<_Float16>(static_cast<float>(h) + static_cast<float>(h));
      EXPECT_TRUE(same(v[2 * i + k], fma_exact(h, h, twice)));
    }
  }
}

TEST(Kernels, MathFunctions) {
  Device device(R"(
__global__ void math(const float* a, float* o) {
  int i = threadIdx.x;
  float x = a[i], p = fabsf(x) + 0.5f;
  float* r = o + i * 16;
  r[0] = sinf(x); r[1] = cosf(x); r[2] = expf(x * 0.1f); r[3] = logf(p); r[4] = powf(p, 0.7f);
  r[5] = sqrtf(p); r[6] = tanhf(x); r[7] = erff(x * 0.01f); r[8] = atan2f(x, p); r[9] = fmodf(x, 3.f);
  r[10] = rintf(x); r[11] = truncf(x); r[12] = roundf(x); r[13] = ldexpf(x, 3); r[14] = cbrtf(x);
  float s, c; sincosf(x, &s, &c); r[15] = s + c;
})");
  const auto a = random_values<float>(128, 13);
  float* o = device.buffer(std::vector<float>(128 * 16));
  device.launch("math", {1}, {128}, 0, device.buffer(a), o);
  for (int i = 0; i < 128; ++i) {
    const float x = a[i];
    const float p = std::fabs(x) + 0.5F;
    const float expected[] = {
        std::sin(x),       std::cos(x),       std::exp(x * 0.1F), std::log(p),
        std::pow(p, 0.7F), std::sqrt(p),      std::tanh(x),       std::erf(x * 0.01F),
        std::atan2(x, p),  std::fmod(x, 3.F), std::rint(x),       std::trunc(x),
        std::round(x),     std::ldexp(x, 3),  std::cbrt(x),       std::sin(x) + std::cos(x)};
    for (int k = 0; k < 16; ++k) EXPECT_EQ(o[i * 16 + k], expected[k]) << k << " of " << x;
  }
}

TEST(Kernels, AtomicsOnGlobalMemoryAndLds) {
  Device device(R"(
__global__ void atomics(int* total, unsigned* low, float* sum, unsigned long* big, int* order,
                        unsigned* wrap, double* dsum, int* cas) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  atomicAdd(&local, (int)threadIdx.x);
  atomicMin(low, 1000u - threadIdx.x - blockIdx.x);
  atomicAdd(sum, 1.0f);
  atomicAdd(dsum, 0.5);
  atomicMax(big, (unsigned long)threadIdx.x << 40);
  atomicInc(wrap, 6);
  int old = *cas, seen;
  do { seen = old; old = atomicCAS(cas, seen, seen + 3); } while (old != seen);
  order[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(total, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total + 1, local);
})");
  int* total = device.buffer(std::vector<int>(2));
  auto* low = device.buffer(std::vector<std::uint32_t>{~0U});
  float* sum = device.buffer(std::vector<float>(1));
  auto* big = device.buffer(std::vector<std::uint64_t>(1));
  int* order = device.buffer(std::vector<int>(6 * 100));
  auto* wrap = device.buffer(std::vector<std::uint32_t>(1));
  auto* dsum = device.buffer(std::vector<double>(1));
  int* cas = device.buffer(std::vector<int>(1));
  device.launch("atomics", {6}, {100}, 0, total, low, sum, big, order, wrap, dsum, cas);
  EXPECT_EQ(total[0], 600);
  EXPECT_EQ(total[1], 6 * 99 * 50);
  EXPECT_EQ(*low, 1000U - 99 - 5);
  EXPECT_EQ(*sum, 600.0F);
  EXPECT_EQ(*dsum, 300.0);
  EXPECT_EQ(*big, std::uint64_t{99} << 40);
  EXPECT_EQ(*wrap, 600U % 7);
  EXPECT_EQ(*cas, 1800);
  std::vector<int> seen(order, order + 600);
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i < 600; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(Kernels, ConstantsVariablesAndFunctions) {
  Device device(R"(
__constant__ float table[8] = {1, 2, 3, 5, 8, 13, 21, 34};
__device__ int counter = 40;
__device__ float scale[4];
__device__ __noinline__ float look(int i) { return table[i & 7] * scale[i & 3]; }
template <int N> __device__ float power(float x) { return x * power<N - 1>(x); }
template <> __device__ float power<0>(float) { return 1; }
__global__ void use(float* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = look(i) + power<3>(table[blockIdx.x]);
  if (i == 5) atomicAdd(&counter, 2);
})");
  const float scale[] = {0.5F, 0.25F, 2, 4};
  std::memcpy(device.variable("scale"), scale, sizeof scale);
  float* o = device.buffer(std::vector<float>(128));
  device.launch("use", {2}, {64}, 0, o);
  const float table[] = {1, 2, 3, 5, 8, 13, 21, 34};
  for (int i = 0; i < 128; ++i) {
    const float t = table[i / 64];
    EXPECT_EQ(o[i], table[i & 7] * scale[i & 3] + t * (t * t));
  }
  EXPECT_EQ(*static_cast<int*>(device.variable("counter")), 42);
}

TEST(Kernels, LocalArraysWithRunTimeIndex) {
  Device device(R"(
__global__ void sort(int* x, int stride) {
  int mine[9];
  for (int k = 0; k < 9; ++k) mine[k] = x[(blockIdx.x * blockDim.x + threadIdx.x) * 9 + k];
  for (int a = 1; a < 9; ++a)
    for (int b = a; b > 0 && mine[b - 1] > mine[b]; --b) {
      int t = mine[b]; mine[b] = mine[b - 1]; mine[b - 1] = t;
    }
  for (int k = 0; k < 9; ++k)
    x[(blockIdx.x * blockDim.x + threadIdx.x) * 9 + k] = mine[(k * stride + mine[0] % 9 + 9) % 9];
})");
  const auto x = random_values<int>(200 * 9, 14);
  int* y = device.buffer(x);
  device.launch("sort", {2}, {100}, 0, y, 2);
  for (int i = 0; i < 200; ++i) {
    std::vector<int> mine(x.begin() + i * 9, x.begin() + (i + 1) * 9);
    std::sort(mine.begin(), mine.end());
    for (int k = 0; k < 9; ++k)
      ASSERT_EQ(y[i * 9 + k], mine[static_cast<std::size_t>((k * 2 + mine[0] % 9 + 9) % 9)]);
  }
}

TEST(Kernels, SwitchEarlyReturnAndIndirectAddresses) {
  Device device(R"(
__global__ void route(const int* kind, const int* next, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = next[i];
  switch (kind[v]) {
    case 0: out[i] = v; return;
    case 1: v = next[v]; break;
    case 4: v = next[next[v]]; [[fallthrough]];
    case 7: v += 1; break;
    case 100: for (int k = 0; k < v; ++k) if (next[k] == i) { v = k; break; } break;
    default: v = -v;
  }
  out[i] = v * 2 + kind[i];
})");
  const int n = 300;
  std::vector<int> kind(n);
  std::vector<int> next(n);
  std::mt19937 engine(15);
  const int kinds[] = {0, 1, 4, 7, 100, 5, -3};
  for (int i = 0; i < n; ++i) {
    kind[i] = kinds[engine() % 7];
    next[i] = static_cast<int>(engine() % n);
  }
  int* out = device.buffer(std::vector<int>(n));
  device.launch("route", {3}, {128}, 0, device.buffer(kind), device.buffer(next), out, n);
  for (int i = 0; i < n; ++i) {
    int v = next[i];
    int expected = 0;
    if (kind[v] == 0) {
      expected = v;
    } else {
      switch (kind[v]) {
        case 1:
          v = next[v];
          break;
        case 4:
          v = next[next[v]] + 1;
          break;
        case 7:
          v += 1;
          break;
        case 100:
          for (int k = 0; k < v; ++k)
            if (next[k] == i) {
              v = k;
              break;
            }
          break;
        default:
          v = -v;
      }
      expected = v * 2 + kind[i];
    }
    ASSERT_EQ(out[i], expected) << i;
  }
}

TEST(Kernels, AddressesThroughLdsAndGlobalMemory) {
  // What a block stores decides what it loads later: address mode must keep such stores.
  Device device(R"(
__global__ void chase(int* list, const float* data, float* out) {
  __shared__ int order[128];
  int t = threadIdx.x, base = blockIdx.x * 128;
  order[t] = (list[base + t] * 37 + 11) & 127;
  __syncthreads();
  list[base + order[127 - t]] = t;   // may collide: the highest lane of the last wave wins
  __syncthreads();
  out[base + t] = data[base + list[base + order[t]] % 128];
})");
  std::vector<int> list(512);
  std::iota(list.begin(), list.end(), 0);
  const auto data = random_values<float>(512, 16);
  int* l = device.buffer(list);
  float* out = device.buffer(std::vector<float>(512));
  device.launch("chase", {4}, {128}, 0, l, device.buffer(data), out);
  for (int b = 0; b < 4; ++b) {
    std::vector<int> order(128);
    for (int t = 0; t < 128; ++t) order[t] = (list[b * 128 + t] * 37 + 11) & 127;
    for (int t = 0; t < 128; ++t) list[b * 128 + order[127 - t]] = t;
    for (int t = 0; t < 128; ++t)
      ASSERT_EQ(out[b * 128 + t], data[b * 128 + list[b * 128 + order[t]] % 128]);
  }
}

TEST(Kernels, VoteAndSyncthreadsCounts) {
  Device device(R"(
__global__ void vote(const int* x, int* o) {
  int t = threadIdx.x;
  int c = __syncthreads_count(x[t] > 0), a = __syncthreads_and(x[t] > -100), r = __syncthreads_or(x[t] > 99);
  o[t] = c * 4 + a * 2 + r;
})");
  const auto values = random_values<float>(200, 17);
  std::vector<int> x(values.begin(), values.end());
  int* o = device.buffer(std::vector<int>(200));
  device.launch("vote", {1}, {200}, 0, device.buffer(x), o);
  const auto count =
      static_cast<int>(std::count_if(x.begin(), x.end(), [](int v) { return v > 0; }));
  const bool any = std::any_of(x.begin(), x.end(), [](int v) { return v > 99; });
  for (int t = 0; t < 200; ++t) EXPECT_EQ(o[t], count * 4 + 2 + (any ? 1 : 0));
}

}  // namespace
}  // namespace swizzleperf::vgpu::test
