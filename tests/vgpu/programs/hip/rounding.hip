// Directed rounding: see rounding.h.
#include <hip/hip_runtime.h>

#define GPU(name) hip##name
#include "../rounding.h"

int main() { return test_rounding(); }
