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

}  // namespace swizzleperf::vgpu
