// Intrinsics and library functions: tables from names to operations, and the few that take more
// than one. What is not here is refused by its name.
#include <fmt/format.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "vgpu/exec/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

namespace Id = llvm::Intrinsic;

std::int64_t immediate(const llvm::CallInst& i, unsigned argument) {
  const auto* c = llvm::dyn_cast<llvm::ConstantInt>(i.getArgOperand(argument));
  return c == nullptr ? 0 : static_cast<std::int64_t>(c->getZExtValue());
}

struct Form {
  Code code;
  unsigned arguments;
};

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

/// AMDGPU intrinsics that are one elementwise operation; the name without "llvm.amdgcn." and
/// without its type.
std::optional<Form> amdgcn_form(llvm::StringRef name) {
  static const std::unordered_map<std::string, Form> forms = {
      {"rcp", {Code::kRcp, 1}},
      {"rsq", {Code::kRsq, 1}},
      {"sqrt", {Code::kSqrt, 1}},
      {"sin", {Code::kSinTurns, 1}},
      {"cos", {Code::kCosTurns, 1}},
      {"exp2", {Code::kExp2, 1}},
      {"log", {Code::kLog2, 1}},
      {"tanh", {Code::kTanH, 1}},
      {"fract", {Code::kFract, 1}},
      {"frexp.mant", {Code::kFrexpMantissa, 1}},
      {"ldexp", {Code::kLdexp, 2}},
      {"fmed3", {Code::kFMed3, 3}},
      {"ubfe", {Code::kBfeU, 3}},
      {"sbfe", {Code::kBfeS, 3}},
      {"perm", {Code::kPerm, 3}},
      {"alignbyte", {Code::kAlignByte, 3}},
      {"sad.u8", {Code::kSadU8, 3}},
      {"mul.u24", {Code::kMul24U, 2}},
      {"mul.i24", {Code::kMul24S, 2}},
      {"mulhi.u24", {Code::kMulHi24U, 2}},
      {"mulhi.i24", {Code::kMulHi24S, 2}},
      {"sdot4", {Code::kDot4S, 3}},
      {"udot4", {Code::kDot4U, 3}},
  };
  // The type suffix, if there is one, is the last component (f32, i32, ...).
  const auto find = [&](llvm::StringRef key) -> std::optional<Form> {
    const auto it = forms.find(key.str());
    return it == forms.end() ? std::nullopt : std::optional(it->second);
  };
  if (const auto whole = find(name)) return whole;
  return find(name.rsplit('.').first);
}

/// Scheduling hints and cache control: nothing to execute here.
bool is_hint(llvm::StringRef name) {
  static constexpr const char* prefixes[] = {
      "wave.barrier", "sched.",           "s.sleep",   "s.setprio",      "s.waitcnt",
      "s.wait",       "iglp.opt",         "s.nop",     "s.dcache",       "buffer.wb",
      "buffer.inv",   "s.barrier.signal", "s.sethalt", "s.incperflevel", "s.decperflevel",
      "s.ttracedata", "endpgm",           "s.sendmsg", "buffer.gl",      "s.prefetch",
      "s.setreg"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](const char* p) { return name.starts_with(p); });
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

void Translator::elementwise(const llvm::CallInst& i, Code code, unsigned arguments) {
  const auto scalars = scalars_of(i.getArgOperand(0)->getType());
  const auto results = scalars_of(i.getType());
  if (i.getType()->isIntegerTy(128))
    refuse(i, fmt::format("'{}' on 128-bit integers", i.getCalledFunction()->getName().str()));
  Operands a[3];
  for (unsigned n = 0; n < arguments; ++n) a[n] = operands(i.getArgOperand(n));
  Operands out;
  for (std::size_t k = 0; k < scalars.size(); ++k) {
    const Scalar& s = scalars[k];
    if (s.bits != 8 * size_of(s.type))
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
      if (s.type == Type::kI64) refuse(i, "64-bit signed multiplication with overflow detection");
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
  if (op.bytes > sizeof(Sink::bytes)) refuse(i, fmt::format("a memory copy of {} bytes", op.bytes));
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

/// A lane number or value that the hardware reads from a scalar register.
std::uint32_t Translator::uniform_operand(const llvm::Value* value) {
  return to_uniform(scalar_of(value->getType()).type, operand(value));
}

/// Cross-lane operations move 32-bit words; other types are taken apart, moved and put together.
void Translator::by_words(const llvm::CallInst& i, const std::vector<const llvm::Value*>& values,
                          const std::function<std::uint32_t(const Operands&)>& move) {
  llvm::Type* type = i.getType();
  llvm::LLVMContext& context = type->getContext();
  const auto bits = static_cast<unsigned>(layout_.getTypeSizeInBits(type).getFixedValue());
  llvm::Type* word = llvm::Type::getInt32Ty(context);
  if (bits < 32) {
    const Scalar s = scalar_of(type);
    Operands words;
    for (const llvm::Value* v : values)
      words.push_back(s.type == Type::kMask ? convert(Type::kMask, Type::kI32, false, operand(v))
                                            : resized(operand(v), raw(s.type), Type::kI32));
    const std::uint32_t moved = move(words);
    result(i, {s.type == Type::kMask ? convert(Type::kI32, Type::kMask, false, moved)
                                     : resized(moved, Type::kI32, raw(s.type))});
    return;
  }
  if (bits % 32 != 0) refuse(i, "moving a value of this width between lanes");
  llvm::Type* words_type = llvm::FixedVectorType::get(word, bits / 32);
  std::vector<Operands> words;
  words.reserve(values.size());
  for (const llvm::Value* v : values) words.push_back(recast(operands(v), type, words_type));
  Operands moved;
  for (std::size_t k = 0; k < bits / 32; ++k) {
    Operands nth;
    nth.reserve(words.size());
    for (const Operands& w : words) nth.push_back(w[k]);
    moved.push_back(move(nth));
  }
  result(i, recast(moved, words_type, type));
}

/// Cross-lane operations, and what asks for the launch or the lane.
bool Translator::lane_intrinsic(const llvm::CallInst& i, llvm::StringRef name) {
  const auto axis = [&]() -> std::int64_t {
    return name.ends_with(".x") ? 0 : name.ends_with(".y") ? 1 : 2;
  };
  const auto word = [&](unsigned argument) { return operand(i.getArgOperand(argument)); };
  const auto define_word = [&](Code code, std::initializer_list<std::uint32_t> args,
                               std::int64_t imm = 0) {
    result(i, {emit(code, Type::kI32, args, imm)});
    return true;
  };
  const auto ballot = [&](std::uint32_t mask) {
    result(i, {emit(Code::kBallot, scalar_of(i.getType()).type, {mask})});
    return true;
  };
  if (name.starts_with("workitem.id.")) return define_word(Code::kWorkItemId, {}, axis());
  if (name.starts_with("workgroup.id.")) return define_word(Code::kWorkGroupId, {}, axis());
  if (name == "implicitarg.ptr" || name == "dispatch.ptr" || name == "kernarg.segment.ptr") {
    const int which = name.starts_with("i") ? 0 : name.starts_with("d") ? 1 : 2;
    result(i, {emit(Code::kSpecialAddress, Type::kI64, {}, which)});
    return true;
  }
  if (name == "groupstaticsize") {
    result(i, {constant(Type::kI32, program_->static_lds_bytes)});
    return true;
  }
  if (name == "wavefrontsize") {
    result(i, {constant(Type::kI32, program_->wave_lanes)});
    return true;
  }
  if (name == "s.memtime" || name == "s.memrealtime") {
    result(i, {emit(Code::kClock, Type::kI64, {})});
    return true;
  }
  if (name == "s.get.waveid.in.workgroup") return define_word(Code::kWaveId, {});
  if (name == "s.getreg") {
    result(i, {constant(Type::kI32, 0)});
    return true;
  }
  if (name == "mbcnt.lo") return define_word(Code::kMbcntLo, {word(0), word(1)});
  if (name == "mbcnt.hi") return define_word(Code::kMbcntHi, {word(0), word(1)});
  if (name.starts_with("ballot")) return ballot(word(0));
  if (name.starts_with("icmp.") || name.starts_with("fcmp.")) {
    const auto predicate = static_cast<llvm::CmpInst::Predicate>(immediate(i, 2));
    return ballot(
        compare_pair(predicate, scalar_of(i.getArgOperand(0)->getType()), word(0), word(1)));
  }
  if (name.starts_with("inverse.ballot")) {
    result(i, {operand(i.getArgOperand(0)) & ~kUniformBit});
    return true;
  }
  if (name.starts_with("readfirstlane")) {
    by_words(i, {i.getArgOperand(0)},
             [&](const Operands& w) { return to_uniform(Type::kI32, w[0]); });
    return true;
  }
  if (name.starts_with("readlane")) {
    const std::uint32_t lane = uniform_operand(i.getArgOperand(1));
    by_words(i, {i.getArgOperand(0)}, [&](const Operands& w) {
      return is_uniform(w[0]) ? w[0] : emit(Code::kReadLane, Type::kI32, {w[0], lane});
    });
    return true;
  }
  if (name.starts_with("writelane")) {
    const std::uint32_t lane = uniform_operand(i.getArgOperand(1));
    by_words(i, {i.getArgOperand(0), i.getArgOperand(2)}, [&](const Operands& w) {
      return emit(Code::kWriteLane, Type::kI32, {to_uniform(Type::kI32, w[0]), lane, w[1]});
    });
    return true;
  }
  if (name == "ds.bpermute") return define_word(Code::kBPermute, {word(0), word(1)});
  if (name == "ds.permute") return define_word(Code::kPermute, {word(0), word(1)});
  if (name == "ds.swizzle")
    return define_word(Code::kSwizzle, {to_divergent(Type::kI32, word(0))}, immediate(i, 1));
  if (name.starts_with("update.dpp") || name.starts_with("mov.dpp")) {
    const unsigned first = name.starts_with("update") ? 2 : 1;
    const std::int64_t imm = immediate(i, first) | immediate(i, first + 1) << 16 |
                             immediate(i, first + 2) << 20 | (immediate(i, first + 3) & 1) << 24;
    std::vector<const llvm::Value*> values;
    values.reserve(first);
    for (unsigned k = 0; k < first; ++k) values.push_back(i.getArgOperand(k));
    by_words(i, values, [&](const Operands& w) {
      return emit(Code::kDpp, Type::kI32, {w[0], w[first - 1]}, imm);
    });
    return true;
  }
  if (name == "permlane16.swap" || name == "permlane32.swap") {
    Op op;
    op.run = table_.find(Code::kPermlaneSwap, Type::kI32, false);
    op.a = word(0);
    op.b = word(1);
    op.c = new_register(Type::kI32, false);
    op.d = new_register(Type::kI32, false);
    op.imm = name == "permlane16.swap" ? 16 : 32;
    append(op);
    define(&i, {op.d, op.c});
    return true;
  }
  return false;
}

bool Translator::amdgcn_intrinsic(const llvm::CallInst& i, llvm::StringRef name) {
  if (is_hint(name)) return true;
  if (lane_intrinsic(i, name)) return true;
  if (name.starts_with("ds.read.tr")) {
    transposed_read(i);
    return true;
  }
  if (name.starts_with("mfma.")) return matrix(i, i.getCalledFunction()->getName().str());
  if (name == "is.shared" || name == "is.private") {
    const std::uint64_t aperture = name == "is.shared" ? kLdsAperture : kPrivateAperture;
    result(i, {emit(Code::kIsAperture, Type::kI64, Type::kMask, {operand(i.getArgOperand(0))},
                    static_cast<std::int64_t>(aperture))});
    return true;
  }
  if (name.starts_with("frexp.exp")) {
    const Scalar s = scalar_of(i.getArgOperand(0)->getType());
    const std::uint32_t e =
        emit(Code::kFrexpExponent, s.type, Type::kI32, {operand(i.getArgOperand(0))});
    result(i, {resized(e, Type::kI32, scalar_of(i.getType()).type)});
    return true;
  }
  if (name == "cvt.pkrtz") {
    const std::uint32_t both = emit(Code::kCvtPkRtz, Type::kI32,
                                    {operand(i.getArgOperand(0)), operand(i.getArgOperand(1))});
    result(i, recast({both}, llvm::Type::getInt32Ty(i.getContext()), i.getType()));
    return true;
  }
  if (name.starts_with("class.")) {
    // v_cmp_class numbers the classes as llvm.is.fpclass does.
    const auto* test = llvm::dyn_cast<llvm::ConstantInt>(i.getArgOperand(1));
    if (test == nullptr) return false;
    const Scalar s = scalar_of(i.getArgOperand(0)->getType());
    result(i, {emit(Code::kFClass, s.type, Type::kMask, {operand(i.getArgOperand(0))},
                    static_cast<std::int64_t>(test->getZExtValue()))});
    return true;
  }
  if (name == "fdot2") {
    const Operands a = operands(i.getArgOperand(0));
    const Operands b = operands(i.getArgOperand(1));
    std::uint32_t sum = operand(i.getArgOperand(2));
    if (immediate(i, 3) != 0) refuse(i, "a saturating dot product");
    for (std::size_t k = 0; k < 2; ++k)
      sum = emit(Code::kFma, Type::kF32,
                 {convert(Type::kF16, Type::kF32, false, a[k]),
                  convert(Type::kF16, Type::kF32, false, b[k]), sum});
    result(i, {sum});
    return true;
  }
  if (const auto form = amdgcn_form(name)) {
    elementwise(i, form->code, form->arguments);
    return true;
  }
  return false;
}

bool Translator::matrix(const llvm::CallInst& i, const std::string& name) {
  const MatrixShape* shape = find_matrix_shape(name);
  if (shape == nullptr) return false;
  for (unsigned k = 3; k < i.arg_size(); ++k)
    if (immediate(i, k) != 0) refuse(i, "a matrix instruction with broadcast controls");
  const auto results = scalars_of(i.getType());
  Operands all;
  for (const Scalar& s : results) all.push_back(new_register(s.type, false));
  const Operands d = all;
  for (unsigned k = 0; k < 3; ++k) {
    const Operands a = operands(i.getArgOperand(k));
    all.append(a.begin(), a.end());
  }
  Op op;
  op.run = table_.find(Code::kMatrix, results[0].type, false);
  op.list = list_of(all);
  op.count = static_cast<std::uint32_t>(all.size());
  op.imm = shape - &matrix_shape(0);
  append(op);
  define(&i, d);
  return true;
}

bool Translator::library_function(const llvm::CallInst& i, llvm::StringRef name) {
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
