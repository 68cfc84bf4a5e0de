// The runtime's types are declared with its functions.
#pragma once
#include "cuda_runtime_api.h"
