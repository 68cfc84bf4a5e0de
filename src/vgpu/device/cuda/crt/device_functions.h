// Of one piece with the rest of the device side here.
#pragma once
#include "../cuda_runtime.h"
