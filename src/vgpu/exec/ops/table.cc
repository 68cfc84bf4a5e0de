// Puts the table of operations together, once for each instruction set, and chooses for this CPU.
#include "vgpu/exec/ops/parts.h"

namespace swizzleperf::vgpu {
namespace {

#define TABLE_OF(isa)             \
  Operations operations_##isa() { \
    Operations table;             \
    add_integers_##isa(table);    \
    add_floats_##isa(table);      \
    add_math_##isa(table);        \
    add_conversions_##isa(table); \
    add_moves_##isa(table);       \
    add_cross_lane_##isa(table);  \
    add_memory_##isa(table);      \
    add_atomics_##isa(table);     \
    add_matrix_##isa(table);      \
    add_services(table);          \
    return table;                 \
  }
TABLE_OF(baseline)
TABLE_OF(avx2)
#undef TABLE_OF

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
}

}  // namespace

const Operations& operations() {
  static const Operations table = has_avx2() ? operations_avx2() : operations_baseline();
  return table;
}

}  // namespace swizzleperf::vgpu
