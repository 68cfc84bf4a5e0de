// Buffer instructions as plain IR.
#pragma once

#include <llvm/IR/IntrinsicInst.h>

namespace swizzleperf::vgpu {

/// A load, store or atomic operation through a buffer resource, or a load into LDS.
bool is_buffer_instruction(const llvm::IntrinsicInst& i);

/// Replaces and erases it. What it does not know stays, and is refused by name when translated.
void lower_buffer_instruction(llvm::IntrinsicInst& i);

}  // namespace swizzleperf::vgpu
