// Calls: of intrinsics that LLVM has for every target, and of library functions. The tables lead
// from names to operations; what takes more than one follows. What is not here is refused by its
// name.
#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "vgpu/exec/translate/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

namespace Id = llvm::Intrinsic;
/// Generic intrinsics that are one elementwise operation.
std::optional<Form> generic_form(llvm::Intrinsic::ID id) {
  switch (id) {
    case Id::fma:
    case Id::fmuladd:
      return Form{Code::kFma, 3};
    case Id::sqrt:
      return Form{Code::kSqrt, 1};
    case Id::fabs:
      return Form{Code::kFAbs, 1};
    case Id::floor:
      return Form{Code::kFloor, 1};
    case Id::ceil:
      return Form{Code::kCeil, 1};
    case Id::trunc:
      return Form{Code::kTrunc, 1};
    case Id::round:
      return Form{Code::kRound, 1};
    case Id::rint:
    case Id::nearbyint:
    case Id::roundeven:
      return Form{Code::kRint, 1};
    case Id::canonicalize:
      return Form{Code::kCanonicalize, 1};
    case Id::exp:
      return Form{Code::kExp, 1};
    case Id::exp2:
      return Form{Code::kExp2, 1};
    case Id::exp10:
      return Form{Code::kExp10, 1};
    case Id::log:
      return Form{Code::kLog, 1};
    case Id::log2:
      return Form{Code::kLog2, 1};
    case Id::log10:
      return Form{Code::kLog10, 1};
    case Id::sin:
      return Form{Code::kSin, 1};
    case Id::cos:
      return Form{Code::kCos, 1};
    case Id::tan:
      return Form{Code::kTan, 1};
    case Id::asin:
      return Form{Code::kASin, 1};
    case Id::acos:
      return Form{Code::kACos, 1};
    case Id::atan:
      return Form{Code::kATan, 1};
    case Id::sinh:
      return Form{Code::kSinH, 1};
    case Id::cosh:
      return Form{Code::kCosH, 1};
    case Id::tanh:
      return Form{Code::kTanH, 1};
    case Id::atan2:
      return Form{Code::kAtan2, 2};
    case Id::pow:
      return Form{Code::kPow, 2};
    case Id::powi:
      return Form{Code::kPowi, 2};
    case Id::ldexp:
      return Form{Code::kLdexp, 2};
    case Id::copysign:
      return Form{Code::kCopySign, 2};
    case Id::minnum:
    case Id::minimumnum:
      return Form{Code::kFMin, 2};
    case Id::maxnum:
    case Id::maximumnum:
      return Form{Code::kFMax, 2};
    case Id::minimum:
      return Form{Code::kFMinimum, 2};
    case Id::maximum:
      return Form{Code::kFMaximum, 2};
    case Id::ctpop:
      return Form{Code::kCtPop, 1};
    case Id::ctlz:
      return Form{Code::kCtLz, 1};
    case Id::cttz:
      return Form{Code::kCtTz, 1};
    case Id::bswap:
      return Form{Code::kBSwap, 1};
    case Id::bitreverse:
      return Form{Code::kBitReverse, 1};
    case Id::abs:
      return Form{Code::kAbs, 1};
    case Id::smin:
      return Form{Code::kSMin, 2};
    case Id::smax:
      return Form{Code::kSMax, 2};
    case Id::umin:
      return Form{Code::kUMin, 2};
    case Id::umax:
      return Form{Code::kUMax, 2};
    case Id::uadd_sat:
      return Form{Code::kUAddSat, 2};
    case Id::usub_sat:
      return Form{Code::kUSubSat, 2};
    case Id::sadd_sat:
      return Form{Code::kSAddSat, 2};
    case Id::ssub_sat:
      return Form{Code::kSSubSat, 2};
    case Id::fshl:
      return Form{Code::kFshl, 3};
    case Id::fshr:
      return Form{Code::kFshr, 3};
    default:
      return std::nullopt;
  }
}

/// __ocml_NAME_TYPE with the host's libm behind it.
std::optional<Form> library_form(llvm::StringRef name) {
  static const std::unordered_map<std::string, Form> forms = {
      {"sin", {Code::kSin, 1}},
      {"cos", {Code::kCos, 1}},
      {"tan", {Code::kTan, 1}},
      {"sinpi", {Code::kSinPi, 1}},
      {"cospi", {Code::kCosPi, 1}},
      {"asin", {Code::kASin, 1}},
      {"acos", {Code::kACos, 1}},
      {"atan", {Code::kATan, 1}},
      {"sinh", {Code::kSinH, 1}},
      {"cosh", {Code::kCosH, 1}},
      {"tanh", {Code::kTanH, 1}},
      {"asinh", {Code::kASinH, 1}},
      {"acosh", {Code::kACosH, 1}},
      {"atanh", {Code::kATanH, 1}},
      {"exp", {Code::kExp, 1}},
      {"exp2", {Code::kExp2, 1}},
      {"exp10", {Code::kExp10, 1}},
      {"expm1", {Code::kExpM1, 1}},
      {"log", {Code::kLog, 1}},
      {"log2", {Code::kLog2, 1}},
      {"log10", {Code::kLog10, 1}},
      {"log1p", {Code::kLog1P, 1}},
      {"erf", {Code::kErf, 1}},
      {"erfc", {Code::kErfC, 1}},
      {"erfinv", {Code::kErfInv, 1}},
      {"erfcinv", {Code::kErfCInv, 1}},
      {"erfcx", {Code::kErfCX, 1}},
      {"i0", {Code::kI0, 1}},
      {"i1", {Code::kI1, 1}},
      {"lgamma", {Code::kLGamma, 1}},
      {"tgamma", {Code::kTGamma, 1}},
      {"cbrt", {Code::kCbrt, 1}},
      {"logb", {Code::kLogB, 1}},
      {"j0", {Code::kJ0, 1}},
      {"j1", {Code::kJ1, 1}},
      {"y0", {Code::kY0, 1}},
      {"y1", {Code::kY1, 1}},
      {"ilogb", {Code::kIntLogB, 1}},
      {"pow", {Code::kPow, 2}},
      {"powr", {Code::kPow, 2}},
      {"pown", {Code::kPowi, 2}},
      {"atan2", {Code::kAtan2, 2}},
      {"hypot", {Code::kHypot, 2}},
      {"fmod", {Code::kFRem, 2}},
      {"remainder", {Code::kRemainder, 2}},
      {"nextafter", {Code::kNextAfter, 2}},
  };
  if (!name.consume_front("__ocml_")) return std::nullopt;
  const auto [stem, type] = name.rsplit('_');
  if (type != "f16" && type != "f32" && type != "f64") return std::nullopt;
  const auto it = forms.find(stem.str());
  return it == forms.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

/// Bits of 128-bit integers: those of the halves, the second if the first has none.
void Translator::count128(const llvm::CallInst& i, Code code) {
  const Operands a = operands(i.getArgOperand(0));
  const std::uint32_t zero = constant(Type::kI64, 0);
  const std::uint32_t low = emit(code, Type::kI64, {a[0]});
  const std::uint32_t high = emit(code, Type::kI64, {a[1]});
  const bool leading = code == Code::kCtLz;
  switch (code) {
    case Code::kCtPop:
      return result(i, {emit(Code::kAdd, Type::kI64, {low, high}), zero});
    case Code::kCtLz:
    case Code::kCtTz: {
      const std::uint32_t none =
          emit(Code::kEq, Type::kI64, Type::kMask, {leading ? a[1] : a[0], zero});
      const std::uint32_t beyond =
          emit(Code::kAdd, Type::kI64, {leading ? low : high, constant(Type::kI64, 64)});
      return result(i,
                    {emit(Code::kSelect, Type::kI64, {none, beyond, leading ? high : low}), zero});
    }
    case Code::kBSwap:
    case Code::kBitReverse:
      return result(i, {high, low});
    default:
      refuse(i, fmt::format("'{}' on 128-bit integers", i.getCalledFunction()->getName().str()));
  }
}

void Translator::elementwise(const llvm::CallInst& i, Code code, unsigned arguments) {
  const auto scalars = scalars_of(i.getArgOperand(0)->getType());
  const auto results = scalars_of(i.getType());
  if (i.getType()->isIntegerTy(128)) return count128(i, code);
  Operands a[3];
  for (unsigned n = 0; n < arguments; ++n) a[n] = operands(i.getArgOperand(n));
  Operands out;
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    const Scalar& s = scalars[k];
    const std::uint32_t unused = 8 * size_of(s.type) - s.bits;
    if (unused != 0 && code == Code::kBitReverse) {
      // The bits end up at the top; what was above them falls out.
      const std::uint32_t all = emit(code, s.type, {a[0][k]});
      out.push_back(emit(Code::kLShr, s.type, {all, constant(s.type, unused)}));
      continue;
    }
    if (unused != 0)
      refuse(i, fmt::format("'{}' on a value of {} bits", i.getCalledFunction()->getName().str(),
                            s.bits));
    // An exponent is one scalar for all elements, and 32 bits wide.
    const auto nth = [&](unsigned n) { return a[n][a[n].size() == 1 ? 0 : k]; };
    std::uint32_t second = arguments > 1 ? nth(1) : 0;
    if (code == Code::kLdexp || code == Code::kPowi)
      second = resized(second, scalars_of(i.getArgOperand(1)->getType())[0].type, Type::kI32);
    std::uint32_t r = 0;
    if (arguments == 1)
      r = emit(code, s.type, results[k].type, {nth(0)});
    else if (arguments == 2)
      r = emit(code, s.type, results[k].type, {nth(0), second});
    else
      r = emit(code, s.type, results[k].type, {nth(0), second, nth(2)});
    out.push_back(r);
  }
  result(i, std::move(out));
}

/// -1, 0 or 1.
void Translator::three_way(const llvm::CallInst& i) {
  const bool sign = i.getIntrinsicID() == Id::scmp;
  using P = llvm::CmpInst::Predicate;
  const auto scalars = scalars_of(i.getArgOperand(0)->getType());
  const auto results = scalars_of(i.getType());
  const Operands a = operands(i.getArgOperand(0));
  const Operands b = operands(i.getArgOperand(1));
  Operands out;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Type t = results[k].type;
    const std::uint32_t less =
        compare_pair(sign ? P::ICMP_SLT : P::ICMP_ULT, scalars[k], a[k], b[k]);
    const std::uint32_t more =
        compare_pair(sign ? P::ICMP_SGT : P::ICMP_UGT, scalars[k], a[k], b[k]);
    const std::uint32_t difference =
        emit(Code::kSub, t,
             {convert(Type::kMask, t, false, more), convert(Type::kMask, t, false, less)});
    out.push_back(cleaned(results[k], difference));
  }
  result(i, std::move(out));
}

/// llvm.*.with.overflow: the result and whether it is wrong.
void Translator::overflow(const llvm::CallInst& i) {
  const Scalar s = scalar_of(i.getArgOperand(0)->getType());
  const std::uint32_t a = operand(i.getArgOperand(0));
  const std::uint32_t b = operand(i.getArgOperand(1));
  const auto different = [&](std::uint32_t x, std::uint32_t y) {
    return emit(Code::kEq, s.type, Type::kMask, {x, y}, 1);
  };
  if (s.bits != 8 * size_of(s.type)) refuse(i, "overflow detection at this width");
  std::uint32_t r = 0;
  std::uint32_t wrong = 0;
  switch (i.getIntrinsicID()) {
    case Id::uadd_with_overflow:
      r = emit(Code::kAdd, s.type, {a, b});
      wrong = different(r, emit(Code::kUAddSat, s.type, {a, b}));
      break;
    case Id::usub_with_overflow:
      r = emit(Code::kSub, s.type, {a, b});
      wrong = emit(Code::kULt, s.type, Type::kMask, {a, b});
      break;
    case Id::sadd_with_overflow:
      r = emit(Code::kAdd, s.type, {a, b});
      wrong = different(r, emit(Code::kSAddSat, s.type, {a, b}));
      break;
    case Id::ssub_with_overflow:
      r = emit(Code::kSub, s.type, {a, b});
      wrong = different(r, emit(Code::kSSubSat, s.type, {a, b}));
      break;
    case Id::umul_with_overflow: {
      // a > max / b, except for b = 0 (where our division yields the maximum).
      r = emit(Code::kMul, s.type, {a, b});
      const std::uint32_t limit =
          emit(Code::kUDiv, s.type, {constant(s.type, ~std::uint64_t{0}), b});
      wrong = emit(Code::kULt, s.type, Type::kMask, {limit, a});
      break;
    }
    default: {
      if (s.type == Type::kI64) {
        r = emit(Code::kMul, s.type, {a, b});
        const std::uint32_t sign = emit(Code::kAShr, s.type, {r, constant(s.type, 63)});
        wrong = different(multiply_high_signed(a, b), sign);
        break;
      }
      const std::uint32_t wide =
          emit(Code::kMul, Type::kI64,
               {convert(s.type, Type::kI64, true, a), convert(s.type, Type::kI64, true, b)});
      r = convert(Type::kI64, s.type, false, wide);
      const std::uint32_t back = convert(s.type, Type::kI64, true, r);
      wrong = emit(Code::kEq, Type::kI64, Type::kMask, {back, wide}, 1);
    }
  }
  result(i, {r, wrong});
}

void Translator::saturating_conversion(const llvm::CallInst& i, bool sign) {
  const auto from = scalars_of(i.getArgOperand(0)->getType());
  const auto to = scalars_of(i.getType());
  const Operands a = operands(i.getArgOperand(0));
  Operands out;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k].bits != 8 * size_of(to[k].type)) refuse(i, "saturation at this width");
    out.push_back(convert(from[k].type, to[k].type, sign, a[k]));
  }
  result(i, std::move(out));
}

/// llvm.vector.reduce.*, in element order; a start value comes first.
void Translator::reduce(const llvm::CallInst& i, Code code) {
  const unsigned vector = i.arg_size() - 1;
  const auto scalars = scalars_of(i.getArgOperand(vector)->getType());
  Operands a = operands(i.getArgOperand(vector));
  if (vector == 1) a.insert(a.begin(), operand(i.getArgOperand(0)));
  std::uint32_t r = a[0];
  for (std::size_t k = 1; k < a.size(); ++k) r = emit(code, scalars[0].type, {r, a[k]});
  result(i, {r});
}

void Translator::copy_memory(const llvm::MemIntrinsic& i) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(i.getLength());
  if (length == nullptr) refuse(i, "a memory copy of run-time length");
  if (length->isZero()) return;
  Op op;
  op.a = to_flat(operand(i.getRawDest()), i.getDestAddressSpace());
  if (const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&i)) {
    op.b = to_flat(operand(transfer->getRawSource()), transfer->getSourceAddressSpace());
    op.run = table_.find(Code::kCopyMemory, Type::kI8, false);
  } else {
    op.b = operand(llvm::cast<llvm::MemSetInst>(i).getValue());
    op.run = table_.find(Code::kSetMemory, Type::kI8, false);
  }
  op.bytes = static_cast<std::uint32_t>(length->getZExtValue());
  op.site = program_->sites++;
  append(op);
}

bool Translator::generic_intrinsic(const llvm::IntrinsicInst& i) {
  if (i.isAssumeLikeIntrinsic()) return true;
  if (const auto* memory_call = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) {
    copy_memory(*memory_call);
    return true;
  }
  if (const auto form = generic_form(i.getIntrinsicID())) {
    elementwise(i, form->code, form->arguments);
    return true;
  }
  switch (i.getIntrinsicID()) {
    case Id::uadd_with_overflow:
    case Id::usub_with_overflow:
    case Id::umul_with_overflow:
    case Id::sadd_with_overflow:
    case Id::ssub_with_overflow:
    case Id::smul_with_overflow:
      overflow(i);
      return true;
    case Id::fptosi_sat:
      saturating_conversion(i, true);
      return true;
    case Id::fptoui_sat:
      saturating_conversion(i, false);
      return true;
    case Id::expect:
    case Id::ssa_copy:
    case Id::launder_invariant_group:
    case Id::strip_invariant_group:
      result(i, operands(i.getArgOperand(0)));
      return true;
    case Id::is_constant:
      result(i, {constant(Type::kMask, 0)});
      return true;
    case Id::objectsize:
      result(i, {constant(scalar_of(i.getType()).type, ~std::uint64_t{0})});
      return true;
    case Id::prefetch:
    case Id::debugtrap:
      return true;
    case Id::trap:
    case Id::ubsantrap: {
      Op op;
      op.run = table_.find(Code::kTrap, Type::kI32, true);
      append(op);
      return true;
    }
    case Id::is_fpclass: {
      const auto scalars = scalars_of(i.getArgOperand(0)->getType());
      const Operands a = operands(i.getArgOperand(0));
      Operands out;
      for (std::size_t k = 0; k < a.size(); ++k)
        out.push_back(emit(Code::kFClass, scalars[k].type, Type::kMask, {a[k]}, immediate(i, 1)));
      result(i, std::move(out));
      return true;
    }
    case Id::frexp: {
      const Scalar s = scalar_of(i.getArgOperand(0)->getType());
      const Type exponent = scalars_of(i.getType())[1].type;
      const std::uint32_t a = operand(i.getArgOperand(0));
      const std::uint32_t e = emit(Code::kFrexpExponent, s.type, Type::kI32, {a});
      result(i, {emit(Code::kFrexpMantissa, s.type, {a}), resized(e, Type::kI32, exponent)});
      return true;
    }
    case Id::sincos: {
      const Scalar s = scalar_of(i.getArgOperand(0)->getType());
      const std::uint32_t a = operand(i.getArgOperand(0));
      result(i, {emit(Code::kSin, s.type, {a}), emit(Code::kCos, s.type, {a})});
      return true;
    }
    case Id::ptrmask: {
      const Type t = scalar_of(i.getType()).type;
      result(i, {emit(Code::kAnd, t, {operand(i.getArgOperand(0)), operand(i.getArgOperand(1))})});
      return true;
    }
    case Id::read_register: {
      // clang reads the execution mask so; other registers have no meaning here.
      const auto* node = llvm::cast<llvm::MDNode>(
          llvm::cast<llvm::MetadataAsValue>(i.getArgOperand(0))->getMetadata());
      const llvm::StringRef name = llvm::cast<llvm::MDString>(node->getOperand(0))->getString();
      if (!name.starts_with("exec"))
        refuse(i, fmt::format("reading the register '{}'", name.str()));
      const Type type = scalar_of(i.getType()).type;
      std::uint32_t mask = emit(Code::kBallot, Type::kI64, {constant(Type::kMask, 1)});
      if (name == "exec_hi") mask = emit(Code::kLShr, Type::kI64, {mask, constant(Type::kI64, 32)});
      result(i, {resized(mask, Type::kI64, type)});
      return true;
    }
    case Id::scmp:
    case Id::ucmp:
      three_way(i);
      return true;
    case Id::modf: {
      const Scalar s = scalar_of(i.getArgOperand(0)->getType());
      const std::uint32_t a = operand(i.getArgOperand(0));
      const std::uint32_t whole = emit(Code::kTrunc, s.type, {a});
      const std::uint32_t rest = emit(Code::kFSub, s.type, {a, whole});
      const std::uint32_t infinite = emit(Code::kFClass, s.type, Type::kMask, {a}, 0x204);
      const std::uint32_t zero = constant(s.type, 0);
      result(i, {emit(Code::kCopySign, s.type,
                      {emit(Code::kSelect, raw(s.type), {infinite, zero, rest}), a}),
                 whole});
      return true;
    }
    case Id::lrint:
    case Id::llrint:
    case Id::lround:
    case Id::llround: {
      const bool rounds = i.getIntrinsicID() == Id::lround || i.getIntrinsicID() == Id::llround;
      const Scalar s = scalar_of(i.getArgOperand(0)->getType());
      const std::uint32_t whole =
          emit(rounds ? Code::kRound : Code::kRint, s.type, {operand(i.getArgOperand(0))});
      result(i, {convert(s.type, scalar_of(i.getType()).type, true, whole)});
      return true;
    }
    case Id::readcyclecounter:
    case Id::readsteadycounter:
      result(i, {emit(Code::kClock, Type::kI64, {})});
      return true;
    case Id::vector_reduce_add:
      reduce(i, Code::kAdd);
      return true;
    case Id::vector_reduce_mul:
      reduce(i, Code::kMul);
      return true;
    case Id::vector_reduce_and:
      reduce(i, Code::kAnd);
      return true;
    case Id::vector_reduce_or:
      reduce(i, Code::kOr);
      return true;
    case Id::vector_reduce_xor:
      reduce(i, Code::kXor);
      return true;
    case Id::vector_reduce_smin:
      reduce(i, Code::kSMin);
      return true;
    case Id::vector_reduce_smax:
      reduce(i, Code::kSMax);
      return true;
    case Id::vector_reduce_umin:
      reduce(i, Code::kUMin);
      return true;
    case Id::vector_reduce_umax:
      reduce(i, Code::kUMax);
      return true;
    case Id::vector_reduce_fadd:
      reduce(i, Code::kFAdd);
      return true;
    case Id::vector_reduce_fmul:
      reduce(i, Code::kFMul);
      return true;
    case Id::vector_reduce_fmin:
      reduce(i, Code::kFMin);
      return true;
    case Id::vector_reduce_fmax:
      reduce(i, Code::kFMax);
      return true;
    default:
      return false;
  }
}

namespace {

std::optional<TextCall> text_call(llvm::StringRef name) {
  if (name == "__ockl_printf_begin") return TextCall::kBegin;
  if (name == "__ockl_fprintf_stderr_begin") return TextCall::kBeginError;
  if (name == "__ockl_printf_append_args" || name == "__ockl_fprintf_append_args")
    return TextCall::kNumbers;
  if (name == "__ockl_printf_append_string_n" || name == "__ockl_fprintf_append_string_n")
    return TextCall::kString;
  return std::nullopt;
}

}  // namespace

/// Printing and allocating: functions of the device library that only the runtime can provide.
bool Translator::service(const llvm::CallInst& i, llvm::StringRef name) {
  const auto call = text_call(name);
  const bool allocates = name == "__ockl_dm_alloc";
  if (!call && !allocates && name != "__ockl_dm_dealloc") return false;
  Op op;
  const Code code = call ? Code::kText : allocates ? Code::kAllocate : Code::kRelease;
  op.run = table_.find(code, Type::kI64, false);
  if (call) {
    Operands all;
    for (const llvm::Value* argument : i.args()) all.push_back(operand(argument));
    op.list = list_of(all);
    op.imm = static_cast<std::int64_t>(*call);
  } else {
    op.a = operand(i.getArgOperand(0));
  }
  if (!i.getType()->isVoidTy()) op.d = new_register(Type::kI64, false);
  append(op);
  if (op.d != 0) result(i, {op.d});
  return true;
}

bool Translator::library_function(const llvm::CallInst& i, llvm::StringRef name) {
  if (service(i, name)) return true;
  const auto form = library_form(name);
  if (!form) return false;
  elementwise(i, form->code, form->arguments);
  return true;
}

void Translator::call(const llvm::CallInst& i) {
  const llvm::Function* callee = i.getCalledFunction();
  if (i.isInlineAsm()) {
    // Empty assembly is a compiler barrier.
    const auto* assembly = llvm::cast<llvm::InlineAsm>(i.getCalledOperand());
    if (assembly->getAsmString().empty() && i.getType()->isVoidTy()) return;
    refuse(i, fmt::format("inline assembly \"{}\"", assembly->getAsmString().str()));
  }
  if (callee == nullptr) refuse(i, "a call through a function pointer");
  const llvm::StringRef name = callee->getName();
  if (!callee->isDeclaration()) refuse(i, fmt::format("the recursive function '{}'", name.str()));
  llvm::StringRef stem = name;
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  const bool done = stem.consume_front("llvm.amdgcn.") ? amdgcn_intrinsic(i, stem)
                    : intrinsic != nullptr             ? generic_intrinsic(*intrinsic)
                                                       : library_function(i, name);
  if (!done)
    refuse(i, fmt::format("{} '{}'", intrinsic != nullptr ? "the intrinsic" : "the function",
                          name.str()));
}

}  // namespace swizzleperf::vgpu
