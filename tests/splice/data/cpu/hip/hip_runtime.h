// HIP's words as plain C++, so that a kernel's text runs on the CPU: one block at a time, its threads
// as threads, with the block index in a variable that the test sets.
#pragma once

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline thread_local dim3 threadIdx(0, 0, 0);
inline dim3 blockIdx(0, 0, 0);
inline dim3 blockDim(1, 1, 1);
inline dim3 gridDim(1, 1, 1);
inline std::barrier<>* threads_of_block = nullptr;

inline void __syncthreads() {
  if (threads_of_block != nullptr) threads_of_block->arrive_and_wait();
}

#define __HIP_DEVICE_COMPILE__ 1
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define hipBlockIdx_x (std::size_t(blockIdx.x))
#define hipBlockIdx_y (std::size_t(blockIdx.y))
#define hipBlockIdx_z (std::size_t(blockIdx.z))
#define __builtin_amdgcn_workgroup_id_x() (blockIdx.x)
#define __builtin_amdgcn_workgroup_id_y() (blockIdx.y)
#define __builtin_amdgcn_workgroup_id_z() (blockIdx.z)

using std::max;
using std::min;
