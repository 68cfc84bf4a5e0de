// One source, two languages: what differs between HIP (clang for AMD) and CUDA (nvcc) and no more.
//
// The kernels of the suite are written in HIP's names. nvcc gets them mapped to CUDA's, so that
//     clang++ -x hip --offload-arch=gfx942 ...   and   nvcc -arch=sm_90 -x cu ...
// take the same file. What the machines themselves do differently is named here: how many lanes a
// wave has, how lanes exchange values, and how sixteen bytes are loaded at once.
//
// Nothing here reads blockIdx: which block does what is written in each kernel, where it can be
// read and swizzled.
#pragma once

#if defined(__HIP__)
#include <hip/hip_runtime.h>

using half = _Float16;
constexpr int kWave = 64;

template <typename T>
__device__ T shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask);
}

#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int kWave = 32;

template <typename T>
__device__ T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffU, value, mask);
}

#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipError_t cudaError_t
#define hipEvent_t cudaEvent_t
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipFree cudaFree
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipMalloc cudaMalloc
#define hipMemcpy cudaMemcpy
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipSuccess cudaSuccess
#endif

// ---- several values in one access ---------------------------------------------------------------
// Pack<T, N> is N values in registers that lie side by side in memory: a vector type where the
// compiler has them (so that an access stays one in LLVM IR, which is what the virtual GPU runs), a
// struct elsewhere.

#if defined(__HIP__)

template <typename T, int N>
using Pack = T __attribute__((ext_vector_type(N)));

/// One access of up to 16 bytes; `from` is aligned to its size.
template <int N, typename T>
__device__ Pack<T, N> load(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

template <int N, typename T>
__device__ void store(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

#else

template <typename T, int N>
struct Pack {
  T values[N];
  __device__ T& operator[](int i) { return values[i]; }
  __device__ const T& operator[](int i) const { return values[i]; }
};

template <int kBytes>
struct Word;
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

template <int N, typename T>
__device__ Pack<T, N> load(const T* from) {
  using Type = typename Word<N * sizeof(T)>::Type;
  return __builtin_bit_cast(Pack<T, N>, *reinterpret_cast<const Type*>(from));
}

template <int N, typename T>
__device__ void store(T* to, const Pack<T, N>& pack) {
  using Type = typename Word<N * sizeof(T)>::Type;
  *reinterpret_cast<Type*>(to) = __builtin_bit_cast(Type, pack);
}

#endif

// ---- LDS (shared memory) ------------------------------------------------------------------------

/// Lets a kernel be launched with so much dynamic LDS; AMD's runtime need not be asked.
template <typename Kernel>
hipError_t allow_dynamic_lds(Kernel kernel, int bytes) {
#if defined(__HIP__)
  (void)kernel;
  (void)bytes;
  return hipSuccess;
#else
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
#endif
}

// ---- reductions over a block --------------------------------------------------------------------

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Greatest {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

/// What all threads of the block get from combining their values, in one fixed order.
template <int kThreads, typename Combine>
__device__ float block_reduce(float value, Combine combine) {
#pragma unroll
  for (int distance = kWave / 2; distance > 0; distance /= 2) {
    value = combine(value, shuffle_xor(value, distance));
  }
  constexpr int kWaves = kThreads / kWave;
  if constexpr (kWaves > 1) {
    __shared__ float of_wave[kWaves];
    __syncthreads();  // of_wave may still be read from the last time
    if (threadIdx.x % kWave == 0) of_wave[threadIdx.x / kWave] = value;
    __syncthreads();
    value = of_wave[0];
#pragma unroll
    for (int wave = 1; wave < kWaves; ++wave) value = combine(value, of_wave[wave]);
  }
  return value;
}
