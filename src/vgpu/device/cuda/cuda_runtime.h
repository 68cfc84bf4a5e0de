// The runtime and, in CUDA sources, the language: built-in variables, intrinsics, atomics.
#pragma once

#include "cuda_runtime_api.h"

#if defined(__HIP__)
// clang-format off: the first is what the others are written in
#include "swizzleperf_device.h"
#include "swizzleperf_atomics.h"
#include "swizzleperf_math.h"
#define SWIZZLEPERF_LANES 32
#include "../common/lanes.h"
// clang-format on
#else
// Host code of a project may share headers with its kernels.
#ifndef __host__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#endif
