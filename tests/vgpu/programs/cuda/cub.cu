// CUB in kernels: see collectives.h.
#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>
#include <cub/cub.cuh>

#define NS cub
#define GPU(name) cuda##name
#include "../collectives.h"

int main() { return test_collectives(32); }
