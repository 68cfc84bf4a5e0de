// Force-included before every CUDA source, as nvcc does with cuda_runtime.h. Clang compiles CUDA as
// its HIP; this makes the text see CUDA: warps of 32 lanes, CUDA's macros, none of HIP's.
#pragma once

#if defined(__HIP_DEVICE_COMPILE__)
// Read by the virtual GPU (exec/module.cc): waves of this module have 32 lanes.
extern "C" __attribute__((device, used, weak)) const unsigned char __swizzleperf_warp_lanes = 32;
#endif

#include "cuda_runtime.h"

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 131
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define CUDA_VERSION 12040
#if defined(__HIP_DEVICE_COMPILE__)
#define __CUDA_ARCH__ SWIZZLEPERF_COMPUTE
#endif

#undef __HIP__
#undef __HIPCC__
#undef __HIP_PLATFORM_AMD__
#undef __HIP_PLATFORM_HCC__
#undef __HIP_DEVICE_COMPILE__
