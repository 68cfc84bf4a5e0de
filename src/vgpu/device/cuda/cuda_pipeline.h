// Copies into shared memory that a thread starts and waits for later: here they are done when
// started.
#pragma once

#include "cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)

/// The last `zeros` bytes of `bytes` are set to 0 instead of copied.
SWIZZLEPERF_DEVICE void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                                size_t zeros = 0) {
  if (zeros == 0 && bytes == 16 && ((size_t)from & 15) == 0) {
    *(uint4*)to = *(const uint4*)from;  // one access, as the hardware's
    return;
  }
  const size_t copied = bytes - zeros;
  for (size_t i = 0; i < copied / 4; ++i) ((unsigned*)to)[i] = ((const unsigned*)from)[i];
  for (size_t i = copied / 4 * 4; i < bytes; ++i) {
    ((char*)to)[i] = i < copied ? ((const char*)from)[i] : (char)0;
  }
}
SWIZZLEPERF_DEVICE void __pipeline_commit() {}
SWIZZLEPERF_DEVICE void __pipeline_wait_prior(size_t) {}

#endif
