#pragma once
#include <cuda_runtime.h>

void reference(const float* a, const float* b, float* c, int m, int n, int k);
