// hipCUB in kernels: see collectives.h.
#include <hip/hip_runtime.h>

#include <hipcub/block/block_scan.hpp>
#include <hipcub/hipcub.hpp>

#define NS hipcub
#define GPU(name) hip##name
#include "../collectives.h"

int main() { return test_collectives(64); }
