// Instructions and control flow. One IR instruction becomes one operation per scalar of its type;
// memory accesses stay one operation whatever their width, because one access of the hardware is
// one access of the trace.
#include "vgpu/exec/translate.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>

#include "swizzleperf/error.h"
#include "vgpu/exec/cost.h"
#include "vgpu/exec/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

std::uint32_t width_of(Type type) { return type == Type::kMask ? 1 : 8 * size_of(type); }

std::uint64_t ones(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::string text_of(const llvm::Type* type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type->print(out);
  return text;
}

bool is_undefined(const llvm::Value* value) { return llvm::isa<llvm::UndefValue>(value); }

bool is_used_in(const llvm::Value* value, const llvm::Function& function) {
  for (const llvm::User* user : value->users()) {
    if (const auto* i = llvm::dyn_cast<llvm::Instruction>(user)) {
      if (i->getFunction() == &function) return true;
    } else if (llvm::isa<llvm::Constant>(user) && is_used_in(user, function)) {
      return true;
    }
  }
  return false;
}

}  // namespace

LdsLayout lay_out_lds(const llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<const llvm::GlobalVariable*> dynamic;
  LdsLayout lds;
  for (const llvm::GlobalVariable& v : function.getParent()->globals()) {
    if (v.getAddressSpace() != kLdsSpace || !is_used_in(&v, function)) continue;
    const auto bytes =
        static_cast<std::uint32_t>(layout.getTypeAllocSize(v.getValueType()).getFixedValue());
    if (bytes == 0) {
      dynamic.push_back(&v);
      continue;
    }
    const auto align = static_cast<std::uint32_t>(layout.getPreferredAlign(&v).value());
    lds.bytes = (lds.bytes + align - 1) / align * align;
    lds.offsets[&v] = lds.bytes;
    lds.bytes += bytes;
  }
  if (!dynamic.empty()) lds.bytes = (lds.bytes + 15) / 16 * 16;
  for (const llvm::GlobalVariable* v : dynamic) lds.offsets[v] = lds.bytes;
  return lds;
}

/// The innermost line in the user's own files: what HIP's headers inline is reported where they
/// were used.
SourceLine source_line(const llvm::Instruction& instruction) {
  for (const llvm::DILocation* at = instruction.getDebugLoc(); at != nullptr;
       at = at->getInlinedAt()) {
    const llvm::StringRef file = at->getFilename();
    const bool system = file.starts_with("/usr/") || file.contains("/include/hip/");
    if (at->getLine() != 0 && (!system || at->getInlinedAt() == nullptr))
      return {file.str(), at->getLine()};
  }
  return {};
}

Translator::Translator(const KernelIr& kernel, const Slice& slice)
    : kernel_(kernel),
      slice_(slice),
      function_(*kernel.function),
      layout_(kernel.function->getParent()->getDataLayout()),
      table_(operations()),
      program_(std::make_unique<Program>()),
      lds_(lay_out_lds(*kernel.function)) {
  static std::atomic<std::uint64_t> last_id{0};
  program_->id = ++last_id;
  program_->kernel = kernel.name;
  program_->wave_lanes = kernel.wave_lanes;
  program_->static_lds_bytes = lds_.bytes;
  program_->register_bytes = 64;  // offset 0 means "no register"
}

void Translator::refuse(const llvm::Instruction& i, const std::string& what) const {
  const SourceLine at = source_line(i);
  throw input_error(fmt::format("kernel {}{}: {} is not supported by the virtual GPU", kernel_.name,
                                at.line == 0 ? "" : fmt::format(" at {}:{}", at.file, at.line),
                                what));
}

// ---- Types
// ---------------------------------------------------------------------------------------

void Translator::flatten(llvm::Type* type, std::uint32_t offset,
                         llvm::SmallVectorImpl<Scalar>& out) const {
  const auto bytes = [&] {
    return static_cast<std::uint32_t>(layout_.getTypeStoreSize(type).getFixedValue());
  };
  if (type->isIntegerTy() && type->getIntegerBitWidth() <= 64) {
    const std::uint32_t bits = type->getIntegerBitWidth();
    out.push_back({integer_type(bits), bits, offset, bytes()});
  } else if (type->isIntegerTy(128)) {
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
// -----------------------------------------------------------------------------------

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
// ----------------------------------------------------------------------------------

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

// ---- Instructions
// --------------------------------------------------------------------------------

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

void Translator::binary(const llvm::BinaryOperator& i) {
  if (i.getType()->isIntegerTy(128)) return binary128(i);
  struct Row {
    Code code;
    bool sign;   // operands are sign-extended first, if odd
    bool dirty;  // the result may exceed an odd width
  };
  const Row row = [&]() -> Row {
    switch (i.getOpcode()) {
      case llvm::Instruction::Add:
        return {Code::kAdd, false, true};
      case llvm::Instruction::Sub:
        return {Code::kSub, false, true};
      case llvm::Instruction::Mul:
        return {Code::kMul, false, true};
      case llvm::Instruction::And:
        return {Code::kAnd, false, false};
      case llvm::Instruction::Or:
        return {Code::kOr, false, false};
      case llvm::Instruction::Xor:
        return {Code::kXor, false, false};
      case llvm::Instruction::Shl:
        return {Code::kShl, false, true};
      case llvm::Instruction::LShr:
        return {Code::kLShr, false, false};
      case llvm::Instruction::AShr:
        return {Code::kAShr, true, true};
      case llvm::Instruction::UDiv:
        return {Code::kUDiv, false, false};
      case llvm::Instruction::SDiv:
        return {Code::kSDiv, true, true};
      case llvm::Instruction::URem:
        return {Code::kURem, false, false};
      case llvm::Instruction::SRem:
        return {Code::kSRem, true, true};
      case llvm::Instruction::FAdd:
        return {Code::kFAdd, false, false};
      case llvm::Instruction::FSub:
        return {Code::kFSub, false, false};
      case llvm::Instruction::FMul:
        return {Code::kFMul, false, false};
      case llvm::Instruction::FDiv:
        return {Code::kFDiv, false, false};
      case llvm::Instruction::FRem:
        return {Code::kFRem, false, false};
      default:
        refuse(i, i.getOpcodeName());
    }
  }();
  const auto scalars = scalars_of(i.getType());
  const Operands a = operands(i.getOperand(0));
  const Operands b = operands(i.getOperand(1));
  Operands out;
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    const Scalar& s = scalars[k];
    std::uint32_t x = a[k];
    std::uint32_t y = b[k];
    if (row.sign) {
      x = sign_extended(s, x);
      if (row.code != Code::kAShr) y = sign_extended(s, y);
    }
    const std::uint32_t r = emit(row.code, s.type, {x, y});
    out.push_back(row.dirty ? cleaned(s, r) : r);
  }
  result(i, std::move(out));
}

// 128-bit integers are two registers, the lower half first. Programs do not have them, but the
// compiler makes them of the upper half of a 64-bit product (and of copies of 16 bytes).

/// The upper half of the product of two 64-bit integers, from 32-bit halves.
std::uint32_t Translator::multiply_high(std::uint32_t a, std::uint32_t b) {
  const auto op = [&](Code code, std::uint32_t x, std::uint32_t y) {
    return emit(code, Type::kI64, {x, y});
  };
  const std::uint32_t mask = constant(Type::kI64, 0xffffffff);
  const std::uint32_t half = constant(Type::kI64, 32);
  const std::uint32_t a0 = op(Code::kAnd, a, mask);
  const std::uint32_t a1 = op(Code::kLShr, a, half);
  const std::uint32_t b0 = op(Code::kAnd, b, mask);
  const std::uint32_t b1 = op(Code::kLShr, b, half);
  const std::uint32_t low = op(Code::kLShr, op(Code::kMul, a0, b0), half);
  const std::uint32_t cross = op(Code::kAdd, op(Code::kMul, a1, b0), low);
  const std::uint32_t middle = op(Code::kAdd, op(Code::kMul, a0, b1), op(Code::kAnd, cross, mask));
  const std::uint32_t carried =
      op(Code::kAdd, op(Code::kLShr, cross, half), op(Code::kLShr, middle, half));
  return op(Code::kAdd, op(Code::kMul, a1, b1), carried);
}

void Translator::binary128(const llvm::BinaryOperator& i) {
  const auto op = [&](Code code, std::uint32_t x, std::uint32_t y) {
    return emit(code, Type::kI64, {x, y});
  };
  const Operands a = operands(i.getOperand(0));
  const Operands b = operands(i.getOperand(1));
  switch (i.getOpcode()) {
    case llvm::Instruction::And:
      return result(i, {op(Code::kAnd, a[0], b[0]), op(Code::kAnd, a[1], b[1])});
    case llvm::Instruction::Or:
      return result(i, {op(Code::kOr, a[0], b[0]), op(Code::kOr, a[1], b[1])});
    case llvm::Instruction::Xor:
      return result(i, {op(Code::kXor, a[0], b[0]), op(Code::kXor, a[1], b[1])});
    case llvm::Instruction::Add: {
      const std::uint32_t low = op(Code::kAdd, a[0], b[0]);
      const std::uint32_t wraps = emit(Code::kULt, Type::kI64, Type::kMask, {low, a[0]});
      const std::uint32_t carry = convert(Type::kMask, Type::kI64, false, wraps);
      return result(i, {low, op(Code::kAdd, op(Code::kAdd, a[1], b[1]), carry)});
    }
    case llvm::Instruction::Mul: {
      const std::uint32_t cross =
          op(Code::kAdd, op(Code::kMul, a[0], b[1]), op(Code::kMul, a[1], b[0]));
      return result(i,
                    {op(Code::kMul, a[0], b[0]), op(Code::kAdd, multiply_high(a[0], b[0]), cross)});
    }
    case llvm::Instruction::LShr: {
      const auto* by = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
      if (by == nullptr || by->getZExtValue() % 128 == 0) break;
      const std::uint64_t n = by->getZExtValue() % 64;
      const std::uint32_t amount = constant(Type::kI64, n);
      const std::uint32_t high = n == 0 ? a[1] : op(Code::kLShr, a[1], amount);
      if (by->getZExtValue() >= 64) return result(i, {high, constant(Type::kI64, 0)});
      const std::uint32_t low = emit(Code::kFshr, Type::kI64, {a[1], a[0], amount});
      return result(i, {low, high});
    }
    default:
      break;
  }
  refuse(i, fmt::format("'{}' on 128-bit integers", i.getOpcodeName()));
}

void Translator::cast128(const llvm::CastInst& i) {
  const Operands a = operands(i.getOperand(0));
  if (llvm::isa<llvm::TruncInst>(i)) {
    const Scalar to = scalar_of(i.getType());
    const std::uint32_t r = resized(a[0], Type::kI64, to.type);
    return result(i, {to.type == Type::kMask ? r : cleaned(to, r)});
  }
  const Scalar from = scalar_of(i.getOperand(0)->getType());
  if (llvm::isa<llvm::ZExtInst>(i))
    return result(i, {resized(a[0], from.type, Type::kI64), constant(Type::kI64, 0)});
  if (!llvm::isa<llvm::SExtInst>(i)) refuse(i, "this conversion of 128-bit integers");
  const std::uint32_t x = from.type == Type::kMask ? a[0] : sign_extended(from, a[0]);
  const std::uint32_t low = from.type == Type::kI64 ? x : convert(from.type, Type::kI64, true, x);
  result(i, {low, emit(Code::kAShr, Type::kI64, {low, constant(Type::kI64, 63)})});
}

std::uint32_t Translator::to_flat(std::uint32_t pointer, unsigned space) {
  if (space != kLdsSpace && space != kPrivateSpace) return pointer;
  const std::uint64_t aperture = space == kLdsSpace ? kLdsAperture : kPrivateAperture;
  return emit(Code::kToFlat32, Type::kI64, {pointer}, static_cast<std::int64_t>(aperture));
}

void Translator::cast(const llvm::CastInst& i) {
  if (llvm::isa<llvm::BitCastInst>(i)) {
    bitcast(i, i.getOperand(0));
    return;
  }
  if (const auto* space_cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&i)) {
    const std::uint32_t a = operand(i.getOperand(0));
    const unsigned to = space_cast->getDestAddressSpace();
    if (to == kLdsSpace || to == kPrivateSpace)
      result(i, {emit(Code::kFromFlat32, Type::kI32, {a})});
    else
      result(i, {to_flat(a, space_cast->getSrcAddressSpace())});
    return;
  }
  if (i.getType()->isIntegerTy(128) || i.getSrcTy()->isIntegerTy(128)) return cast128(i);
  const auto from = scalars_of(i.getOperand(0)->getType());
  const auto to = scalars_of(i.getType());
  const Operands a = operands(i.getOperand(0));
  Operands out;
  for (std::size_t k = 0; k < to.size(); ++k) {
    const auto opcode = i.getOpcode();
    const bool sign = opcode == llvm::Instruction::SExt || opcode == llvm::Instruction::SIToFP ||
                      opcode == llvm::Instruction::FPToSI;
    const bool extends_sign =
        opcode == llvm::Instruction::SExt || opcode == llvm::Instruction::SIToFP;
    std::uint32_t x = a[k];
    if (extends_sign && from[k].type != Type::kMask) x = sign_extended(from[k], x);
    const std::uint32_t r =
        from[k].type == to[k].type ? x : convert(from[k].type, to[k].type, sign, x);
    out.push_back(to[k].type == Type::kMask ? r : cleaned(to[k], r));
  }
  result(i, std::move(out));
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

void Translator::bitcast(const llvm::Value& i, const llvm::Value* from) {
  const Operands a = operands(from);
  result(llvm::cast<llvm::Instruction>(i), recast(a, from->getType(), i.getType()));
}

/// A comparison of one pair of scalars.
std::uint32_t Translator::compare_pair(llvm::CmpInst::Predicate predicate, Scalar s,
                                       std::uint32_t x, std::uint32_t y) {
  struct Row {
    Code code;
    bool swap;
    bool invert;
    bool sign = false;
  };
  using P = llvm::CmpInst::Predicate;
  const Row row = [&]() -> Row {
    switch (predicate) {
      case P::ICMP_EQ:
        return {Code::kEq, false, false};
      case P::ICMP_NE:
        return {Code::kEq, false, true};
      case P::ICMP_ULT:
        return {Code::kULt, false, false};
      case P::ICMP_UGE:
        return {Code::kULt, false, true};
      case P::ICMP_UGT:
        return {Code::kULt, true, false};
      case P::ICMP_ULE:
        return {Code::kULt, true, true};
      case P::ICMP_SLT:
        return {Code::kSLt, false, false, true};
      case P::ICMP_SGE:
        return {Code::kSLt, false, true, true};
      case P::ICMP_SGT:
        return {Code::kSLt, true, false, true};
      case P::ICMP_SLE:
        return {Code::kSLt, true, true, true};
      case P::FCMP_OEQ:
        return {Code::kFOeq, false, false};
      case P::FCMP_UNE:
        return {Code::kFOeq, false, true};
      case P::FCMP_OLT:
        return {Code::kFOlt, false, false};
      case P::FCMP_UGE:
        return {Code::kFOlt, false, true};
      case P::FCMP_OGT:
        return {Code::kFOlt, true, false};
      case P::FCMP_ULE:
        return {Code::kFOlt, true, true};
      case P::FCMP_OLE:
        return {Code::kFOle, false, false};
      case P::FCMP_UGT:
        return {Code::kFOle, false, true};
      case P::FCMP_OGE:
        return {Code::kFOle, true, false};
      case P::FCMP_ULT:
        return {Code::kFOle, true, true};
      case P::FCMP_ONE:
        return {Code::kFOne, false, false};
      case P::FCMP_UEQ:
        return {Code::kFOne, false, true};
      case P::FCMP_UNO:
        return {Code::kFUno, false, false};
      case P::FCMP_ORD:
        return {Code::kFUno, false, true};
      default:
        refuse(*current_, "a comparison that is always true or false");
    }
  }();
  if (s.type == Type::kMask) {
    s = {Type::kI8, 8, 0, 1};
    x = convert(Type::kMask, Type::kI8, row.sign, x);
    y = convert(Type::kMask, Type::kI8, row.sign, y);
  } else if (row.sign) {
    x = sign_extended(s, x);
    y = sign_extended(s, y);
  }
  if (row.swap) std::swap(x, y);
  return emit(row.code, s.type, Type::kMask, {x, y}, row.invert ? 1 : 0);
}

void Translator::compare(const llvm::CmpInst& i) {
  if (i.getOperand(0)->getType()->isIntegerTy(128)) refuse(i, "a comparison of 128-bit integers");
  const auto scalars = scalars_of(i.getOperand(0)->getType());
  const Operands a = operands(i.getOperand(0));
  const Operands b = operands(i.getOperand(1));
  Operands out;
  for (std::size_t k = 0; k < scalars.size(); ++k)
    out.push_back(compare_pair(i.getPredicate(), scalars[k], a[k], b[k]));
  result(i, std::move(out));
}

void Translator::select(const llvm::SelectInst& i) {
  const auto scalars = scalars_of(i.getType());
  const Operands condition = operands(i.getCondition());
  const Operands a = operands(i.getTrueValue());
  const Operands b = operands(i.getFalseValue());
  Operands out;
  for (std::size_t k = 0; k < scalars.size(); ++k)
    out.push_back(emit(Code::kSelect, raw(scalars[k].type),
                       {condition[condition.size() == 1 ? 0 : k], a[k], b[k]}));
  result(i, std::move(out));
}

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

/// Taking vectors and structs apart and putting them together: only names of registers move, unless
/// an index is not constant.
void Translator::element(const llvm::Instruction& i) {
  Operands out;
  const auto chosen = [&](const llvm::Value* index, std::uint32_t k) {
    const Scalar s = scalar_of(index->getType());
    return emit(Code::kEq, s.type, Type::kMask, {operand(index), constant(s.type, k)});
  };
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&i)) {
    const Operands a = operands(extract->getVectorOperand());
    if (const auto* k = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand())) {
      out.push_back(a[k->getZExtValue() % a.size()]);
    } else {
      const Type t = raw(scalar_of(i.getType()).type);
      out.push_back(a[0]);
      for (std::uint32_t n = 1; n < a.size(); ++n)
        out[0] = emit(Code::kSelect, t, {chosen(extract->getIndexOperand(), n), a[n], out[0]});
    }
  } else if (const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&i)) {
    out = operands(insert->getOperand(0));
    const std::uint32_t value = operand(insert->getOperand(1));
    if (const auto* k = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2))) {
      out[k->getZExtValue() % out.size()] = value;
    } else {
      const Type t = raw(scalar_of(insert->getOperand(1)->getType()).type);
      for (std::uint32_t n = 0; n < out.size(); ++n)
        out[n] = emit(Code::kSelect, t, {chosen(insert->getOperand(2), n), value, out[n]});
    }
  } else if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&i)) {
    const Operands a = operands(shuffle->getOperand(0));
    const Operands b = operands(shuffle->getOperand(1));
    const Type t = scalars_of(i.getType())[0].type;
    for (const int k : shuffle->getShuffleMask()) {
      const auto n = static_cast<std::size_t>(k);
      out.push_back(k < 0 ? constant(t, 0) : n < a.size() ? a[n] : b[n - a.size()]);
    }
  } else if (const auto* take = llvm::dyn_cast<llvm::ExtractValueInst>(&i)) {
    llvm::Type* type = take->getAggregateOperand()->getType();
    std::uint32_t first = 0;
    for (const unsigned k : take->indices()) {
      first += elements_before(type, k);
      type = llvm::ExtractValueInst::getIndexedType(type, k);
    }
    const Operands a = operands(take->getAggregateOperand());
    const auto n = scalars_of(type).size();
    out.append(a.begin() + first, a.begin() + first + n);
  } else {
    const auto& put = llvm::cast<llvm::InsertValueInst>(i);
    llvm::Type* type = i.getType();
    std::uint32_t first = 0;
    for (const unsigned k : put.indices()) {
      first += elements_before(type, k);
      type = llvm::ExtractValueInst::getIndexedType(type, k);
    }
    out = operands(put.getAggregateOperand());
    const Operands value = operands(put.getInsertedValueOperand());
    std::copy(value.begin(), value.end(), out.begin() + first);
  }
  result(i, std::move(out));
}

// ---- Memory
// --------------------------------------------------------------------------------------

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

}  // namespace

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
  const Scalar s = scalar_of(type);
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
  op.b = operand(value);
  if (compared != nullptr) op.c = operand(compared);
  op.d = new_register(s.type, false);
  op.imm = static_cast<std::int64_t>(kind);
  op.bytes = bytes;
  op.site = program_->sites++;
  const std::uint32_t old = append(op).d;
  if (compared == nullptr) {
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

namespace {

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

void Translator::instruction(const llvm::Instruction& i) {
  current_ = &i;
  if (const SourceLine at = source_line(i); at.line != 0)
    location_ = {file_index(at.file), at.line};
  location_.atomic = i.isAtomic();
  location_.returns = !i.use_empty();
  add_cost(program_->blocks.back(), i, kernel_.facts->uniformity().isUniform(&i));

  if (const auto* load_inst = llvm::dyn_cast<llvm::LoadInst>(&i)) return load(*load_inst);
  if (const auto* store_inst = llvm::dyn_cast<llvm::StoreInst>(&i)) return store(*store_inst);
  if (const auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) {
    const AtomicKind kind = atomic_kind(rmw->getOperation());
    if (kind == AtomicKind::kCompareExchange) refuse(i, "this atomic operation");
    return atomic(i, rmw->getPointerOperand(), rmw->getValOperand(), kind, nullptr);
  }
  if (const auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i))
    return atomic(i, cas->getPointerOperand(), cas->getNewValOperand(),
                  AtomicKind::kCompareExchange, cas->getCompareOperand());
  if (i.isTerminator()) return terminator(i);
  if (llvm::isa<llvm::FenceInst>(i) || llvm::isa<llvm::PHINode>(i)) return;
  if (!slice_.needs(&i) && !slice_.performs(&i)) return;

  if (const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) return binary(*op);
  if (const auto* op = llvm::dyn_cast<llvm::CastInst>(&i)) return cast(*op);
  if (const auto* op = llvm::dyn_cast<llvm::CmpInst>(&i)) return compare(*op);
  if (const auto* op = llvm::dyn_cast<llvm::SelectInst>(&i)) return select(*op);
  if (const auto* op = llvm::dyn_cast<llvm::GetElementPtrInst>(&i)) return address(*op);
  if (const auto* op = llvm::dyn_cast<llvm::AllocaInst>(&i)) return allocate(*op);
  if (const auto* op = llvm::dyn_cast<llvm::CallInst>(&i)) return call(*op);
  switch (i.getOpcode()) {
    case llvm::Instruction::FNeg: {
      Operands out;
      const Operands a = operands(i.getOperand(0));
      const auto scalars = scalars_of(i.getType());
      for (std::size_t k = 0; k < a.size(); ++k)
        out.push_back(emit(Code::kFNeg, scalars[k].type, {a[k]}));
      return result(i, std::move(out));
    }
    case llvm::Instruction::Freeze:
      return result(i, operands(i.getOperand(0)));
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      return element(i);
    default:
      refuse(i, fmt::format("the instruction '{}'", i.getOpcodeName()));
  }
}

// ---- Control flow
// --------------------------------------------------------------------------------

void Translator::end_block(BlockEnd exit, std::uint32_t condition) {
  Block& block = program_->blocks.back();
  block.op_end = static_cast<std::uint32_t>(program_->ops.size());
  block.exit = exit;
  block.condition = condition & ~kUniformBit;
}

std::vector<Translator::Move> Translator::moves_of(const llvm::BasicBlock* from,
                                                   const llvm::BasicBlock* to) {
  std::vector<Move> moves;
  for (const llvm::PHINode& phi : to->phis()) {
    if (!slice_.needs(&phi)) continue;
    const llvm::Value* value = phi.getIncomingValueForBlock(from);
    // An undefined value moves nothing: the phi may be uniform with the value of another edge,
    // which must stay.
    if (is_undefined(value)) continue;
    const Operands a = operands(value);
    const Operands d = operands(&phi);
    const auto scalars = scalars_of(phi.getType());
    for (std::size_t k = 0; k < d.size(); ++k)
      if (a[k] != d[k]) moves.push_back({d[k], a[k], raw(scalars[k].type)});
  }
  return moves;
}

std::uint32_t Translator::copied(std::uint32_t a, Type type) {
  Op op;
  op.run = table_.find(Code::kMove, type, is_uniform(a));
  op.a = a;
  op.d = new_register(type, is_uniform(a));
  return append(op).d;
}

/// Both edges of a divergent branch move before either target runs, for disjoint lanes. But lanes
/// share uniform registers: a uniform phi that one edge sets (a loop counter, say) is saved if the
/// other edge still reads it.
void Translator::separate(std::vector<Move>& one, std::vector<Move>& other) {
  const auto save = [&](std::vector<Move>& readers, const std::vector<Move>& writers) {
    for (Move& m : readers)
      if (std::any_of(writers.begin(), writers.end(),
                      [&](const Move& w) { return is_uniform(w.d) && w.d == m.a; }))
        m.a = copied(m.a, m.type);
  };
  save(one, other);
  save(other, one);
}

/// Moves into the target's phis, all at once: a move waits until nobody reads its destination; in a
/// circle one value is saved first.
Edge Translator::edge(std::vector<Move> moves) {
  Edge edge;
  edge.move_begin = static_cast<std::uint32_t>(program_->ops.size());
  const auto emit_move = [&](const Move& m) {
    Op op;
    op.d = m.d;
    op.a = m.a;
    if (!is_uniform(m.d)) {
      op.run = table_.find(Code::kMoveMasked, m.type, false);
    } else {
      op.a = to_uniform(m.type, m.a);
      op.run = table_.find(Code::kMove, m.type, true);
    }
    append(op);
  };
  while (!moves.empty()) {
    const auto free = std::find_if(moves.begin(), moves.end(), [&](const Move& m) {
      return std::none_of(moves.begin(), moves.end(),
                          [&](const Move& other) { return &other != &m && other.a == m.d; });
    });
    if (free != moves.end()) {
      emit_move(*free);
      moves.erase(free);
      continue;
    }
    Move& first = moves.front();
    first.a = copied(first.a, first.type);
  }
  edge.move_end = static_cast<std::uint32_t>(program_->ops.size());
  return edge;
}

void Translator::terminator(const llvm::Instruction& i) {
  if (llvm::isa<llvm::ReturnInst>(i) || llvm::isa<llvm::UnreachableInst>(i))
    return end_block(BlockEnd::kReturn);
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i);
  if (branch == nullptr) refuse(i, fmt::format("the instruction '{}'", i.getOpcodeName()));
  const llvm::BasicBlock* from = i.getParent();
  const auto index = static_cast<std::uint32_t>(program_->blocks.size() - 1);
  const auto go = [&](unsigned which, std::vector<Move> moves) {
    program_->blocks[index].edge[which] = edge(std::move(moves));
    edge_fixes_.push_back({index, which, branch->getSuccessor(which)});
  };
  std::vector<Move> taken = moves_of(from, branch->getSuccessor(0));
  if (branch->isUnconditional()) {
    end_block(BlockEnd::kJump);
    return go(0, std::move(taken));
  }
  std::vector<Move> other = moves_of(from, branch->getSuccessor(1));
  const std::uint32_t condition = operand(branch->getCondition());
  if (!is_uniform(condition)) separate(taken, other);
  end_block(is_uniform(condition) ? BlockEnd::kUniformBranch : BlockEnd::kBranch, condition);
  go(0, std::move(taken));
  go(1, std::move(other));
}

void Translator::block(const llvm::BasicBlock& bb) {
  first_block_[&bb] = static_cast<std::uint32_t>(program_->blocks.size());
  const auto begin = [&] {
    Block block;
    block.op_begin = static_cast<std::uint32_t>(program_->ops.size());
    program_->blocks.push_back(block);
  };
  begin();
  if (&bb == &function_.getEntryBlock()) load_arguments();
  for (const llvm::Instruction& i : bb) {
    const auto* called = llvm::dyn_cast<llvm::CallInst>(&i);
    const llvm::Function* callee = called == nullptr ? nullptr : called->getCalledFunction();
    const llvm::StringRef name = callee == nullptr ? "" : callee->getName();
    if (name == "llvm.amdgcn.s.barrier" || name == "llvm.amdgcn.s.barrier.wait") {
      add_cost(program_->blocks.back(), i, true);
      end_block(BlockEnd::kBarrier);
      program_->blocks.back().edge[0].block = static_cast<std::uint32_t>(program_->blocks.size());
      begin();
      continue;
    }
    instruction(i);
  }
}

// ---- Set-up
// --------------------------------------------------------------------------------------

std::uint32_t Translator::file_index(const std::string& file) {
  const auto [it, is_new] =
      file_indices_.try_emplace(file, static_cast<std::uint32_t>(program_->files.size()));
  if (is_new) program_->files.push_back(file);
  return it->second;
}

void Translator::load_arguments() {
  for (const llvm::Argument& argument : function_.args()) {
    if (argument.use_empty()) continue;
    const std::uint32_t offset = kernel_.argument_offsets[argument.getArgNo()];
    if (argument.hasByRefAttr()) {
      define(&argument, {emit(Code::kSpecialAddress, Type::kI64, {}, 2, offset)});
      continue;
    }
    Operands registers;
    for (const Scalar& s : scalars_of(argument.getType())) {
      const Type type = s.type == Type::kMask ? Type::kI8 : raw(s.type);
      const std::uint32_t r = emit(Code::kArgument, type, {}, offset + s.offset);
      registers.push_back(s.type == Type::kMask ? convert(Type::kI8, Type::kMask, false, r) : r);
    }
    define(&argument, std::move(registers));
  }
}

std::unique_ptr<Program> Translator::run() {
  current_ = &function_.getEntryBlock().front();
  const auto order =
      execution_order(const_cast<llvm::Function&>(function_), kernel_.facts->loops());
  for (const llvm::BasicBlock* bb : order) {
    for (const llvm::PHINode& phi : bb->phis()) {
      if (!slice_.needs(&phi)) continue;
      current_ = &phi;
      Operands registers;
      for (const Scalar& s : scalars_of(phi.getType()))
        registers.push_back(new_register(s.type, kernel_.facts->uniformity().isUniform(&phi)));
      define(&phi, std::move(registers));
    }
  }
  for (const llvm::BasicBlock* bb : order) block(*bb);
  for (const EdgeFix& fix : edge_fixes_)
    program_->blocks[fix.block].edge[fix.which].block = first_block_.at(fix.to);
  return std::move(program_);
}

std::unique_ptr<Program> translate(const KernelIr& kernel, const Slice& slice) {
  return Translator(kernel, slice).run();
}

}  // namespace swizzleperf::vgpu
