// CUB as far as it works inside a kernel: the collectives of common/, under CUB's names.
#pragma once
#pragma clang system_header

#include "../cuda_runtime.h"

#if defined(SWIZZLEPERF_DEVICE)
#define CUB_VERSION 200400
#define CUB_NS_PREFIX
#define CUB_NS_POSTFIX
#define CUB_RUNTIME_FUNCTION inline __attribute__((host))
#define CUB_PTX_WARP_THREADS 32
#define CUB_PTX_LOG_WARP_THREADS 5
#define CUB_WARP_THREADS(unused) 32
#define CUB_LOG_WARP_THREADS(unused) 5
#define CUB_PTX_ARCH 0
#define CubDebug(e) ((void)0, (e))
#define SWIZZLEPERF_CUB cub
#include "../../common/missing.h"
#endif
