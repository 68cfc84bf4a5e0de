// See lower.h.
#include "vgpu/exec/lower.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/CallPromotionUtils.h>
#include <llvm/Transforms/Utils/IntegerDivision.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>

#include <vector>

#include "vgpu/exec/lower_buffers.h"

namespace swizzleperf::vgpu {
namespace {

constexpr std::uint64_t kLongCopy = 1024;  // bytes; the code generator's bound for unrolling

// ---- Calls through pointers
// ----------------------------------------------------------------------

std::vector<llvm::Function*> address_taken(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && f.getCallingConv() != llvm::CallingConv::AMDGPU_KERNEL &&
        f.hasAddressTaken())
      functions.push_back(&f);
  return functions;
}

std::vector<llvm::CallInst*> indirect_calls(llvm::Function& f) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i))
      if (call->isIndirectCall()) calls.push_back(call);
  return calls;
}

/// What is called is one of ours, or the call traps.
void resolve(llvm::CallInst* call, const std::vector<llvm::Function*>& functions) {
  for (llvm::Function* f : functions)
    if (f->getFunctionType() == call->getFunctionType() && llvm::isLegalToPromote(*call, f))
      llvm::promoteCallWithIfThenElse(*call, f);
  llvm::IRBuilder<> build(call);
  build.CreateIntrinsic(llvm::Intrinsic::trap, {});
  if (!call->getType()->isVoidTy())
    call->replaceAllUsesWith(llvm::Constant::getNullValue(call->getType()));
  call->eraseFromParent();
}

// ---- Copies, fills, divisions
// --------------------------------------------------------------------

bool becomes_a_loop(const llvm::MemIntrinsic& i) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(i.getLength());
  return length == nullptr || length->getZExtValue() > kLongCopy;
}

void expand_copy(llvm::MemIntrinsic* i, const llvm::TargetTransformInfo& costs) {
  if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(i)) {
    llvm::expandMemCpyAsLoop(copy, costs);
  } else if (auto* move = llvm::dyn_cast<llvm::MemMoveInst>(i)) {
    if (!llvm::expandMemMoveAsLoop(move, costs)) return;
  } else {
    llvm::expandMemSetAsLoop(llvm::cast<llvm::MemSetInst>(i));
  }
  i->eraseFromParent();
}

void expand_division(llvm::BinaryOperator* i) {
  const bool remainder =
      i->getOpcode() == llvm::Instruction::SRem || i->getOpcode() == llvm::Instruction::URem;
  if (remainder)
    llvm::expandRemainder(i);
  else
    llvm::expandDivision(i);
}

void lower_function(llvm::Function& f, const llvm::TargetTransformInfo& costs) {
  std::vector<llvm::MemIntrinsic*> copies;
  std::vector<llvm::BinaryOperator*> divisions;
  std::vector<llvm::IntrinsicInst*> buffers;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    if (auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) {
      if (becomes_a_loop(*copy)) copies.push_back(copy);
    } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
      if (is_buffer_instruction(*call)) buffers.push_back(call);
    } else if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) {
      if (op->isIntDivRem() && op->getType()->isIntegerTy(128)) divisions.push_back(op);
    }
  }
  for (llvm::MemIntrinsic* copy : copies) expand_copy(copy, costs);
  for (llvm::BinaryOperator* division : divisions) expand_division(division);
  // Users first: they look at how their resource was made.
  for (auto call = buffers.rbegin(); call != buffers.rend(); ++call)
    lower_buffer_instruction(**call);
}

}  // namespace

void resolve_indirect_calls(llvm::Module& module) {
  const std::vector<llvm::Function*> functions = address_taken(module);
  for (llvm::Function& f : module)
    for (llvm::CallInst* call : indirect_calls(f)) resolve(call, functions);
}

void lower_instructions(llvm::Module& module, llvm::TargetMachine& target) {
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) lower_function(f, target.getTargetTransformInfo(f));
}

}  // namespace swizzleperf::vgpu
