#pragma once
#include <hip/hip_runtime.h>

__device__ float scaled(float x);
__device__ float shifted(float x);

void run_first(float* data, int n);
void run_second(float* data, int n);
