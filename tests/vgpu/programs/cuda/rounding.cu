// Directed rounding: see rounding.h.
#include <cuda_runtime.h>

#define GPU(name) cuda##name
#include "../rounding.h"

int main() { return test_rounding(); }
