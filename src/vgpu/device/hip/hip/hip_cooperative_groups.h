// Cooperative groups as later versions of HIP have them: see common/cooperative_groups.h.
#pragma once
#pragma clang system_header

#include <hip/hip_runtime.h>

#include "../../common/cooperative_groups.h"
