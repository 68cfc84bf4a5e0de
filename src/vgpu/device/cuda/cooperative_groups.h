// Cooperative groups of CUDA: see common/cooperative_groups.h.
#pragma once

#include "cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)
#include "../common/cooperative_groups.h"
#endif
