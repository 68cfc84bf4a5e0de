// From a module of device code as the compiler left it to functions that translation can read.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace swizzleperf::vgpu {

/// Parses bitcode (or textual IR). Throws Error(kInput) naming `name`.
std::unique_ptr<llvm::Module> parse_module(llvm::LLVMContext& context,
                                           std::span<const std::byte> bitcode,
                                           const std::string& name);

/// LLVM's AMDGPU target for a CPU such as gfx942.
std::unique_ptr<llvm::TargetMachine> amdgpu_target(const std::string& cpu,
                                                   const std::string& features);

/// The CPU that the module's kernels were compiled for.
std::string target_cpu(const llvm::Module& module);

/// Inlines every call and brings each function into the form translation wants: scalars in
/// registers, address spaces inferred, no switches, reducible loops with one latch, LCSSA.
void prepare_module(llvm::Module& module, llvm::TargetMachine& target);

/// Which values are equal in all lanes, and the loops; owned by LLVM's analysis managers.
class FunctionFacts {
 public:
  FunctionFacts(llvm::Function& function, llvm::TargetMachine& target);
  ~FunctionFacts();
  FunctionFacts(const FunctionFacts&) = delete;
  FunctionFacts& operator=(const FunctionFacts&) = delete;
  [[nodiscard]] const llvm::LoopInfo& loops() const { return *loops_; }
  [[nodiscard]] const llvm::UniformityInfo& uniformity() const { return *uniformity_; }

 private:
  struct Managers;
  std::unique_ptr<Managers> managers_;
  const llvm::LoopInfo* loops_;
  const llvm::UniformityInfo* uniformity_;
};

/// Blocks such that forward edges go up, loops are contiguous and their latches last.
std::vector<llvm::BasicBlock*> execution_order(llvm::Function& function,
                                               const llvm::LoopInfo& loops);

}  // namespace swizzleperf::vgpu
