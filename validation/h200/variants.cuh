// Force-included before a kernel of the suite (nvcc -include): one program that runs its kernel in
// many orders of blocks. The orders themselves are printed by `swizzleperf verify --print cuda` into
// swizzles.cuh, one namespace each; blockIdx becomes a choice among them, made by the host between
// launches. So the kernels' sources stay as they are, and all orders are timed in turn (A B C A B C
// ...) in one process, under the same clocks and temperature.
//
// The choice costs a few integer registers before the kernel's own work begins; registers and
// occupancy of what was measured are in the results.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

__constant__ int suite_variant;

struct SuiteBlockIndex {
  unsigned x, y, z;
};

#include "swizzles.cuh"

/// Times every order `repetitions` times, in turn, each after one launch that is not counted. With
/// SUITE_PROFILE set each order is launched once, for a profiler that counts launches.
template <typename Launch>
void measure_variants(const char* what, int repetitions, Launch&& launch) {
  const bool profile = std::getenv("SUITE_PROFILE") != nullptr;
  const auto choose = [](int variant) {
    if (cudaMemcpyToSymbol(suite_variant, &variant, sizeof variant) != cudaSuccess) std::exit(1);
  };
  cudaEvent_t start;
  cudaEvent_t stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  for (int r = profile ? repetitions - 1 : -1; r < repetitions; ++r) {
    for (int variant = 0; variant < kSuiteVariants; ++variant) {
      choose(variant);
      cudaEventRecord(start);
      launch();
      cudaEventRecord(stop);
      if (cudaEventSynchronize(stop) != cudaSuccess) std::exit(1);
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, start, stop);
      if (r >= 0) std::printf("variant,%s,%d,%d,%.5f\n", what, variant, r, milliseconds);
    }
  }
  choose(0);
}

#define SUITE_VARIANTS
#define blockIdx (suite_block_index())
