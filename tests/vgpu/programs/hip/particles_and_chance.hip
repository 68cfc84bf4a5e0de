// N bodies, random numbers, options by simulation, a cellular automaton by a persistent kernel.
#include "check.h"

__global__ void forces(const float4* bodies, float4* out, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += 64) {
    tile[threadIdx.x] = base + threadIdx.x < n ? bodies[base + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 64; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = tile[k].w * inverse * inverse * inverse;
      a.x += dx * s, a.y += dy * s, a.z += dz * s;
    }
    __syncthreads();
  }
  if (i < n) out[i] = make_float4(a.x, a.y, a.z, 0);
}

__host__ __device__ inline unsigned next(unsigned& state) {  // xorshift
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}
__global__ void circle(unsigned seed, int rounds, unsigned long long* inside) {
  unsigned state = seed + 7919 * (blockIdx.x * blockDim.x + threadIdx.x);
  unsigned hits = 0;
  for (int k = 0; k < rounds; ++k) {
    const float x = static_cast<float>(next(state) >> 8) * (1.0f / 16777216);
    const float y = static_cast<float>(next(state) >> 8) * (1.0f / 16777216);
    hits += x * x + y * y < 1;
  }
  atomicAdd(inside, static_cast<unsigned long long>(hits));
}

__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float r = 0.02f, v = 0.3f;
  const float root = sqrtf(years[i]);
  const float d1 = (__logf(price[i] / strike[i]) + (r + 0.5f * v * v) * years[i]) / (v * root);
  call[i] = price[i] * normal(d1) - strike[i] * __expf(-r * years[i]) * normal(d1 - v * root);
}

// A few blocks take all tiles from a counter until none is left.
__global__ void life(const unsigned char* in, unsigned char* out, int n, int* counter) {
  __shared__ int tile;
  const int tiles = (n + 15) / 16;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) tile = atomicAdd(counter, 1);
    __syncthreads();
    if (tile >= tiles * tiles) return;
    const int x = tile % tiles * 16 + threadIdx.x;
    const int y = tile / tiles * 16 + threadIdx.y;
    if (x >= n || y >= n) continue;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx != 0 || dy != 0) sum += in[(y + dy + n) % n * n + (x + dx + n) % n];
    out[y * n + x] = sum == 3 || (sum == 2 && in[y * n + x]);
  }
}

int main() {
  const int n = 200;
  Numbers numbers(23);
  std::vector<float4> bodies(n);
  for (float4& b : bodies) b = make_float4(numbers.real(), numbers.real(), numbers.real(), 1 + numbers.real());
  Array<float4> in(bodies);
  Array<float4> out(n);
  forces<<<4, 64>>>(in, out, n);
  out.download();
  for (int i = 0; i < n; ++i) {
    double x = 0;
    for (const float4& b : bodies) {
      const double dx = b.x - bodies[i].x, dy = b.y - bodies[i].y, dz = b.z - bodies[i].z;
      x += dx * b.w / std::pow(dx * dx + dy * dy + dz * dz + 0.01, 1.5);
    }
    check_close("force", i, out.host[i].x, x, 1e-4);
  }

  Array<unsigned long long> inside(1);
  circle<<<8, 128>>>(12345, 100, inside);
  unsigned long long hits = 0;
  for (unsigned t = 0; t < 1024; ++t) {
    unsigned state = 12345 + 7919 * t;
    for (int k = 0; k < 100; ++k) {
      const float x = static_cast<float>(next(state) >> 8) * (1.0f / 16777216);
      const float y = static_cast<float>(next(state) >> 8) * (1.0f / 16777216);
      hits += x * x + y * y < 1;
    }
  }
  CHECK(inside.download()[0] == hits);

  std::vector<float> price(n), strike(n), years(n);
  for (int i = 0; i < n; ++i) price[i] = 20 + numbers.real() * 10, strike[i] = 20 + numbers.real() * 10, years[i] = 1.5f + numbers.real();
  Array<float> p(price), s(strike), t(years), call(n);
  black_scholes<<<2, 128>>>(p, s, t, call, n);
  call.download();
  for (int i = 0; i < n; ++i) {
    const double root = std::sqrt(years[i]);
    const double d1 = (std::log(static_cast<double>(price[i]) / strike[i]) + (0.02 + 0.045) * years[i]) / (0.3 * root);
    const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    check_close("call", i, call.host[i], price[i] * cdf(d1) - strike[i] * std::exp(-0.02 * years[i]) * cdf(d1 - 0.3 * root), 1e-4);
  }

  const int side = 100;
  std::vector<unsigned char> cells(side * side);
  for (auto& c : cells) c = numbers.next() % 3 == 0;
  Array<unsigned char> a(cells);
  Array<unsigned char> b(side * side);
  Array<int> counter(1);
  life<<<5, dim3(16, 16)>>>(a, b, side, counter);
  b.download();
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      int sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
          if (dx != 0 || dy != 0) sum += cells[(y + dy + side) % side * side + (x + dx + side) % side];
      check_equal("life", y * side + x, b.host[y * side + x], sum == 3 || (sum == 2 && cells[y * side + x]));
    }
  return report();
}
