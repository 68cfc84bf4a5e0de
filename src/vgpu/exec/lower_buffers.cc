// A buffer resource is 128 bits: the base address (48 bits), the stride of a record (14 bits), the
// size (32 bits; bytes of a raw buffer, records of a structured one) and format bits that linear
// memory has no use for. An access whose offset lies beyond the size reads 0 or does nothing:
//
//     if (offset + bytes <= size) value = load (base + scalar offset + offset)
//
// Compilers rely on it for masked accesses, whose offsets they set to 2^31. The scalar offset takes
// no part in the comparison. Swizzled buffers and the other flags are not modelled.
//
// Where the resource is made by make.buffer.rsrc in sight, its parts are that call's operands, and
// the pointer keeps its origin; otherwise they are cut out of the bits.
#include "vgpu/exec/lower_buffers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>
#include <string>

#include "vgpu/exec/slice.h"

namespace swizzleperf::vgpu {
namespace {

/// An intrinsic's name taken apart: "struct.ptr.buffer.atomic.add.i32" is {struct, atomic, add}.
struct Instruction {
  enum class Kind {
    kLoad,
    kStore,
    kAtomic,
    kLoadLds,
    kScalarLoad,
    kGlobalToLds,
    kMakeResource
  } kind;
  bool structured = false;
  std::string operation;  ///< of an atomic
};

std::optional<Instruction> parse(llvm::StringRef name) {
  using Kind = Instruction::Kind;
  if (!name.consume_front("llvm.amdgcn.")) return std::nullopt;
  if (name.starts_with("make.buffer.rsrc")) return Instruction{Kind::kMakeResource, false, {}};
  if (name.starts_with("global.load.lds") || name.starts_with("load.to.lds"))
    return Instruction{Kind::kGlobalToLds, false, {}};
  if (name.starts_with("s.buffer.load")) return Instruction{Kind::kScalarLoad, false, {}};
  Instruction found{Kind::kLoad, name.starts_with("struct."), {}};
  if (!name.consume_front("raw.") && !name.consume_front("struct.")) return std::nullopt;
  name.consume_front("ptr.");
  if (!name.consume_front("buffer.")) return std::nullopt;
  const bool has_format = name.starts_with("load.format") || name.starts_with("store.format");
  if (has_format || name.starts_with("load.async")) return std::nullopt;
  if (name.starts_with("load.lds")) {
    found.kind = Kind::kLoadLds;
  } else if (name.consume_front("atomic.")) {
    found.kind = Kind::kAtomic;
    found.operation = name.split('.').first.str();
    if (found.operation == "cond") return std::nullopt;
  } else if (name.starts_with("store")) {
    found.kind = Kind::kStore;
  } else if (!name.starts_with("load")) {
    return std::nullopt;
  }
  return found;
}

std::optional<llvm::AtomicRMWInst::BinOp> atomic_operation(const std::string& name) {
  using B = llvm::AtomicRMWInst;
  static const std::pair<const char*, B::BinOp> known[] = {
      {"swap", B::Xchg}, {"add", B::Add},   {"sub", B::Sub},      {"smin", B::Min},
      {"smax", B::Max},  {"umin", B::UMin}, {"umax", B::UMax},    {"and", B::And},
      {"or", B::Or},     {"xor", B::Xor},   {"inc", B::UIncWrap}, {"dec", B::UDecWrap},
      {"fadd", B::FAdd}, {"fmin", B::FMin}, {"fmax", B::FMax}};
  for (const auto& [text, operation] : known)
    if (name == text) return operation;
  return std::nullopt;
}

struct Resource {
  llvm::Value* base;    // a pointer
  llvm::Value* stride;  // i64
  llvm::Value* size;    // i64
};

class Lowering {
 public:
  Lowering(llvm::IntrinsicInst& i, const Instruction& what) : i_(i), what_(what), build_(&i) {}

  void run() {
    using Kind = Instruction::Kind;
    switch (what_.kind) {
      case Kind::kMakeResource:
        return make_resource();
      case Kind::kGlobalToLds:
        return global_to_lds();
      case Kind::kScalarLoad:
        return finish(conditional_load(i_.getType(), address(0, i_.getArgOperand(1), nullptr)));
      case Kind::kLoad:
        return finish(conditional_load(i_.getType(), addressed(0)));
      case Kind::kStore:
        return store();
      case Kind::kAtomic:
        return atomic();
      case Kind::kLoadLds:
        return load_lds();
    }
  }

 private:
  struct Address {
    llvm::Value* pointer;
    llvm::Value* offset;  // i64, what is compared
    llvm::Value* size;
    bool in_records = false;
  };

  llvm::Value* wide(llvm::Value* v) { return build_.CreateZExtOrTrunc(v, build_.getInt64Ty()); }

  Resource resource(llvm::Value* v) {
    if (const auto* made = llvm::dyn_cast<llvm::IntrinsicInst>(v))
      if (made->getIntrinsicID() == llvm::Intrinsic::amdgcn_make_buffer_rsrc)
        return {made->getArgOperand(0), wide(made->getArgOperand(1)), wide(made->getArgOperand(2))};
    llvm::Type* all = build_.getInt128Ty();
    llvm::Value* bits =
        v->getType()->isPointerTy() ? build_.CreatePtrToInt(v, all) : build_.CreateBitCast(v, all);
    llvm::Value* low = build_.CreateTrunc(bits, build_.getInt64Ty());
    llvm::Value* high = build_.CreateTrunc(build_.CreateLShr(bits, 64), build_.getInt64Ty());
    llvm::Value* base = build_.CreateAnd(low, build_.getInt64((std::uint64_t{1} << 48) - 1));
    return {build_.CreateIntToPtr(base, build_.getPtrTy(kGlobalSpace)),
            build_.CreateAnd(build_.CreateLShr(low, 48), build_.getInt64(0x3fff)),
            build_.CreateAnd(high, build_.getInt64(0xffffffff))};
  }

  Address address(unsigned first, llvm::Value* offset, llvm::Value* scalar_offset,
                  llvm::Value* record = nullptr) {
    const Resource r = resource(i_.getArgOperand(first));
    Address a{r.base, wide(offset), r.size};
    llvm::Value* moved = a.offset;
    if (record != nullptr) {
      llvm::Value* index = wide(record);
      moved = build_.CreateAdd(moved, build_.CreateMul(index, r.stride));
      a.offset = index;
      a.in_records = true;
    }
    if (scalar_offset != nullptr) moved = build_.CreateAdd(moved, wide(scalar_offset));
    a.pointer = build_.CreatePtrAdd(r.base, moved);
    return a;
  }

  /// The operands (resource, [record,] offset, scalar offset) from `first`.
  Address addressed(unsigned first) {
    const unsigned k = what_.structured ? first + 1 : first;
    return address(first, i_.getArgOperand(k + 1), i_.getArgOperand(k + 2),
                   what_.structured ? i_.getArgOperand(k) : nullptr);
  }

  llvm::Value* inside(const Address& a, std::uint64_t bytes) {
    return build_.CreateICmpULE(
        build_.CreateAdd(a.offset, build_.getInt64(a.in_records ? 1 : bytes)), a.size);
  }

  std::uint64_t bytes_of(llvm::Type* type) {
    return i_.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
  }

  /// Where what the condition guards is built; the builder then stands behind it.
  template <class Body>
  llvm::Value* guarded(llvm::Value* condition, llvm::Type* type, Body body) {
    llvm::BasicBlock* head = i_.getParent();
    llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(condition, &i_, /*Unreachable=*/false);
    llvm::IRBuilder<> inner(end);
    inner.SetCurrentDebugLocation(i_.getDebugLoc());
    llvm::Value* value = body(inner);
    build_.SetInsertPoint(&i_);
    if (type->isVoidTy()) return nullptr;
    llvm::BasicBlock* tail = i_.getParent();
    llvm::PHINode* phi = llvm::PHINode::Create(type, 2, "", tail->begin());
    phi->addIncoming(value, end->getParent());
    phi->addIncoming(llvm::Constant::getNullValue(type), head);
    return phi;
  }

  llvm::Value* conditional_load(llvm::Type* type, const Address& a) {
    return guarded(inside(a, bytes_of(type)), type, [&](llvm::IRBuilder<>& inner) {
      return inner.CreateAlignedLoad(type, a.pointer, llvm::Align(1));
    });
  }

  void store() {
    llvm::Value* data = i_.getArgOperand(0);
    const Address a = addressed(1);
    guarded(inside(a, bytes_of(data->getType())), i_.getType(), [&](llvm::IRBuilder<>& inner) {
      return inner.CreateAlignedStore(data, a.pointer, llvm::Align(1));
    });
    finish(nullptr);
  }

  void atomic() {
    const bool swaps = what_.operation == "cmpswap";
    const auto operation = atomic_operation(what_.operation);
    if (!swaps && !operation) return;
    llvm::Value* data = i_.getArgOperand(0);
    const Address a = addressed(swaps ? 2 : 1);
    llvm::Type* type = data->getType();
    const auto order = llvm::AtomicOrdering::Monotonic;
    finish(guarded(inside(a, bytes_of(type)), type, [&](llvm::IRBuilder<>& inner) -> llvm::Value* {
      const llvm::Align align(bytes_of(type));
      if (!swaps) return inner.CreateAtomicRMW(*operation, a.pointer, data, align, order);
      llvm::Value* pair =
          inner.CreateAtomicCmpXchg(a.pointer, i_.getArgOperand(1), data, align, order, order);
      return inner.CreateExtractValue(pair, 0);
    }));
  }

  llvm::Type* type_of_bytes(llvm::Value* size) {
    const std::uint64_t bytes = llvm::cast<llvm::ConstantInt>(size)->getZExtValue();
    if (bytes <= 4) return build_.getIntNTy(static_cast<unsigned>(8 * bytes));
    return llvm::FixedVectorType::get(build_.getInt32Ty(), static_cast<unsigned>(bytes / 4));
  }

  /// Lanes write side by side, from the first lane's base.
  void store_to_lds(llvm::Value* data, llvm::Value* base, llvm::Value* offset) {
    llvm::Value* all = build_.getInt32(~0U);
    llvm::Value* lower =
        build_.CreateIntrinsic(llvm::Intrinsic::amdgcn_mbcnt_lo, {}, {all, build_.getInt32(0)});
    llvm::Value* lane = build_.CreateIntrinsic(llvm::Intrinsic::amdgcn_mbcnt_hi, {}, {all, lower});
    const auto step =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(4, bytes_of(data->getType())));
    llvm::Value* start = build_.CreatePtrToInt(base, build_.getInt32Ty());
    start = build_.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {build_.getInt32Ty()},
                                   {start});
    llvm::Value* at = build_.CreateAdd(build_.CreateMul(lane, build_.getInt32(step)), offset);
    // From the array itself, so that it stays known which one is written.
    llvm::Value* away = build_.CreateSub(start, build_.CreatePtrToInt(base, build_.getInt32Ty()));
    build_.CreateAlignedStore(data, build_.CreatePtrAdd(base, build_.CreateAdd(away, at)),
                              llvm::Align(4));
  }

  void load_lds() {
    // resource, LDS, size, [record,] offset, scalar offset, immediate offset
    const unsigned k = what_.structured ? 4 : 3;
    llvm::Value* immediate = i_.getArgOperand(k + 2);
    llvm::Value* offset = build_.CreateAdd(i_.getArgOperand(k), immediate);
    const Address a = address(0, offset, i_.getArgOperand(k + 1),
                              what_.structured ? i_.getArgOperand(3) : nullptr);
    llvm::Value* data = conditional_load(type_of_bytes(i_.getArgOperand(2)), a);
    store_to_lds(data, i_.getArgOperand(1), immediate);
    finish(nullptr);
  }

  void global_to_lds() {
    llvm::Value* offset = i_.getArgOperand(3);
    llvm::Value* from =
        build_.CreatePtrAdd(i_.getArgOperand(0), build_.CreateSExt(offset, build_.getInt64Ty()));
    llvm::Value* data =
        build_.CreateAlignedLoad(type_of_bytes(i_.getArgOperand(2)), from, llvm::Align(1));
    store_to_lds(data, i_.getArgOperand(1), offset);
    finish(nullptr);
  }

  /// For uses that the others did not look through: the 128 bits.
  void make_resource() {
    if (i_.use_empty()) return finish(nullptr);
    llvm::Type* all = build_.getInt128Ty();
    const auto at = [&](llvm::Value* v, unsigned shift) {
      return build_.CreateShl(build_.CreateZExtOrTrunc(v, all), shift);
    };
    llvm::Value* base = build_.CreatePtrToInt(i_.getArgOperand(0), build_.getInt64Ty());
    llvm::Value* size = build_.CreateTrunc(wide(i_.getArgOperand(2)), build_.getInt32Ty());
    llvm::Value* bits = build_.CreateOr(at(base, 0), at(i_.getArgOperand(1), 48));
    bits = build_.CreateOr(bits, build_.CreateOr(at(size, 64), at(i_.getArgOperand(3), 96)));
    finish(build_.CreateIntToPtr(bits, i_.getType()));
  }

  void finish(llvm::Value* value) {
    if (value != nullptr) {
      value->takeName(&i_);
      i_.replaceAllUsesWith(value);
    }
    i_.eraseFromParent();
  }

  llvm::IntrinsicInst& i_;
  const Instruction& what_;
  llvm::IRBuilder<> build_;
};

}  // namespace

bool is_buffer_instruction(const llvm::IntrinsicInst& i) {
  return parse(i.getCalledFunction()->getName()).has_value();
}

void lower_buffer_instruction(llvm::IntrinsicInst& i) {
  if (const auto what = parse(i.getCalledFunction()->getName())) Lowering(i, *what).run();
}

}  // namespace swizzleperf::vgpu
