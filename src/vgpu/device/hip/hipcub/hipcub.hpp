// hipCUB as far as it works inside a kernel: the collectives of common/, under its names.
#pragma once
#pragma clang system_header

#include <hip/hip_runtime.h>

#define HIPCUB_VERSION 201200
#define HIPCUB_ROCPRIM_API 1
#define HIPCUB_WARP_THREADS 64
#define HIPCUB_DEVICE_WARP_THREADS 64
#define HIPCUB_HOST_WARP_THREADS 64
#define HIPCUB_DEVICE __attribute__((device))
#define HIPCUB_HOST __attribute__((host))
#define HIPCUB_HOST_DEVICE __attribute__((host, device))
#define HIPCUB_RUNTIME_FUNCTION __attribute__((host))
#define HIPCUB_MAX CUB_MAX
#define HIPCUB_MIN CUB_MIN
#define HipcubDebug(e) (e)
#define SWIZZLEPERF_CUB hipcub
#include "../../common/missing.h"
