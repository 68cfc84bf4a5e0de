// Arithmetic, conversions, comparisons, selections, and taking vectors and structs apart.
#include <fmt/format.h>

#include "vgpu/exec/translate/translator.h"

namespace swizzleperf::vgpu {

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

std::uint32_t Translator::multiply_high_signed(std::uint32_t a, std::uint32_t b) {
  const auto op = [&](Code code, std::uint32_t x, std::uint32_t y) {
    return emit(code, Type::kI64, {x, y});
  };
  const std::uint32_t sign = constant(Type::kI64, 63);
  const std::uint32_t less_b = op(Code::kAnd, op(Code::kAShr, a, sign), b);
  const std::uint32_t less_a = op(Code::kAnd, op(Code::kAShr, b, sign), a);
  return op(Code::kSub, op(Code::kSub, multiply_high(a, b), less_b), less_a);
}

/// Within a half, bits come from the neighbour; by 64 and more, the halves change places first.
Operands Translator::shifted128(const llvm::BinaryOperator& i, const Operands& a) {
  const std::uint32_t by = operands(i.getOperand(1))[0];
  const std::uint32_t far_bit = emit(Code::kAnd, Type::kI64, {by, constant(Type::kI64, 64)});
  const std::uint32_t far = emit(Code::kEq, Type::kI64, Type::kMask,
                                 {far_bit, constant(Type::kI64, 0)}, /*imm: inverted*/ 1);
  const auto choose = [&](std::uint32_t x, std::uint32_t y) {
    return emit(Code::kSelect, Type::kI64, {far, x, y});
  };
  const bool left = i.getOpcode() == llvm::Instruction::Shl;
  const bool sign = i.getOpcode() == llvm::Instruction::AShr;
  const std::uint32_t fill = sign ? emit(Code::kAShr, Type::kI64, {a[1], constant(Type::kI64, 63)})
                                  : constant(Type::kI64, 0);
  if (left) {
    const std::uint32_t low = choose(fill, a[0]);
    const std::uint32_t high = choose(a[0], a[1]);
    return {emit(Code::kShl, Type::kI64, {low, by}),
            emit(Code::kFshl, Type::kI64, {high, low, by})};
  }
  const std::uint32_t high = choose(fill, a[1]);
  const std::uint32_t low = choose(a[1], a[0]);
  return {emit(Code::kFshr, Type::kI64, {high, low, by}),
          emit(sign ? Code::kAShr : Code::kLShr, Type::kI64, {high, by})};
}

/// By the upper halves, and by the lower ones where those are equal.
std::uint32_t Translator::compare128(llvm::CmpInst::Predicate predicate, const Operands& a,
                                     const Operands& b) {
  const Scalar half{Type::kI64, 64, 0, 8};
  const std::uint32_t same = compare_pair(llvm::CmpInst::ICMP_EQ, half, a[1], b[1]);
  if (llvm::ICmpInst::isEquality(predicate)) {
    const std::uint32_t both = emit(Code::kAnd, Type::kMask,
                                    {same, compare_pair(llvm::CmpInst::ICMP_EQ, half, a[0], b[0])});
    return predicate == llvm::CmpInst::ICMP_EQ
               ? both
               : emit(Code::kXor, Type::kMask, {both, constant(Type::kMask, 1)});
  }
  const std::uint32_t low =
      compare_pair(llvm::ICmpInst::getUnsignedPredicate(predicate), half, a[0], b[0]);
  return emit(Code::kSelect, Type::kMask, {same, low, compare_pair(predicate, half, a[1], b[1])});
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
    case llvm::Instruction::Sub: {
      const std::uint32_t borrows = emit(Code::kULt, Type::kI64, Type::kMask, {a[0], b[0]});
      const std::uint32_t borrow = convert(Type::kMask, Type::kI64, false, borrows);
      return result(
          i, {op(Code::kSub, a[0], b[0]), op(Code::kSub, op(Code::kSub, a[1], b[1]), borrow)});
    }
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return result(i, shifted128(i, a));
    default:
      break;
  }
  refuse(i, fmt::format("'{}' on 128-bit integers", i.getOpcodeName()));
}

void Translator::cast128(const llvm::CastInst& i) {
  const Operands a = operands(i.getOperand(0));
  if (a.size() == 2 && scalars_of(i.getType()).size() == 2) return result(i, a);
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

/// 128 bits: an integer or a buffer resource.
bool Translator::is_pair(llvm::Type* type) const {
  return type->isIntegerTy(128) ||
         (type->isPointerTy() && layout_.getPointerTypeSizeInBits(type) == 128);
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
  if (is_pair(i.getType()) || is_pair(i.getSrcTy())) return cast128(i);
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
  if (i.getOperand(0)->getType()->isIntegerTy(128))
    return result(
        i, {compare128(i.getPredicate(), operands(i.getOperand(0)), operands(i.getOperand(1)))});
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

/// Taking vectors and structs apart and putting them together: only names of registers move,
/// unless an index is not constant.
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

}  // namespace swizzleperf::vgpu
