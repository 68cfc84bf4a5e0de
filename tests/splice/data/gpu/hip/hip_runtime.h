// The few words of HIP that these tests' kernels need, for device code, in a header that parses in
// milliseconds. blockIdx has properties here, as in clang's own CUDA headers.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

using size_t = decltype(sizeof(0));
using uint = unsigned;
extern "C" __device__ __attribute__((const)) size_t __ockl_get_group_id(uint);
extern "C" __device__ __attribute__((const)) size_t __ockl_get_global_id(uint);
extern "C" __device__ __attribute__((const)) size_t __ockl_get_local_id(uint);
extern "C" __device__ __attribute__((const)) size_t __ockl_get_num_groups(uint);
extern "C" __device__ __attribute__((const)) size_t __ockl_get_local_size(uint);

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
};

#define BUILTIN_AXIS(axis, fetch, i)                          \
  __declspec(property(get = get_##axis)) unsigned axis;     \
  static __device__ inline unsigned get_##axis() { return (unsigned)fetch(i); }
#define BUILTIN(name, fetch)                                               \
  struct __cuda_builtin_##name##_t {                                     \
    BUILTIN_AXIS(x, fetch, 0)                                              \
    BUILTIN_AXIS(y, fetch, 1)                                              \
    BUILTIN_AXIS(z, fetch, 2)                                              \
    __device__ operator dim3() const { return dim3(x, y, z); }           \
  };                                                                     \
  extern const __device__ __attribute__((weak)) __cuda_builtin_##name##_t name;
BUILTIN(threadIdx, __ockl_get_local_id)
BUILTIN(blockIdx, __ockl_get_group_id)
BUILTIN(blockDim, __ockl_get_local_size)
BUILTIN(gridDim, __ockl_get_num_groups)

#define hipBlockIdx_x (__ockl_get_group_id(0))
#define hipBlockIdx_y (__ockl_get_group_id(1))
#define hipBlockIdx_z (__ockl_get_group_id(2))

__device__ inline int min(int a, int b) { return a < b ? a : b; }
__device__ inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
