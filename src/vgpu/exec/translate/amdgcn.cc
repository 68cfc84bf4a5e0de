// AMDGPU's intrinsics, but for those between lanes (lane_calls.cc).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "vgpu/exec/translate/translator.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {
namespace {

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
      {"sad.hi.u8", {Code::kSadHiU8, 3}},
      {"sad.u16", {Code::kSadU16, 3}},
      {"msad.u8", {Code::kMSadU8, 3}},
      {"lerp", {Code::kLerp, 3}},
      {"fmul.legacy", {Code::kMulLegacy, 2}},
      {"sffbh", {Code::kSignBits, 1}},
      {"div.fmas", {Code::kFma, 3}},
      {"div.fixup", {Code::kFixup, 3}},
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

}  // namespace

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
  if (name.starts_with("cvt.") && tiny_conversion(i, name)) return true;
  if (name.starts_with("bitop3")) {
    const Type t = scalar_of(i.getType()).type;
    result(i, {emit(Code::kBitOp3, t,
                    {operand(i.getArgOperand(0)), operand(i.getArgOperand(1)),
                     operand(i.getArgOperand(2))},
                    immediate(i, 3))});
    return true;
  }
  if (name.starts_with("div.scale")) {
    // Nothing is scaled: our division is exact whatever the exponents.
    result(i, {operand(i.getArgOperand(immediate(i, 2) != 0 ? 0 : 1)), constant(Type::kMask, 0)});
    return true;
  }
  if (name.starts_with("cvt.pknorm") || name == "cvt.pk.i16" || name == "cvt.pk.u16") {
    const Code code = name == "cvt.pknorm.i16"   ? Code::kCvtPkNormI16
                      : name == "cvt.pknorm.u16" ? Code::kCvtPkNormU16
                      : name == "cvt.pk.i16"     ? Code::kCvtPkI16
                                                 : Code::kCvtPkU16;
    const std::uint32_t both =
        emit(code, Type::kI32, {operand(i.getArgOperand(0)), operand(i.getArgOperand(1))});
    result(i, recast({both}, llvm::Type::getInt32Ty(i.getContext()), i.getType()));
    return true;
  }
  if (name == "cvt.pk.u8.f32") {
    result(i, {emit(Code::kCvtPkU8, Type::kI32,
                    {operand(i.getArgOperand(0)), operand(i.getArgOperand(1)),
                     operand(i.getArgOperand(2))})});
    return true;
  }
  if (const auto form = amdgcn_form(name)) {
    elementwise(i, form->code, form->arguments);
    return true;
  }
  return false;
}

/// The formats of A and B, and which bytes of the scales: see Code::kMatrix.
std::int64_t Translator::tiny_operands(const llvm::CallInst& i, const MatrixShape& shape) const {
  const auto chosen = [&](unsigned argument) {
    static constexpr Tiny formats[] = {Tiny::kFp8, Tiny::kBf8, Tiny::kFp6, Tiny::kBf6, Tiny::kFp4};
    const std::int64_t code = immediate(i, argument);
    if (code > 4) refuse(i, "a matrix instruction with this format");
    return static_cast<std::int64_t>(formats[code]);
  };
  if (!shape.scaled)
    return static_cast<std::int64_t>(eight_bits(shape.a_is_bf8)) << 16 |
           static_cast<std::int64_t>(eight_bits(shape.b_is_bf8)) << 20;
  // Eight-bit elements lie in a lane in another order of k than narrower ones. The order cancels
  // out of a product of equals only.
  if ((immediate(i, 3) < 2) != (immediate(i, 4) < 2))
    refuse(i, "a matrix instruction on eight-bit and narrower elements together");
  return chosen(3) << 16 | chosen(4) << 20 | immediate(i, 5) << 24 | immediate(i, 7) << 28;
}

/// The eight-bit format of the kernel's GPU.
Tiny Translator::eight_bits(bool bf8) const {
  const bool ocp = function_.getFnAttribute("target-cpu").getValueAsString() == "gfx950";
  return ocp ? (bf8 ? Tiny::kBf8 : Tiny::kFp8) : (bf8 ? Tiny::kBf8Fnuz : Tiny::kFp8Fnuz);
}

/// Conversions between floats and eight bits, v_cvt_*: which byte or half, and the format.
bool Translator::tiny_conversion(const llvm::CallInst& i, llvm::StringRef name) {
  const bool bf8 = name.contains("bf8");
  const auto word = [&](unsigned argument) { return operand(i.getArgOperand(argument)); };
  const std::int64_t format = static_cast<std::int64_t>(eight_bits(bf8)) << 4;
  const auto widened = [&](std::int64_t byte) {
    return emit(Code::kFromTiny, Type::kI32, Type::kF32, {to_divergent(Type::kI32, word(0))},
                format | byte);
  };
  if (name == "cvt.f32.fp8" || name == "cvt.f32.bf8") {
    result(i, {widened(immediate(i, 1))});
  } else if (name == "cvt.pk.f32.fp8" || name == "cvt.pk.f32.bf8") {
    const std::int64_t first = immediate(i, 1) != 0 ? 2 : 0;
    const std::uint32_t low = widened(first);
    result(i, {low, widened(first + 1)});
  } else if (name == "cvt.pk.fp8.f32" || name == "cvt.pk.bf8.f32") {
    result(i, {emit(Code::kToTiny, Type::kI32, {word(0), word(1), word(2)},
                    format | immediate(i, 3))});
  } else if (name == "cvt.sr.fp8.f32" || name == "cvt.sr.bf8.f32") {
    result(i, {emit(Code::kToTinyStochastic, Type::kI32, {word(0), word(1), word(2)},
                    format | immediate(i, 3))});
  } else {
    return false;
  }
  return true;
}

bool Translator::matrix(const llvm::CallInst& i, const std::string& name) {
  const MatrixShape* shape = find_matrix_shape(name);
  if (shape == nullptr) return false;
  if (!shape->scaled)
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
  if (shape->scaled)
    for (const unsigned k : {6U, 8U}) all.push_back(operand(i.getArgOperand(k)));
  Op op;
  op.run = table_.find(Code::kMatrix, results[0].type, false);
  op.list = list_of(all);
  op.count = static_cast<std::uint32_t>(all.size());
  op.imm = shape - &matrix_shape(0);
  if (shape->input == MatrixInput::kTiny) op.imm |= tiny_operands(i, *shape);
  append(op);
  define(&i, d);
  return true;
}

}  // namespace swizzleperf::vgpu
