// IR values as registers: how a type falls apart into scalars, where constants and variables live,
// and how an operation is appended.
#include <fmt/format.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "swizzleperf/error.h"
#include "vgpu/exec/translate/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {

std::string text_of(const llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out);
  return text;
}

// ---- Types

void Translator::flatten(llvm::Type* type, std::uint32_t offset,
                         llvm::SmallVectorImpl<Scalar>& out) const {
  const auto bytes = [&] {
    return static_cast<std::uint32_t>(layout_.getTypeStoreSize(type).getFixedValue());
  };
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) {
    const std::uint32_t bits = type->getIntegerBitWidth();
    out.push_back({integer_type(bits), bits, offset, bytes()});
  } else if (type->isIntegerTy(128) ||
             (type->isPointerTy() && layout_.getPointerTypeSizeInBits(type) == 128)) {
    // The pointer is a buffer resource.
    out.push_back({Type::kI64, 64, offset, 8});
    out.push_back({Type::kI64, 64, offset + 8, 8});
  } else if (type->isHalfTy()) {
    out.push_back({Type::kF16, 16, offset, 2});
  } else if (type->isBFloatTy()) {
    out.push_back({Type::kBF16, 16, offset, 2});
  } else if (type->isFloatTy()) {
    out.push_back({Type::kF32, 32, offset, 4});
  } else if (type->isDoubleTy()) {
    out.push_back({Type::kF64, 64, offset, 8});
  } else if (type->isPointerTy() && layout_.getPointerTypeSizeInBits(type) <= 64) {
    const std::uint32_t bits = layout_.getPointerTypeSizeInBits(type);
    out.push_back({integer_type(bits), bits, offset, bits / 8});
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
             vector != nullptr && !vector->getElementType()->isIntegerTy(128)) {
    llvm::Type* element = vector->getElementType();
    const auto step = static_cast<std::uint32_t>(layout_.getTypeStoreSize(element).getFixedValue());
    for (unsigned k = 0; k < vector->getNumElements(); ++k)
      flatten(element, offset + k * step, out);
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const auto step = static_cast<std::uint32_t>(
        layout_.getTypeAllocSize(array->getElementType()).getFixedValue());
    for (std::uint64_t k = 0; k < array->getNumElements(); ++k)
      flatten(array->getElementType(), offset + static_cast<std::uint32_t>(k) * step, out);
  } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* fields = layout_.getStructLayout(structure);
    for (unsigned k = 0; k < structure->getNumElements(); ++k)
      flatten(structure->getElementType(k),
              offset + static_cast<std::uint32_t>(fields->getElementOffset(k).getFixedValue()),
              out);
  } else {
    const std::string what = fmt::format("a value of type {}", text_of(type));
    if (current_ != nullptr) refuse(*current_, what);
    throw input_error(
        fmt::format("kernel {}: {} is not supported by the virtual GPU", kernel_.name, what));
  }
}

llvm::SmallVector<Scalar, 4> Translator::scalars_of(llvm::Type* type) const {
  llvm::SmallVector<Scalar, 4> out;
  flatten(type, 0, out);
  return out;
}

Scalar Translator::scalar_of(llvm::Type* type) const {
  const auto all = scalars_of(type);
  if (all.size() != 1) refuse(*current_, fmt::format("a value of type {} here", text_of(type)));
  return all[0];
}

/// Scalars of an aggregate before its member `index`.
std::uint32_t Translator::elements_before(llvm::Type* aggregate, unsigned index) const {
  std::uint32_t n = 0;
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(aggregate)) {
    for (unsigned k = 0; k < index; ++k)
      n += static_cast<std::uint32_t>(scalars_of(structure->getElementType(k)).size());
    return n;
  }
  llvm::Type* element = llvm::isa<llvm::ArrayType>(aggregate)
                            ? llvm::cast<llvm::ArrayType>(aggregate)->getElementType()
                            : llvm::cast<llvm::FixedVectorType>(aggregate)->getElementType();
  return index * static_cast<std::uint32_t>(scalars_of(element).size());
}

// ---- Registers

std::uint32_t Translator::new_register(Type type, bool uniform) {
  if (uniform || type == Type::kMask) {
    if (slot_left_ == 0) {
      slot_chunk_ = program_->register_bytes;
      program_->register_bytes += 64;
      slot_left_ = 8;
    }
    const std::uint32_t offset = slot_chunk_ + 8 * (8 - slot_left_);
    --slot_left_;
    return uniform ? offset | kUniformBit : offset;
  }
  const std::uint32_t offset = program_->register_bytes;
  program_->register_bytes += kLanes * size_of(type);
  return offset;
}

std::uint32_t Translator::constant(Type type, std::uint64_t bits) {
  const std::uint64_t value = type == Type::kMask ? ((bits & 1) != 0 ? ~std::uint64_t{0} : 0)
                                                  : bits & ones(8 * size_of(type));
  const auto [it, is_new] = constants_.try_emplace({raw(type), value}, 0);
  if (is_new) {
    it->second = new_register(type, true);
    program_->constants.emplace_back(it->second & ~kUniformBit, value);
  }
  return it->second;
}

std::uint64_t Translator::global_address(const llvm::GlobalVariable* variable) {
  if (variable->getAddressSpace() == kLdsSpace) {
    const auto it = lds_.offsets.find(variable);
    if (it != lds_.offsets.end()) return it->second;
    refuse(*current_, fmt::format("LDS variable '{}'", variable->getName().str()));
  }
  return kernel_.variable_address(*variable);
}

/// The value of a scalar constant; addresses of variables are known by now.
std::uint64_t Translator::constant_bits(const llvm::Constant* c) {
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(c)) return integer->getZExtValue();
  if (const auto* number = llvm::dyn_cast<llvm::ConstantFP>(c))
    return number->getValueAPF().bitcastToAPInt().getZExtValue();
  if (llvm::isa<llvm::ConstantPointerNull>(c)) {
    const unsigned space = c->getType()->getPointerAddressSpace();
    return space == kLdsSpace || space == kPrivateSpace ? kNull32 : 0;
  }
  if (llvm::isa<llvm::UndefValue>(c) || c->isNullValue()) return 0;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(c))
    return global_address(variable);
  if (const auto* f = llvm::dyn_cast<llvm::Function>(c)) return kernel_.function_address(*f);
  if (const auto* e = llvm::dyn_cast<llvm::ConstantExpr>(c)) {
    const auto first = [&] { return constant_bits(e->getOperand(0)); };
    const auto second = [&] { return constant_bits(e->getOperand(1)); };
    switch (e->getOpcode()) {
      case llvm::Instruction::GetElementPtr: {
        const auto* address = llvm::cast<llvm::GEPOperator>(e);
        llvm::APInt offset(layout_.getIndexTypeSizeInBits(e->getType()), 0);
        if (!address->accumulateConstantOffset(layout_, offset)) break;
        return first() + static_cast<std::uint64_t>(offset.getSExtValue());
      }
      case llvm::Instruction::AddrSpaceCast: {
        const unsigned from = e->getOperand(0)->getType()->getPointerAddressSpace();
        if (from == kLdsSpace) return kLdsAperture | first();
        return first();
      }
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::IntToPtr:
      case llvm::Instruction::BitCast:
        return first();
      case llvm::Instruction::Trunc:
        return first() & ones(e->getType()->getIntegerBitWidth());
      case llvm::Instruction::Add:
        return first() + second();
      case llvm::Instruction::Sub:
        return first() - second();
      case llvm::Instruction::Xor:
        return first() ^ second();
      default:
        break;
    }
  }
  refuse(*current_, fmt::format("a constant of type {}", text_of(c->getType())));
}

void Translator::constant_scalars(const llvm::Constant* c, llvm::Type* type, Operands& out) {
  if (type->isVectorTy() || type->isAggregateType()) {
    const unsigned n = type->isStructTy() ? type->getStructNumElements()
                       : type->isArrayTy()
                           ? static_cast<unsigned>(type->getArrayNumElements())
                           : llvm::cast<llvm::FixedVectorType>(type)->getNumElements();
    for (unsigned k = 0; k < n; ++k) {
      const llvm::Constant* member = c->getAggregateElement(k);
      if (member == nullptr) refuse(*current_, "a constant vector expression");
      constant_scalars(member, member->getType(), out);
    }
    return;
  }
  if (type->isIntegerTy(128)) {
    const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(c);
    const llvm::APInt bits = integer == nullptr ? llvm::APInt(128, 0) : integer->getValue();
    for (unsigned k = 0; k < 2; ++k)
      out.push_back(constant(Type::kI64, bits.extractBitsAsZExtValue(64, 64 * k)));
    return;
  }
  out.push_back(constant(scalar_of(type).type, constant_bits(c)));
}

const Operands& Translator::operands(const llvm::Value* value) {
  const auto it = values_.find(value);
  if (it != values_.end()) return it->second;
  Operands registers;
  if (const auto* c = llvm::dyn_cast<llvm::Constant>(value)) {
    constant_scalars(c, c->getType(), registers);
  } else {
    refuse(*current_, "a value used before it is computed");
  }
  return values_[value] = std::move(registers);
}

std::uint32_t Translator::operand(const llvm::Value* value) {
  const Operands& all = operands(value);
  if (all.size() != 1)
    refuse(*current_, fmt::format("an operand of type {}", text_of(value->getType())));
  return all[0];
}

void Translator::define(const llvm::Value* value, Operands registers) {
  values_[value] = std::move(registers);
}

// ---- Operations

Op& Translator::append(Op op) {
  program_->ops.push_back(op);
  program_->locations.push_back(location_);
  return program_->ops.back();
}

std::uint32_t Translator::emit(Code code, Type type, Type result,
                               std::initializer_list<std::uint32_t> args, std::int64_t imm,
                               std::int64_t imm2) {
  bool uniform = std::all_of(args.begin(), args.end(), is_uniform);
  if (table_.find(code, type, uniform) == nullptr) uniform = !uniform;
  Op op;
  op.run = table_.find(code, type, uniform);
  if (op.run == nullptr) refuse(*current_, "this operation on this type");
  op.d = new_register(result, uniform);
  const auto* arg = args.begin();
  if (args.size() > 0) op.a = arg[0];
  if (args.size() > 1) op.b = arg[1];
  if (args.size() > 2) op.c = arg[2];
  op.imm = imm;
  op.imm2 = imm2;
  return append(op).d;
}

std::uint32_t Translator::convert(Type from, Type to, bool sign, std::uint32_t a) {
  const bool uniform = is_uniform(a);
  Op op;
  op.run = table_.conversion(from, to, sign, uniform);
  if (op.run == nullptr) refuse(*current_, "this conversion");
  op.a = a;
  op.d = new_register(to, uniform);
  return append(op).d;
}

std::uint32_t Translator::to_uniform(Type type, std::uint32_t a) {
  if (is_uniform(a)) return a;
  if (type != Type::kMask) return emit(Code::kReadFirstLane, raw(type), {a});
  const std::uint32_t byte = convert(Type::kMask, Type::kI8, false, a);
  return convert(Type::kI8, Type::kMask, false, emit(Code::kReadFirstLane, Type::kI8, {byte}));
}

std::uint32_t Translator::to_divergent(Type type, std::uint32_t a) {
  if (!is_uniform(a) || type == Type::kMask) return a & ~kUniformBit;
  Op op;
  op.run = table_.find(Code::kMove, raw(type), false);
  op.a = a;
  op.d = new_register(type, false);
  return append(op).d;
}

std::uint32_t Translator::sign_extended(const Scalar& s, std::uint32_t a) {
  const std::uint32_t spare = width_of(s.type) - s.bits;
  if (spare == 0) return a;
  const std::uint32_t shift = constant(s.type, spare);
  return emit(Code::kAShr, s.type, {emit(Code::kShl, s.type, {a, shift}), shift});
}

std::uint32_t Translator::cleaned(const Scalar& s, std::uint32_t a) {
  if (width_of(s.type) == s.bits) return a;
  return emit(Code::kAnd, s.type, {a, constant(s.type, ones(s.bits))});
}

std::uint32_t Translator::list_of(const Operands& registers) {
  const auto first = static_cast<std::uint32_t>(program_->lists.size());
  program_->lists.insert(program_->lists.end(), registers.begin(), registers.end());
  return first;
}

/// Zero-extends or truncates an integer.
std::uint32_t Translator::resized(std::uint32_t a, Type from, Type to) {
  return from == to ? a : convert(from, to, false, a);
}

/// Defines an instruction's value. What the analysis proves uniform but had to be computed lane by
/// lane is read from one lane, so that everything after it is computed once.
void Translator::result(const llvm::Instruction& i, Operands registers) {
  if (kernel_.facts->uniformity().isUniform(&i)) {
    bool divergent = false;
    for (const std::uint32_t r : registers) divergent |= !is_uniform(r);
    if (divergent) {
      const auto scalars = scalars_of(i.getType());
      for (std::size_t k = 0; k < registers.size(); ++k)
        registers[k] = to_uniform(scalars[k].type, registers[k]);
    }
  }
  define(&i, std::move(registers));
}

std::uint32_t Translator::to_flat(std::uint32_t pointer, unsigned space) {
  if (space != kLdsSpace && space != kPrivateSpace) return pointer;
  const std::uint64_t aperture = space == kLdsSpace ? kLdsAperture : kPrivateAperture;
  return emit(Code::kToFlat32, Type::kI64, {pointer}, static_cast<std::int64_t>(aperture));
}

/// The same bits under another type. Equal widths share registers; otherwise the bits are cut into
/// the largest common unit and put together again.
Operands Translator::recast(const Operands& from, llvm::Type* from_type, llvm::Type* to_type) {
  const auto source = scalars_of(from_type);
  const auto target = scalars_of(to_type);
  const auto same_width = [&] {
    if (source.size() != target.size()) return false;
    for (std::size_t k = 0; k < source.size(); ++k)
      if (source[k].bits != target[k].bits) return false;
    return true;
  };
  if (same_width()) return from;
  const std::uint32_t unit =
      std::min({source[0].bits, target[0].bits,
                (source[0].bits | target[0].bits) & -(source[0].bits | target[0].bits)});
  const Type unit_type = integer_type(unit);
  Operands units;
  for (std::size_t k = 0; k < source.size(); ++k) {
    for (std::uint32_t at = 0; at < source[k].bits; at += unit) {
      if (source[k].bits == unit) {
        units.push_back(from[k]);
      } else if (unit == 1) {
        const std::uint32_t shifted =
            emit(Code::kLShr, raw(source[k].type), {from[k], constant(source[k].type, at)});
        units.push_back(convert(raw(source[k].type), Type::kMask, false, shifted));
      } else {
        units.push_back(emit(Code::kUnpack, unit_type, {from[k]}, at, size_of(source[k].type)));
      }
    }
  }
  Operands out;
  std::size_t next = 0;
  for (const Scalar& t : target) {
    const std::uint32_t count = t.bits / unit;
    if (count == 1) {
      out.push_back(units[next++]);
      continue;
    }
    Operands parts(units.begin() + static_cast<std::ptrdiff_t>(next),
                   units.begin() + static_cast<std::ptrdiff_t>(next + count));
    next += count;
    const bool uniform = std::all_of(parts.begin(), parts.end(), is_uniform);
    Op op;
    op.run = table_.find(Code::kPack, raw(t.type), uniform);
    op.d = new_register(t.type, uniform);
    op.list = list_of(parts);
    op.count = count;
    op.imm = unit;
    out.push_back(append(op).d);
  }
  return out;
}

}  // namespace swizzleperf::vgpu
