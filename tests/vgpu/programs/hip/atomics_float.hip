// Floating-point atomics: add, minimum, maximum, exchange; double, packed halves and bfloat16.
#include <hip/hip_fp16.h>

#include "check.h"

typedef _Float16 half2_t __attribute__((ext_vector_type(2)));
typedef short short2_t __attribute__((ext_vector_type(2)));
typedef __attribute__((address_space(3))) float lds_float;

__global__ void adds(float* f, double* d) {
  __shared__ float s;
  __shared__ double t;
  if (threadIdx.x == 0) s = 0, t = 0;
  __syncthreads();
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
  atomicAdd(&s, 2.0f);
  atomicAdd(&t, 4.0);
  unsafeAtomicAdd(&f[1], 1.5f);
  unsafeAtomicAdd(&d[1], 1.25);
  safeAtomicAdd(&f[2], 3.0f);
  __syncthreads();
  if (threadIdx.x == 0) f[3] = s, d[2] = t;
  atomicExch(&f[4], 9.0f);
}

// Minimum and maximum by the order of bits, and by compare and swap, as programs write them.
__device__ float atomic_max_bits(float* address, float value) {
  return value >= 0 ? __int_as_float(atomicMax((int*)address, __float_as_int(value)))
                    : __uint_as_float(atomicMin((unsigned*)address, __float_as_uint(value)));
}
__device__ double atomic_min_cas(double* address, double value) {
  unsigned long long* bits = (unsigned long long*)address;
  unsigned long long old = *bits;
  unsigned long long assumed;
  do {
    assumed = old;
    if (__longlong_as_double(assumed) <= value) break;
    old = atomicCAS(bits, assumed, (unsigned long long)__double_as_longlong(value));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void extremes(float* f, double* d) {
  const int i = threadIdx.x;
  atomic_max_bits(&f[0], i * 0.5f - 10);
  atomic_min_cas(&d[0], 20.0 - i);
  __hip_atomic_fetch_max(&d[1], static_cast<double>(i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_min(&d[2], static_cast<double>(-i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(&f[1], static_cast<float>(i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_min(&f[2], static_cast<float>(-i), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__global__ void packed(half2_t* h, short2_t* b, float* f) {
  using global_half2 = __attribute__((address_space(1))) half2_t;
  using global_short2 = __attribute__((address_space(1))) short2_t;
  __builtin_amdgcn_global_atomic_fadd_v2f16((global_half2*)h, half2_t{1.0f16, 0.5f16});
  __builtin_amdgcn_global_atomic_fadd_v2bf16((global_short2*)b, short2_t{0x3f80, 0x4000});  // 1, 2
  __builtin_amdgcn_global_atomic_fadd_f32((__attribute__((address_space(1))) float*)f, 0.125f);
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  __builtin_amdgcn_ds_faddf((lds_float*)&s, 1.0f, 0, 0, false);
  __syncthreads();
  if (threadIdx.x == 0) f[1] = s;
}

__global__ void dot(const float* a, const float* b, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  if (threadIdx.x % 64 == 0) atomicAdd(out, sum);
}

int main() {
  Array<float> f(5);
  Array<double> d(3);
  adds<<<4, 64>>>(f, d);
  f.download();
  d.download();
  CHECK(f.host[0] == 128 && f.host[1] == 384 && f.host[2] == 768 && f.host[3] == 128 && f.host[4] == 9);
  CHECK(d.host[0] == 64 && d.host[1] == 320 && d.host[2] == 256);

  Array<float> fx(std::vector<float>{-1e30f, -1e30f, 1e30f});
  Array<double> dx(std::vector<double>{1e30, -1e30, 1e30});
  extremes<<<1, 64>>>(fx, dx);
  fx.download();
  dx.download();
  CHECK(fx.host[0] == 21.5f && fx.host[1] == 63 && fx.host[2] == -63);
  CHECK(dx.host[0] == -43 && dx.host[1] == 63 && dx.host[2] == -63);

  Array<half2_t> h(1);
  Array<short2_t> b(1);
  Array<float> p(2);
  packed<<<1, 64>>>(h, b, p);
  h.download();
  b.download();
  p.download();
  CHECK(h.host[0].x == 64 && h.host[0].y == 32);
  CHECK(b.host[0].x == 0x4280 && b.host[0].y == 0x4300);  // 64, 128
  CHECK(p.host[0] == 8 && p.host[1] == 64);

  const int n = 20000;
  Array<float> a(std::vector<float>(n, 2.0f));
  Array<float> c(std::vector<float>(n, 0.5f));
  Array<float> out(1);
  dot<<<16, 256>>>(a, c, out, n);
  out.download();
  CHECK(out.host[0] == n);
  return report();
}
