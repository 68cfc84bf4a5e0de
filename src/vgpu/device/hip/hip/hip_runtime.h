// HIP 5.2's runtime header and what later versions add to it for kernels.
#pragma once
#pragma clang system_header

#include_next <hip/hip_runtime.h>

#if defined(__HIP__) && defined(__cplusplus) && !defined(SWIZZLEPERF_LANES)
#define SWIZZLEPERF_LANES 64
#include "../../common/lanes.h"

static inline __attribute__((device, always_inline, convergent, unused)) void __syncwarp(
    unsigned long long = ~0ull) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
#if !defined(__HIP_DEVICE_COMPILE__)  // in kernels 5.2 has it, but the host half does not know
__attribute__((device)) long long int wall_clock64();
#endif
#endif
