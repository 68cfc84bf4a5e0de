// bfloat16 under the names of HIP 6.
#pragma once
#pragma clang system_header

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#define BF16 __hip_bfloat16
#define BF16X2 __hip_bfloat162
#define BF16_RAW __hip_bfloat16_raw
#define BF16X2_RAW __hip_bfloat162_raw
#include "../../common/bfloat16.h"

#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
