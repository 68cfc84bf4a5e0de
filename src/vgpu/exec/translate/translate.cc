// Instructions, in order. One IR instruction becomes one operation per scalar of its type; the
// files beside this one say how, by subject.
#include "vgpu/exec/translate.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <atomic>

#include "swizzleperf/error.h"
#include "vgpu/exec/cost.h"
#include "vgpu/exec/translate/translator.h"

namespace swizzleperf::vgpu {
namespace {

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

/// The innermost line in the user's own files: what HIP's headers and Triton's library inline is
/// reported where it was used.
SourceLine source_line(const llvm::Instruction& instruction) {
  for (const llvm::DILocation* at = instruction.getDebugLoc(); at != nullptr;
       at = at->getInlinedAt()) {
    const llvm::StringRef file = at->getFilename();
    const bool system = file.starts_with("/usr/") || file.contains("/include/hip/") ||
                        at->getDirectory().contains("/triton/language");
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

void Translator::instruction(const llvm::Instruction& i) {
  current_ = &i;
  if (const SourceLine at = source_line(i); at.line != 0)
    location_ = {file_index(at.file), at.line};
  location_.atomic = i.isAtomic();
  location_.returns = !i.use_empty();
  add_cost(program_->blocks.back(), i, kernel_.facts->uniformity().isUniform(&i));

  if (const auto* load_inst = llvm::dyn_cast<llvm::LoadInst>(&i)) return load(*load_inst);
  if (const auto* store_inst = llvm::dyn_cast<llvm::StoreInst>(&i)) return store(*store_inst);
  if (const auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) return update(*rmw);
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

// ---- Set-up

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
