// What an instruction of the IR costs a machine, roughly: counts, not cycles.
#pragma once

#include <llvm/IR/Instructions.h>

#include "vgpu/exec/program.h"

namespace swizzleperf::vgpu {

/// Adds one execution of the instruction to the block. `uniform`: equal in all lanes, which the
/// hardware computes once, beside its vector units.
void add_cost(Block& block, const llvm::Instruction& instruction, bool uniform);

}  // namespace swizzleperf::vgpu
