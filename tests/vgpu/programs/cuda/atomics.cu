// Atomic functions on integers and floating point, in memory and in shared memory: a histogram.
#include <cuda_runtime.h>

#include "check.h"

__global__ void all(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], t);
  atomicSub(&i[1], 1);
  atomicMin(&i[2], -t);
  atomicMax(&i[3], t);
  atomicOr(&u[0], 1u << (t % 32));
  atomicAnd(&u[1], ~(1u << (t % 8)));
  atomicXor(&u[2], 1u << (t % 16));
  atomicInc(&u[3], 9);
  atomicDec(&u[4], 4);
  atomicAdd(&l[0], 1ull << 33);
  atomicMax(&l[1], (unsigned long long)t << 40);
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
  if (t == 5) atomicExch(&i[4], 55);
  atomicCAS(&i[5], 0, 7);
  // A maximum of floats, the usual way.
  int* const address = (int*)&f[1];
  int old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed, __float_as_int(fmaxf((float)t, __int_as_float(assumed))));
  } while (assumed != old);
}

__global__ void histogram(const unsigned char* data, unsigned* bins, int n) {
  __shared__ unsigned mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[data[i]], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

int main() {
  struct {
    int i[6];
    unsigned u[5];
    unsigned pad;
    unsigned long long l[2];
    float f[2];
    double d[1];
  } h = {{0, 0, 0, 0, 0, 0}, {0, 0xff, 0, 0, 0}, 0, {0, 0}, {0, 0}, {0}}, *d;
  CHECK(cudaMalloc(&d, sizeof h));
  CHECK(cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice));
  all<<<2, 64>>>(d->i, d->u, d->l, d->f, d->d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h.i[0] == 127 * 128 / 2 && h.i[1] == -128 && h.i[2] == -127 && h.i[3] == 127);
  EXPECT(h.i[4] == 55 && h.i[5] == 7);
  EXPECT(h.u[0] == 0xffffffffu && h.u[1] == 0 && h.u[2] == 0 && h.u[3] == 8 && h.u[4] == 2);
  EXPECT(h.l[0] == 128ull << 33 && h.l[1] == 127ull << 40);
  EXPECT_NEAR(h.f[0], 64, 0);
  EXPECT_NEAR(h.f[1], 127, 0);
  EXPECT_NEAR(h.d[0], 32, 0);

  constexpr int kN = 10000;
  static unsigned char data[kN];
  unsigned bins[256], wanted[256] = {};
  for (int i = 0; i < kN; ++i) ++wanted[data[i] = (unsigned char)(i * i / 3)];
  unsigned char* ddata;
  unsigned* dbins;
  CHECK(cudaMalloc(&ddata, sizeof data));
  CHECK(cudaMalloc(&dbins, sizeof bins));
  CHECK(cudaMemset(dbins, 0, sizeof bins));
  CHECK(cudaMemcpy(ddata, data, sizeof data, cudaMemcpyHostToDevice));
  histogram<<<5, 192>>>(ddata, dbins, kN);
  CHECK(cudaMemcpy(bins, dbins, sizeof bins, cudaMemcpyDeviceToHost));
  for (int b = 0; b < 256; ++b) EXPECT(bins[b] == wanted[b]);
  return finish();
}
