// The weights are those of AMD's instruction set, to a factor: a 32-bit operation is one lane
// operation, a packed half counts one half, a 64-bit one two; transcendental instructions run at a
// quarter of the rate, and division and library functions are sequences of about ten and thirty
// instructions. What the code generator folds away (casts, constant offsets, vector plumbing) is
// free.
//
// CUDA's wmma is here a header that computes fragments with shuffles (device/cuda/mma.h); it is
// counted as the matrix instructions that it stands for: a product of its inner loop is two flops a
// lane, its index arithmetic is nothing, and its loads are wide.
#include "vgpu/exec/cost.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "vgpu/exec/ops.h"
#include "vgpu/exec/slice.h"

namespace swizzleperf::vgpu {
namespace {

/// 32-bit units of one value: a <2 x half> is one, a double two.
double units(const llvm::Type* type, const llvm::DataLayout& layout) {
  if (!type->isSized() || type->isVoidTy()) return 1;
  const auto bits =
      static_cast<double>(layout.getTypeSizeInBits(const_cast<llvm::Type*>(type)).getFixedValue());
  const bool vector = type->isVectorTy();
  return bits < 32 && !vector ? 1 : bits / 32;
}

/// Instructions for one 32-bit unit; 0 = folded away.
double weight(const llvm::Instruction& i) {
  if (llvm::isa<llvm::CastInst>(i)) {
    switch (i.getOpcode()) {
      case llvm::Instruction::FPTrunc:
      case llvm::Instruction::FPExt:
      case llvm::Instruction::FPToSI:
      case llvm::Instruction::FPToUI:
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::UIToFP:
        return 1;
      default:
        return 0;
    }
  }
  if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&i))
    return address->hasAllConstantIndices() ? 0 : 1;
  switch (i.getOpcode()) {
    case llvm::Instruction::PHI:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::Fence:
      return 0;
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FRem:
      return 10;
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
      return 20;
    default:
      return 1;
  }
}

double call_weight(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return 1;
  if (!callee->isIntrinsic()) return 30;
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
    if (intrinsic->isAssumeLikeIntrinsic()) return 0;
  switch (callee->getIntrinsicID()) {
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::exp:
    case llvm::Intrinsic::exp2:
    case llvm::Intrinsic::log:
    case llvm::Intrinsic::log2:
    case llvm::Intrinsic::log10:
    case llvm::Intrinsic::sin:
    case llvm::Intrinsic::cos:
      return 4;
    case llvm::Intrinsic::pow:
      return 12;
    default:
      break;
  }
  const llvm::StringRef name = callee->getName();
  const bool given = name.contains(".id.") || name.ends_with(".ptr") || name.contains(".sched");
  return given ? 0 : 1;
}

constexpr double kWarpLanes = 32;          // of a program that has wmma
constexpr double kFragmentLoadBytes = 16;  // a lane, of one instruction

enum class Wmma { kNone, kFragment, kProduct };

/// What of device/cuda/mma.h an instruction was inlined from.
Wmma part_of_wmma(const llvm::Instruction& i) {
  Wmma part = Wmma::kNone;
  for (const llvm::DILocation* at = i.getDebugLoc(); at != nullptr; at = at->getInlinedAt()) {
    if (!at->getFilename().ends_with("/mma.h")) continue;
    part = Wmma::kFragment;
    const llvm::DISubprogram* function = at->getScope()->getSubprogram();
    if (function != nullptr && function->getName().starts_with("mma_sync")) return Wmma::kProduct;
  }
  return part;
}

/// A product of wmma's inner loop; with more than one lane's worth in it where it is a vector.
double products(const llvm::Instruction& i) {
  bool multiplies = i.getOpcode() == llvm::Instruction::FMul ||
                    (i.getOpcode() == llvm::Instruction::Mul && i.getType()->isIntegerTy(32));
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    multiplies = id == llvm::Intrinsic::fma || id == llvm::Intrinsic::fmuladd;
  }
  if (!multiplies) return 0;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
  return vector != nullptr ? vector->getNumElements() : 1;
}

}  // namespace

void add_cost(Block& block, const llvm::Instruction& i, bool uniform) {
  const Wmma part = part_of_wmma(i);
  if (part == Wmma::kProduct) {
    block.matrix_flops += 2 * kWarpLanes * products(i);
    return;
  }
  const llvm::DataLayout& layout = i.getModule()->getDataLayout();
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&i);
  const bool atomic = llvm::isa<llvm::AtomicRMWInst>(i) || llvm::isa<llvm::AtomicCmpXchgInst>(i);
  if (atomic) pointer = i.getOperand(0);
  if (pointer != nullptr) {
    const llvm::Type* type = llvm::isa<llvm::StoreInst>(i) ? i.getOperand(0)->getType()
                             : atomic                      ? i.getOperand(1)->getType()
                                                           : i.getType();
    const auto bytes =
        static_cast<double>(layout.getTypeStoreSize(const_cast<llvm::Type*>(type)).getFixedValue());
    block.instructions += part == Wmma::kFragment ? bytes / kFragmentLoadBytes : 1;
    if (pointer->getType()->getPointerAddressSpace() == kLdsSpace) block.lane_lds_bytes += bytes;
    return;
  }
  if (part == Wmma::kFragment) return;
  double each = weight(i);
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
    const llvm::Function* callee = call->getCalledFunction();
    const MatrixShape* shape =
        callee == nullptr ? nullptr : find_matrix_shape(callee->getName().str());
    if (shape != nullptr) {
      block.instructions += 1;
      block.matrix_flops += 2.0 * shape->m * shape->n * shape->k * shape->blocks;
      return;
    }
    each = call_weight(*call);
  }
  if (each == 0) return;
  const bool compares = llvm::isa<llvm::CmpInst>(i);
  const llvm::Type* type = compares ? i.getOperand(0)->getType() : i.getType();
  const double width = i.isTerminator() ? 1 : units(type, layout);
  const double lane_ops = each * width;
  block.instructions += lane_ops < 1 ? 1 : lane_ops;
  if (!uniform && !i.isTerminator()) block.lane_ops += lane_ops;
}

}  // namespace swizzleperf::vgpu
