// Intrinsics that ask for the launch or the lane, or move values between lanes.
#include <fmt/format.h>

#include "vgpu/exec/translate/translator.h"

namespace swizzleperf::vgpu {

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

}  // namespace swizzleperf::vgpu
