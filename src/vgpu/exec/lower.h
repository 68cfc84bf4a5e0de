// What translation does not want to see and LLVM's passes leave: rewritten as plain IR, so that
// everything behind (slices, uniformity, traces) needs to know nothing of it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace swizzleperf::vgpu {

/// Calls through pointers become chains of "is it this function?": every function whose address is
/// taken and whose type fits is a candidate. Before inlining.
void resolve_indirect_calls(llvm::Module& module);

/// Copies and fills of lengths known only at run time (or long ones) become loops, as in the code
/// generator; so do divisions of more than 64 bits. Buffer instructions, which read 0 and write
/// nothing beyond their end, become conditional loads and stores; loads into LDS a load and a
/// store.
void lower_instructions(llvm::Module& module, llvm::TargetMachine& target);

}  // namespace swizzleperf::vgpu
