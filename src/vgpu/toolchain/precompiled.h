// Precompiled once, when swizzleperf is built: what practically every HIP program includes.
#include <hip/hip_runtime.h>
