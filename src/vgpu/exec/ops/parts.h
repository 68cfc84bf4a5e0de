// The files of operations, once per instruction set: each adds what it has to the table.
#pragma once

#include "vgpu/exec/ops.h"

namespace swizzleperf::vgpu {

#define PARTS_OF(isa)                      \
  void add_integers_##isa(Operations&);    \
  void add_floats_##isa(Operations&);      \
  void add_math_##isa(Operations&);        \
  void add_conversions_##isa(Operations&); \
  void add_moves_##isa(Operations&);       \
  void add_cross_lane_##isa(Operations&);  \
  void add_memory_##isa(Operations&);      \
  void add_atomics_##isa(Operations&);     \
  void add_matrix_##isa(Operations&)
PARTS_OF(baseline);
PARTS_OF(avx2);
#undef PARTS_OF
void add_services(Operations&);  // once: nothing there is worth vectors

}  // namespace swizzleperf::vgpu
