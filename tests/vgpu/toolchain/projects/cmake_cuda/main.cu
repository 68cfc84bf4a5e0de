#include <cstdio>

int reference(int i);
extern __device__ int twice(int x);

__global__ void compute(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = twice(i) + 1;
}

int main() {
  int *d, h[256];
  cudaMalloc(&d, sizeof h);
  compute<<<4, 64>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) {
    if (h[i] != reference(i)) return 1;
  }
  std::printf("PASS\n");
}
