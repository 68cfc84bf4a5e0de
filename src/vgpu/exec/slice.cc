// See slice.h.
#include "vgpu/exec/slice.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace swizzleperf::vgpu {
namespace {

const llvm::Value* pointer_of(const llvm::Instruction* i) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(i)) return load->getPointerOperand();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(i)) return store->getPointerOperand();
  if (const auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(i)) return rmw->getPointerOperand();
  if (const auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(i)) return cas->getPointerOperand();
  return nullptr;
}

unsigned space_of(const llvm::Value* pointer) {
  return pointer->getType()->getPointerAddressSpace();
}

bool is_global(unsigned space) { return space != kLdsSpace && space != kPrivateSpace; }

/// Parameters, and pointers that come with them (in a struct), lead to device memory.
bool is_known_object(const llvm::Value* v) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(v))
    return space_of(load->getPointerOperand()) == kConstantSpace;
  return llvm::isa<llvm::AllocaInst>(v) || llvm::isa<llvm::GlobalVariable>(v) ||
         llvm::isa<llvm::Argument>(v);
}

/// The objects a pointer may point into; null stands for "unknown".
std::set<const llvm::Value*> objects_of(const llvm::Value* pointer) {
  llvm::SmallVector<const llvm::Value*, 4> found;
  llvm::getUnderlyingObjects(pointer, found, nullptr, /*MaxLookup=*/0);
  std::set<const llvm::Value*> objects;
  for (const llvm::Value* v : found) {
    objects.insert(is_known_object(v) ? v : nullptr);
  }
  return objects;
}

/// LDS and private memory, as far as needed values may come out of it.
class Objects {
 public:
  /// Returns true if that is news.
  bool need(const llvm::Value* pointer) {
    const unsigned space = space_of(pointer);
    bool news = false;
    for (const llvm::Value* object : objects_of(pointer)) {
      const bool named = object != nullptr && (llvm::isa<llvm::AllocaInst>(object) ||
                                               llvm::isa<llvm::GlobalVariable>(object));
      if (named) {
        news |= needed_.insert(object).second;
        continue;
      }
      const bool anywhere = space == kFlatSpace && object == nullptr;
      if (space == kLdsSpace || anywhere) news |= raise(all_lds_);
      if (space == kPrivateSpace || anywhere) news |= raise(all_private_);
    }
    return news;
  }

  bool may_be_needed(const llvm::Value* pointer) const {
    const unsigned space = space_of(pointer);
    for (const llvm::Value* object : objects_of(pointer)) {
      const bool named = object != nullptr && (llvm::isa<llvm::AllocaInst>(object) ||
                                               llvm::isa<llvm::GlobalVariable>(object));
      if (named && needed_.contains(object)) return true;
      const unsigned at = named ? object->getType()->getPointerAddressSpace() : space;
      if (at == kLdsSpace && (all_lds_ || (!named && any_of(kLdsSpace)))) return true;
      if (at == kPrivateSpace && (all_private_ || (!named && any_of(kPrivateSpace)))) return true;
      // An unknown flat pointer may lead anywhere.
      if (at == kFlatSpace && !named &&
          (object == nullptr &&
           (all_lds_ || all_private_ || any_of(kLdsSpace) || any_of(kPrivateSpace))))
        return true;
    }
    return false;
  }

 private:
  static bool raise(bool& flag) {
    const bool news = !flag;
    flag = true;
    return news;
  }
  bool any_of(unsigned space) const {
    for (const llvm::Value* v : needed_)
      if (v->getType()->getPointerAddressSpace() == space) return true;
    return false;
  }

  std::set<const llvm::Value*> needed_;
  bool all_lds_ = false;
  bool all_private_ = false;
};

class Slicer {
 public:
  Slicer(const llvm::Function& function, SliceKind kind,
         const std::vector<std::uint32_t>& argument_offsets)
      : function_(function), kind_(kind), argument_offsets_(argument_offsets) {}

  Slice run() {
    for (const llvm::Instruction& i : llvm::instructions(function_)) seed(&i);
    drain();
    // Stores to objects that became interesting, until nothing does.
    for (bool changed = true; changed;) {
      changed = false;
      for (const llvm::Instruction& i : llvm::instructions(function_))
        if (i.mayWriteToMemory() && !slice_.performs(&i) && wants(&i)) {
          perform(&i);
          changed = true;
        }
      drain();
    }
    collect_roots();
    collect_deciding_atomics();
    return std::move(slice_);
  }

 private:
  void need(const llvm::Value* value) {
    if (llvm::isa<llvm::Instruction>(value) && slice_.values.insert(value).second)
      work_.push_back(llvm::cast<llvm::Instruction>(value));
  }

  /// What is kept whatever else is: control flow, global accesses, effects we do not model.
  void seed(const llvm::Instruction* i) {
    if (i->isTerminator()) {
      for (const llvm::Use& operand : i->operands()) need(operand.get());
      return;
    }
    const llvm::Value* pointer = pointer_of(i);
    const bool everything = kind_ == SliceKind::kEverything;
    if (pointer == nullptr) {
      // Calls with effects: barriers, copies, traps; assumptions and debug records have none.
      if (!llvm::isa<llvm::CallBase>(i) || !i->mayHaveSideEffects()) return;
      if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(i))
        if (intrinsic->isAssumeLikeIntrinsic()) return;
      if (i->getType()->isVoidTy() || everything) perform(i);
      return;
    }
    const bool global = is_global(space_of(pointer));
    if (is_recorded(pointer)) need(pointer);
    if (llvm::isa<llvm::LoadInst>(i)) return;
    if (everything || (global && kind_ == SliceKind::kAddressesAndStores)) perform(i);
  }

  bool wants(const llvm::Instruction* i) const {
    const llvm::Value* pointer = pointer_of(i);
    return pointer != nullptr && !llvm::isa<llvm::LoadInst>(i) && objects_.may_be_needed(pointer);
  }

  void perform(const llvm::Instruction* i) {
    if (!slice_.performed.insert(i).second) return;
    for (const llvm::Use& operand : i->operands()) need(operand.get());
    const llvm::Value* pointer = pointer_of(i);
    // What an atomic leaves depends on what was there.
    if (pointer != nullptr && !llvm::isa<llvm::StoreInst>(i)) objects_.need(pointer);
    if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(i))
      objects_.need(copy->getSource());
  }

  void drain() {
    while (!work_.empty()) {
      const llvm::Instruction* i = work_.back();
      work_.pop_back();
      if (pointer_of(i) != nullptr || i->mayHaveSideEffects()) {
        perform(i);
        continue;
      }
      for (const llvm::Use& operand : i->operands()) need(operand.get());
    }
  }

  PointerRoot root_of(const llvm::Value* object) const {
    PointerRoot root;
    if (object == nullptr) return root;
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object)) {
      root.kind = PointerRoot::Kind::kArgument;
      root.argument_offset = argument_offsets_[argument->getArgNo()];
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
      root.kind = PointerRoot::Kind::kVariable;
      root.variable = variable;
    } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(object)) {
      // A pointer inside a struct that is passed by value.
      const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
      llvm::APInt offset(64, 0);
      const llvm::Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, offset, /*AllowNonInbounds=*/true);
      const auto* holder = llvm::dyn_cast<llvm::Argument>(base);
      if (holder != nullptr && holder->hasByRefAttr()) {
        root.kind = PointerRoot::Kind::kArgument;
        root.argument_offset = argument_offsets_[holder->getArgNo()] +
                               static_cast<std::uint32_t>(offset.getZExtValue());
      }
    }
    return root;
  }

  void collect_roots() {
    for (const llvm::Instruction& i : llvm::instructions(function_)) {
      const llvm::Value* pointer = pointer_of(&i);
      if (pointer == nullptr || !is_global(space_of(pointer)) ||
          space_of(pointer) == kConstantSpace)
        continue;
      for (const llvm::Value* object : objects_of(pointer)) {
        if (object != nullptr && (llvm::isa<llvm::AllocaInst>(object) ||
                                  object->getType()->getPointerAddressSpace() == kLdsSpace))
          continue;
        const bool loads = llvm::isa<llvm::LoadInst>(&i);
        if (!loads) slice_.stores.push_back(root_of(object));
        if (!llvm::isa<llvm::StoreInst>(&i) && slice_.needs(&i))
          slice_.needed_loads.push_back(root_of(object));
      }
    }
  }

  void collect_deciding_atomics() {
    if (kind_ == SliceKind::kAddressesAndStores) {
      // There results are needed for stored values too; the plain slice knows the difference.
      slice_.deciding_atomics =
          Slicer(function_, SliceKind::kAddresses, argument_offsets_).run().deciding_atomics;
    }
    if (kind_ != SliceKind::kAddresses) return;
    for (const llvm::Instruction& i : llvm::instructions(function_)) {
      // A compare-and-swap's result nearly always decides its own retry, nothing else.
      if (llvm::isa<llvm::AtomicRMWInst>(&i) && slice_.needs(&i) &&
          is_global(space_of(pointer_of(&i))))
        slice_.deciding_atomics.insert(&i);
    }
  }

  const llvm::Function& function_;
  SliceKind kind_;
  const std::vector<std::uint32_t>& argument_offsets_;
  Slice slice_;
  Objects objects_;
  std::vector<const llvm::Instruction*> work_;
};

}  // namespace

bool is_recorded(const llvm::Value* pointer) {
  const unsigned space = space_of(pointer);
  if (space != kConstantSpace) return is_global(space);
  // Constant memory is a __constant__ variable, or the arguments: explicit and implicit ones.
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0);
  return !llvm::isa<llvm::Argument>(object) && !llvm::isa<llvm::CallBase>(object);
}

Slice slice_kernel(const llvm::Function& function, SliceKind kind,
                   const std::vector<std::uint32_t>& argument_offsets) {
  return Slicer(function, kind, argument_offsets).run();
}

}  // namespace swizzleperf::vgpu
