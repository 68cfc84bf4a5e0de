// The vectors come with their makers.
#pragma once
#include "vector_types.h"
