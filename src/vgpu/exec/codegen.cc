// Register counts from the code generator that would compile the kernel for the real GPU.
//
// The module is compiled to assembly in memory and the counts are read from the metadata at its
// end, as a loader would. Library functions that we leave undefined (sin, pow, ...) would make the
// code generator set up a call and assume the worst about registers; a short polynomial stands for
// each of them instead, since the real ones are inlined too.
#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/TargetParser.h>

#include <charconv>

#include "swizzleperf/error.h"
#include "vgpu/exec.h"
#include "vgpu/exec/prepare.h"

namespace swizzleperf::vgpu {
namespace {

/// Gives a declaration a body: the sum of its arguments, run through a few fused operations.
void stand_in(llvm::Function& f) {
  f.setLinkage(llvm::GlobalValue::InternalLinkage);
  f.setVisibility(llvm::GlobalValue::DefaultVisibility);
  llvm::IRBuilder<> build(llvm::BasicBlock::Create(f.getContext(), "", &f));
  llvm::Type* type = f.getReturnType();
  if (type->isVoidTy()) {
    build.CreateRetVoid();
    return;
  }
  if (!type->isFloatingPointTy()) {
    build.CreateRet(llvm::Constant::getNullValue(type));
    return;
  }
  llvm::Value* x = llvm::ConstantFP::get(type, 1.0);
  for (llvm::Argument& a : f.args()) {
    if (a.getType() != type) continue;
    for (int k = 0; k < 4; ++k)
      x = build.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                                {x, &a, llvm::ConstantFP::get(type, k + 0.5)});
  }
  build.CreateRet(x);
}

void keep_only(llvm::Module& module, const std::string& symbol, const std::string& arch) {
  for (llvm::Function& f : module) {
    const bool kernel = f.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL;
    if (kernel && f.getName() != symbol) {
      f.deleteBody();
      continue;
    }
    if (f.isDeclaration() && !f.isIntrinsic()) stand_in(f);
    if (!f.isIntrinsic()) {
      f.removeFnAttr("target-features");  // they name what the original CPU has
      f.addFnAttr("target-cpu", arch);
    }
  }
}

std::uint32_t field(const std::string& assembly, const std::string& key) {
  const std::size_t at = assembly.find("\n    " + key + ":");
  if (at == std::string::npos) return 0;
  const char* p = assembly.c_str() + at + 6 + key.size();
  while (*p == ' ') ++p;
  std::uint32_t value = 0;
  std::from_chars(p, p + 12, value);
  return value;
}

}  // namespace

CodegenResources codegen_resources(std::span<const std::byte> bitcode, const std::string& symbol,
                                   const std::string& arch) {
  llvm::LLVMContext context;
  const auto module = parse_module(context, bitcode, symbol);
  const llvm::Function* kernel = module->getFunction(symbol);
  if (kernel == nullptr || kernel->isDeclaration())
    throw input_error(fmt::format("no kernel named {} in the device code", symbol));
  if (llvm::AMDGPU::parseArchAMDGCN(arch) == llvm::AMDGPU::GK_NONE)
    throw input_error(fmt::format("the code generator does not know the architecture '{}'", arch));
  const auto target = amdgpu_target(arch, "");
  keep_only(*module, symbol, arch);
  prepare_module(*module, *target);

  llvm::SmallString<0> assembly;
  llvm::raw_svector_ostream out(assembly);
  llvm::legacy::PassManager passes;
  if (target->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    throw input_error("this LLVM cannot emit AMDGPU assembly");
  passes.run(*module);

  const std::string text = assembly.str().str();
  CodegenResources resources;
  resources.vgprs = field(text, ".vgpr_count");
  resources.sgprs = field(text, ".sgpr_count");
  resources.lds_bytes = field(text, ".group_segment_fixed_size");
  resources.scratch_bytes = field(text, ".private_segment_fixed_size");
  return resources;
}

}  // namespace swizzleperf::vgpu
