#include "kernels.h"

__device__ float shifted(float x) { return x + 1000.0f; }
