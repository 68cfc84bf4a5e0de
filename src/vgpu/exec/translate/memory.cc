// Addresses and memory. An access stays one operation whatever its width, because one access of the
// hardware is one access of the trace.
#include <fmt/format.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "vgpu/exec/translate/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

/// Can these be moved by one operation?
bool is_homogeneous(const llvm::SmallVectorImpl<Scalar>& elements) {
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const Scalar& s = elements[k];
    if (s.type == Type::kMask || s.bytes != size_of(s.type) || s.bytes != elements[0].bytes ||
        s.offset != elements[0].offset + k * s.bytes)
      return false;
  }
  return true;
}

AtomicKind atomic_kind(llvm::AtomicRMWInst::BinOp op) {
  using B = llvm::AtomicRMWInst;
  switch (op) {
    case B::Xchg:
      return AtomicKind::kExchange;
    case B::Add:
      return AtomicKind::kAdd;
    case B::Sub:
      return AtomicKind::kSub;
    case B::And:
      return AtomicKind::kAnd;
    case B::Nand:
      return AtomicKind::kNand;
    case B::Or:
      return AtomicKind::kOr;
    case B::Xor:
      return AtomicKind::kXor;
    case B::Max:
      return AtomicKind::kMax;
    case B::Min:
      return AtomicKind::kMin;
    case B::UMax:
      return AtomicKind::kUMax;
    case B::UMin:
      return AtomicKind::kUMin;
    case B::FAdd:
      return AtomicKind::kFAdd;
    case B::FSub:
      return AtomicKind::kFSub;
    case B::FMax:
      return AtomicKind::kFMax;
    case B::FMin:
      return AtomicKind::kFMin;
    case B::UIncWrap:
      return AtomicKind::kIncWrap;
    case B::UDecWrap:
      return AtomicKind::kDecWrap;
    case B::USubCond:
      return AtomicKind::kCondSub;
    case B::USubSat:
      return AtomicKind::kSubClamp;
    default:
      return AtomicKind::kCompareExchange;  // stands for "none"
  }
}

}  // namespace

void Translator::address(const llvm::GetElementPtrInst& i) {
  const auto& gep = llvm::cast<llvm::GEPOperator>(i);
  const unsigned bits = layout_.getIndexTypeSizeInBits(i.getType());
  llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> variables;
  llvm::APInt plus(bits, 0);
  if (!gep.collectOffset(layout_, bits, variables, plus)) refuse(i, "this address computation");
  const Type type = integer_type(bits);
  std::uint32_t at = operand(i.getPointerOperand());
  std::int64_t rest = plus.getSExtValue();
  for (const auto& [index, scale] : variables) {
    // An index is sign-extended to the pointer's width; extensions from 32 bits are part of the
    // operation.
    const llvm::Value* value = index;
    Code code = Code::kAddress;
    Type from = scalar_of(value->getType()).type;
    if (type == Type::kI64) {
      const auto* extension = llvm::dyn_cast<llvm::CastInst>(index);
      const bool folds =
          extension != nullptr && values_.contains(extension->getOperand(0)) &&
          extension->getSrcTy()->isIntegerTy(32) &&
          (llvm::isa<llvm::SExtInst>(extension) || llvm::isa<llvm::ZExtInst>(extension));
      if (folds) {
        value = extension->getOperand(0);
        code = llvm::isa<llvm::SExtInst>(extension) ? Code::kAddressS32 : Code::kAddressU32;
        from = Type::kI64;
      } else if (from == Type::kI32) {
        code = Code::kAddressS32;
        from = Type::kI64;
      }
    }
    std::uint32_t x = sign_extended(scalar_of(value->getType()), operand(value));
    if (from != type) x = convert(from, type, true, x);
    at = emit(code, type, {at, x}, scale.getSExtValue(), rest);
    rest = 0;
  }
  if (rest != 0)
    at = emit(Code::kAdd, type, {at, constant(type, static_cast<std::uint64_t>(rest))});
  result(i, {at});
}

/// One access of `elements` (all of one size, without gaps).
void Translator::memory(const llvm::Instruction& i, unsigned space, std::uint32_t pointer,
                        bool is_store, const llvm::SmallVectorImpl<Scalar>& elements,
                        Operands& registers) {
  const Type type = raw(elements[0].type);
  Code code = Code::kLoad;
  bool uniform = false;
  switch (space) {
    case kGlobalSpace:
    case kConstantSpace:
      uniform = !is_store && is_uniform(pointer);
      code = is_store ? Code::kStore : uniform ? Code::kLoadUniform : Code::kLoad;
      break;
    case kLdsSpace:
      uniform = !is_store && is_uniform(pointer);
      code = is_store ? Code::kStoreLds : uniform ? Code::kLoadLdsUniform : Code::kLoadLds;
      break;
    case kPrivateSpace:
      code = is_store ? Code::kStorePrivate : Code::kLoadPrivate;
      break;
    case kFlatSpace:
      code = is_store ? Code::kStoreFlat : Code::kLoadFlat;
      break;
    default:
      refuse(i, fmt::format("address space {}", space));
  }
  if (!is_store) {
    registers.clear();
    for (const Scalar& s : elements) registers.push_back(new_register(raw(s.type), uniform));
  }
  Op op;
  op.run = table_.find(code, type, uniform);
  op.a = pointer;
  op.list = list_of(registers);
  op.count = static_cast<std::uint32_t>(elements.size());
  op.bytes = op.count * size_of(type);
  op.site = program_->sites++;
  append(op);
}

void Translator::load(const llvm::LoadInst& i) {
  const llvm::Value* pointer = i.getPointerOperand();
  const unsigned space = i.getPointerAddressSpace();
  if (!slice_.needs(&i)) {
    if (is_recorded(pointer))
      touch(pointer, AccessKind::kLoad,
            static_cast<std::uint32_t>(layout_.getTypeStoreSize(i.getType()).getFixedValue()));
    return;
  }
  const auto elements = scalars_of(i.getType());
  const std::uint32_t at = operand(pointer);
  Operands out;
  if (is_homogeneous(elements)) {
    memory(i, space, at, false, elements, out);
    result(i, std::move(out));
    return;
  }
  const Type pointer_type = scalar_of(pointer->getType()).type;
  for (const Scalar& s : elements) {
    Scalar one = s;
    if (s.type == Type::kMask) one = {Type::kI8, 8, s.offset, 1};
    if (one.bytes != size_of(one.type))
      refuse(i, fmt::format("a load of {}", text_of(i.getType())));
    const std::uint32_t here =
        emit(Code::kAdd, pointer_type, {at, constant(pointer_type, s.offset)});
    Operands loaded;
    memory(i, space, here, false, llvm::SmallVector<Scalar, 4>{one}, loaded);
    out.push_back(s.type == Type::kMask ? convert(Type::kI8, Type::kMask, false, loaded[0])
                                        : loaded[0]);
  }
  result(i, std::move(out));
}

void Translator::store(const llvm::StoreInst& i) {
  const llvm::Value* pointer = i.getPointerOperand();
  const unsigned space = i.getPointerAddressSpace();
  llvm::Type* type = i.getValueOperand()->getType();
  if (!slice_.performs(&i)) {
    if (is_recorded(pointer))
      touch(pointer, AccessKind::kStore,
            static_cast<std::uint32_t>(layout_.getTypeStoreSize(type).getFixedValue()));
    return;
  }
  const auto elements = scalars_of(type);
  const std::uint32_t at = operand(pointer);
  Operands values = operands(i.getValueOperand());
  if (is_homogeneous(elements)) {
    memory(i, space, at, true, elements, values);
    return;
  }
  const Type pointer_type = scalar_of(pointer->getType()).type;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    Scalar one = elements[k];
    Operands value{values[k]};
    if (one.type == Type::kMask) {
      one = {Type::kI8, 8, one.offset, 1};
      value[0] = convert(Type::kMask, Type::kI8, false, value[0]);
    }
    if (one.bytes != size_of(one.type)) refuse(i, fmt::format("a store of {}", text_of(type)));
    const std::uint32_t here =
        emit(Code::kAdd, pointer_type, {at, constant(pointer_type, one.offset)});
    memory(i, space, here, true, llvm::SmallVector<Scalar, 4>{one}, value);
  }
}

/// An access that is checked and recorded but not performed.
void Translator::touch(const llvm::Value* pointer, AccessKind kind, std::uint32_t bytes) {
  const std::uint32_t at = operand(pointer);
  const bool flat = pointer->getType()->getPointerAddressSpace() == kFlatSpace;
  const bool uniform = !flat && kind == AccessKind::kLoad && is_uniform(at);
  const Code code = flat ? Code::kTouchFlat : uniform ? Code::kTouchUniform : Code::kTouch;
  Op op;
  op.run = table_.find(code, Type::kI8, uniform);
  op.a = at;
  op.imm = static_cast<std::int64_t>(kind);
  op.bytes = bytes;
  op.site = program_->sites++;
  append(op);
}

void Translator::atomic(const llvm::Instruction& i, const llvm::Value* pointer,
                        const llvm::Value* value, AtomicKind kind, const llvm::Value* compared) {
  llvm::Type* type = value->getType();
  const auto bytes = static_cast<std::uint32_t>(layout_.getTypeStoreSize(type).getFixedValue());
  if (slice_.deciding_atomics.contains(&i))
    refuse(i,
           "tracing a kernel whose addresses or branches depend on the result of an atomic on "
           "global memory (blocks that take their work from a counter)");
  if (!slice_.performs(&i)) {
    if (is_recorded(pointer)) touch(pointer, AccessKind::kAtomic, bytes);
    return;
  }
  // Two halves are one word to memory.
  const auto* pair = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const bool packed = pair != nullptr && bytes == 4 && pair->getNumElements() == 2 &&
                      (kind == AtomicKind::kFAdd || kind == AtomicKind::kExchange);
  llvm::Type* word = llvm::Type::getInt32Ty(type->getContext());
  if (packed && kind == AtomicKind::kFAdd)
    kind =
        pair->getElementType()->isHalfTy() ? AtomicKind::kHalfPairAdd : AtomicKind::kBFloatPairAdd;
  const Scalar s = scalar_of(packed ? word : type);
  Code code = Code::kAtomic;
  switch (pointer->getType()->getPointerAddressSpace()) {
    case kGlobalSpace:
      break;
    case kLdsSpace:
      code = Code::kAtomicLds;
      break;
    case kPrivateSpace:
      code = Code::kAtomicPrivate;
      break;
    case kFlatSpace:
      code = Code::kAtomicFlat;
      break;
    default:
      refuse(i, "an atomic operation in this address space");
  }
  Op op;
  op.run = table_.find(code, s.type, false);
  if (op.run == nullptr || s.bits != width_of(s.type))
    refuse(i, "an atomic operation of this type");
  op.a = operand(pointer);
  op.b = packed ? recast(operands(value), type, word)[0] : operand(value);
  if (compared != nullptr) op.c = operand(compared);
  op.d = new_register(s.type, false);
  op.imm = static_cast<std::int64_t>(kind);
  op.bytes = bytes;
  op.site = program_->sites++;
  const std::uint32_t old = append(op).d;
  if (packed) {
    define(&i, recast({old}, word, type));
  } else if (compared == nullptr) {
    define(&i, {old});
  } else {
    const std::uint32_t equal = emit(Code::kEq, raw(s.type), Type::kMask, {old, op.c});
    define(&i, {old, equal});
  }
}

void Translator::allocate(const llvm::AllocaInst& i) {
  const auto size = i.getAllocationSize(layout_);
  if (!size || size->isScalable()) refuse(i, "an array of run-time size on the stack");
  const auto align = static_cast<std::uint32_t>(i.getAlign().value());
  const std::uint32_t offset = (program_->private_bytes + align - 1) / align * align;
  program_->private_bytes = offset + static_cast<std::uint32_t>(size->getFixedValue());
  if (i.getAddressSpace() != kPrivateSpace) refuse(i, "a stack variable outside private memory");
  define(&i, {constant(Type::kI32, offset)});
}

void Translator::update(const llvm::AtomicRMWInst& i) {
  const AtomicKind kind = atomic_kind(i.getOperation());
  if (kind == AtomicKind::kCompareExchange) refuse(i, "this atomic operation");
  atomic(i, i.getPointerOperand(), i.getValOperand(), kind, nullptr);
}

}  // namespace swizzleperf::vgpu
