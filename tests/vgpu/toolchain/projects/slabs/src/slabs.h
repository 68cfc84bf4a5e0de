#pragma once

void sum_slabs(const float* slabs, float* sums, int slabs_count, int readers);
