// There is no profiler to start.
#pragma once
#include "cuda_runtime_api.h"
static inline __attribute__((unused)) cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
static inline __attribute__((unused)) cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
