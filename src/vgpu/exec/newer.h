// Device code written by a later LLVM than ours, as Triton's is.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <string_view>

namespace swizzleperf::vgpu {

/// Textual IR in which what later LLVMs spell otherwise is spelt as ours reads it.
std::string older_text(std::string_view ir);

/// The same for what is read but means nothing to ours.
void take_cpu_from_triple(llvm::Module& module);

}  // namespace swizzleperf::vgpu
