// LDS whose size the launch decides: several arrays in one, beside static ones, in templates.
#include "check.h"

extern __shared__ int dynamic_ints[];

__global__ void reverse(int* data, int n) {
  dynamic_ints[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = dynamic_ints[n - 1 - threadIdx.x];
}

// Two arrays cut out of one allocation by hand, behind a static one.
__global__ void two_arrays(float* out, int n) {
  __shared__ float fixed[64];
  extern __shared__ char raw[];
  float* a = reinterpret_cast<float*>(raw);
  double* b = reinterpret_cast<double*>(a + 2 * ((n + 1) / 2));
  fixed[threadIdx.x % 64] = 1000.0f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i, b[i] = -2.0 * i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = a[n - 1 - i] + static_cast<float>(b[n - 1 - i]) + fixed[i % 64];
}

template <class T>
struct Shared {
  __device__ static T* get() {
    extern __shared__ char memory[];
    return reinterpret_cast<T*>(memory);
  }
};
template <class T>
__global__ void sums(const T* in, T* out) {
  T* shared = Shared<T>::get();
  shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

template <class T>
void check_sums() {
  std::vector<T> values(1024);
  for (int i = 0; i < 1024; ++i) values[i] = static_cast<T>(i % 10);
  Array<T> in(values);
  Array<T> out(4);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(sums<T>), dim3(4), dim3(256), 256 * sizeof(T), 0, in.device,
                     out.device);
  out.download();
  for (int b = 0; b < 4; ++b) {
    T wanted = 0;
    for (int i = 0; i < 256; ++i) wanted += values[b * 256 + i];
    check_equal("sums", b, out.host[b], wanted);
  }
}

__global__ void needs_much(int* out) {
  dynamic_ints[threadIdx.x * 64] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = dynamic_ints[(255 - threadIdx.x) * 64];
}

int main() {
  std::vector<int> values(200);
  for (int i = 0; i < 200; ++i) values[i] = i * i;
  Array<int> data(values);
  reverse<<<1, 200, 200 * sizeof(int)>>>(data, 200);
  data.download();
  for (int i = 0; i < 200; ++i) check_equal("reverse", i, data.host[i], values[199 - i]);

  const int n = 333;
  Array<float> out(n);
  two_arrays<<<1, 128, n * 12 + 16>>>(out, n);
  out.download();
  for (int i = 0; i < n; ++i) check_equal("two", i, out.host[i], 1000.0f - (n - 1 - i));
  check_sums<int>();
  check_sums<float>();
  check_sums<double>();

  OK(hipFuncSetAttribute(reinterpret_cast<const void*>(needs_much),
                         hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  Array<int> much(256);
  needs_much<<<1, 256, 65536>>>(much);
  OK(hipGetLastError());
  much.download();
  for (int i = 0; i < 256; ++i) check_equal("much", i, much.host[i], 255 - i);
  needs_much<<<1, 256, 65536 * 4>>>(much);
  CHECK(hipGetLastError() != hipSuccess);
  return report();
}
