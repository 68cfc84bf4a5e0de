// A loop waits if one of its exits is decided by a value that comes, inside the loop, from memory
// that somebody else may change between two rounds. The compiler would have moved any other load
// out of the loop, so what is left is marked: volatile, atomic, or beside a fence.
#include "vgpu/exec/waiting.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <set>
#include <vector>

#include "vgpu/exec/slice.h"

namespace swizzleperf::vgpu {
namespace {

bool has_fence(const llvm::Loop& loop) {
  return std::any_of(loop.block_begin(), loop.block_end(), [](const llvm::BasicBlock* block) {
    return std::any_of(block->begin(), block->end(),
                       [](const llvm::Instruction& i) { return llvm::isa<llvm::FenceInst>(i); });
  });
}

/// The pointer behind which somebody else may change the value; null if nobody is expected to.
const llvm::Value* watched(const llvm::Instruction& i, bool fenced) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return load->isVolatile() || load->isAtomic() || fenced ? load->getPointerOperand() : nullptr;
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&i))
    return update->getPointerOperand();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    return exchange->getPointerOperand();
  return nullptr;
}

/// What the loop's exits watch; `also` filters.
template <class Filter>
bool exits_watch(const llvm::Loop& loop, Filter also) {
  const bool fenced = has_fence(loop);
  llvm::SmallVector<llvm::BasicBlock*, 8> exiting;
  loop.getExitingBlocks(exiting);
  std::set<const llvm::Value*> seen;
  std::vector<const llvm::Instruction*> work;
  const auto add = [&](const llvm::Value* value) {
    const auto* i = llvm::dyn_cast<llvm::Instruction>(value);
    if (i != nullptr && loop.contains(i) && seen.insert(i).second) work.push_back(i);
  };
  for (const llvm::BasicBlock* block : exiting)
    for (const llvm::Use& operand : block->getTerminator()->operands()) add(operand.get());
  while (!work.empty()) {
    const llvm::Instruction* i = work.back();
    work.pop_back();
    const llvm::Value* pointer = watched(*i, fenced);
    if (pointer != nullptr && also(*i, pointer)) return true;
    for (const llvm::Use& operand : i->operands()) add(operand.get());
  }
  return false;
}

bool is_global(unsigned space) { return space == kGlobalSpace || space == kFlatSpace; }

/// Retries of a compare-and-swap are over when nobody interferes, and an update that changes
/// something is work. What compares with the same value in every round, or exchanges, is a lock.
bool looks(const llvm::Instruction& i, const llvm::Loop& loop) {
  if (llvm::isa<llvm::LoadInst>(i)) return true;
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    return loop.isLoopInvariant(exchange->getCompareOperand());
  const auto& update = llvm::cast<llvm::AtomicRMWInst>(i);
  if (update.getOperation() == llvm::AtomicRMWInst::Xchg) return true;
  const auto* value = llvm::dyn_cast<llvm::ConstantInt>(update.getValOperand());
  return value != nullptr && value->isZero() && update.getOperation() != llvm::AtomicRMWInst::And;
}

}  // namespace

bool waits(const llvm::Loop& loop) {
  return exits_watch(loop, [](const llvm::Instruction&, const llvm::Value*) { return true; });
}

bool waits_in_or_below_for_global(const llvm::Loop* loop) {
  const bool here = exits_watch(*loop, [&](const llvm::Instruction& i, const llvm::Value* pointer) {
    return looks(i, *loop) && is_global(pointer->getType()->getPointerAddressSpace());
  });
  return here || std::any_of(loop->begin(), loop->end(), waits_in_or_below_for_global);
}

}  // namespace swizzleperf::vgpu
