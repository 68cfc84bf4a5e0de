// Force-included before a kernel of the suite (nvcc -include): one program that runs its kernel in
// many orders of blocks. The orders themselves are printed by `swizzleperf verify --print cuda` into
// swizzles.cuh, one namespace each; blockIdx becomes a choice among them, made by the host between
// launches. So the kernels' sources stay as they are, and all orders are timed in turn (A B C A B C
// ...) in one process, under the same clocks and temperature.
//
// What an order costs to compute is left out, so that times show what it does to the caches: in a
// first launch each block works out its index and notes it in a table, which all later launches
// read, also those in the identity's order. That is one load of four bytes a block, in sequence.
// (With the formulas in the kernels, 64-bit divisions made an element-wise kernel in `random` order
// 2.3 times slower at the same DRAM traffic.)
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr unsigned kSuiteMostBlocks = 1U << 21;

__constant__ int suite_variant;
__constant__ bool suite_notes;  // the launch fills the table
__device__ unsigned suite_order[kSuiteMostBlocks];

struct SuiteBlockIndex {
  unsigned x, y, z;
};

#include "swizzles.cuh"

/// The block that this one computes.
static __device__ __forceinline__ SuiteBlockIndex suite_block_index() {
  const unsigned p = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (suite_notes) {
    const SuiteBlockIndex at = suite_formula();
    if (p < kSuiteMostBlocks) suite_order[p] = at.x + gridDim.x * (at.y + gridDim.y * at.z);
    return at;
  }
  const unsigned block = suite_order[p];
  return {block % gridDim.x, block / gridDim.x % gridDim.y, block / gridDim.x / gridDim.y};
}

/// Times every order `repetitions` times; a round takes each order once, so that all meet the same
/// clocks. With SUITE_PROFILE set each order is launched twice in a row, to fill the table and to be
/// profiled, and nothing is timed.
template <typename Launch>
void measure_variants(const char* what, int repetitions, Launch&& launch) {
  const auto must = [](cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
  };
  const auto set = [&](int variant, bool notes) {
    must(cudaMemcpyToSymbol(suite_variant, &variant, sizeof variant));
    must(cudaMemcpyToSymbol(suite_notes, &notes, sizeof notes));
  };
  const bool profile = std::getenv("SUITE_PROFILE") != nullptr;
  cudaEvent_t start;
  cudaEvent_t stop;
  must(cudaEventCreate(&start));
  must(cudaEventCreate(&stop));
  for (int r = 0; r < repetitions; ++r) {
    for (int variant = 0; variant < kSuiteVariants; ++variant) {
      set(variant, true);
      launch();
      set(variant, false);
      must(cudaEventRecord(start));
      launch();
      must(cudaEventRecord(stop));
      must(cudaEventSynchronize(stop));
      float milliseconds = 0;
      must(cudaEventElapsedTime(&milliseconds, start, stop));
      if (!profile) std::printf("variant,%s,%d,%d,%.5f\n", what, variant, r, milliseconds);
    }
  }
}

#define SUITE_VARIANTS
#define blockIdx (suite_block_index())
