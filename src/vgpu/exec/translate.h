// IR of one kernel in, a Program out.
#pragma once

#include <llvm/IR/Function.h>

#include <functional>
#include <map>
#include <memory>

#include "vgpu/exec/prepare.h"
#include "vgpu/exec/program.h"
#include "vgpu/exec/slice.h"

namespace swizzleperf::vgpu {

struct KernelIr {
  const llvm::Function* function;
  const FunctionFacts* facts;
  std::string name;                             ///< demangled
  std::vector<std::uint32_t> argument_offsets;  ///< in the packed arguments
  std::function<std::uint64_t(const llvm::GlobalVariable&)> variable_address;
  std::function<std::uint64_t(const llvm::Function&)> function_address;
  std::uint32_t wave_lanes = 64;
};

/// Where the LDS variables that a kernel uses lie: static ones from offset 0, arrays of unknown
/// size (dynamic LDS) all together after them.
struct LdsLayout {
  std::map<const llvm::GlobalVariable*, std::uint32_t> offsets;
  std::uint32_t bytes = 0;
};
LdsLayout lay_out_lds(const llvm::Function& function);

/// Throws Error(kInput) naming the kernel, the source line and what is not supported.
std::unique_ptr<Program> translate(const KernelIr& kernel, const Slice& slice);

struct SourceLine {
  std::string file;
  std::uint32_t line = 0;  ///< 0 = unknown
};
SourceLine source_line(const llvm::Instruction& instruction);

}  // namespace swizzleperf::vgpu
