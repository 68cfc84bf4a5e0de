// Declared with the runtime.
#pragma once
#include "cuda_runtime_api.h"
