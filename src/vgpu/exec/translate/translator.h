// The working state of one translation, shared by the files of this folder.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <set>
#include <string>

#include "vgpu/exec/ops.h"
#include "vgpu/exec/translate.h"

namespace swizzleperf::vgpu {

/// One scalar of a flattened IR type.
struct Scalar {
  Type type;
  std::uint32_t bits;    ///< < 8 * size_of(type) for odd integers, which are kept zero-extended
  std::uint32_t offset;  ///< in memory
  std::uint32_t bytes;   ///< in memory
};

/// The smallest integer type that holds so many bits.
inline Type integer_type(std::uint32_t bits) {
  return bits == 1    ? Type::kMask
         : bits <= 8  ? Type::kI8
         : bits <= 16 ? Type::kI16
         : bits <= 32 ? Type::kI32
                      : Type::kI64;
}

/// The integer type of a type's size: what moves and memory care about.
inline Type raw(Type type) { return type == Type::kMask ? type : integer_type(8 * size_of(type)); }

inline std::uint32_t width_of(Type type) { return type == Type::kMask ? 1 : 8 * size_of(type); }

inline std::uint64_t ones(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::string text_of(const llvm::Type* type);

/// An operation that computes each element of an intrinsic's result.
struct Form {
  Code code;
  unsigned arguments;
};

/// The constant that an intrinsic demands here; 0 if it is none.
inline std::int64_t immediate(const llvm::CallInst& i, unsigned argument) {
  const auto* c = llvm::dyn_cast<llvm::ConstantInt>(i.getArgOperand(argument));
  return c == nullptr ? 0 : static_cast<std::int64_t>(c->getZExtValue());
}

using Operands = llvm::SmallVector<std::uint32_t, 4>;

class Translator {
 public:
  Translator(const KernelIr& kernel, const Slice& slice);
  std::unique_ptr<Program> run();

 private:
  // ---- Types
  void flatten(llvm::Type* type, std::uint32_t offset, llvm::SmallVectorImpl<Scalar>& out) const;
  llvm::SmallVector<Scalar, 4> scalars_of(llvm::Type* type) const;
  Scalar scalar_of(llvm::Type* type) const;  ///< of a type that is one scalar
  std::uint32_t elements_before(llvm::Type* aggregate, unsigned index) const;

  // ---- Registers
  std::uint32_t new_register(Type type, bool uniform);
  std::uint32_t constant(Type type, std::uint64_t bits);
  const Operands& operands(const llvm::Value* value);
  std::uint32_t operand(const llvm::Value* value);  ///< of a value that is one scalar
  void define(const llvm::Value* value, Operands registers);
  void constant_scalars(const llvm::Constant* c, llvm::Type* type, Operands& out);
  std::uint64_t constant_bits(const llvm::Constant* c);
  std::uint64_t global_address(const llvm::GlobalVariable* variable);

  // ---- Operations
  Op& append(Op op);
  /// d = code(a, b, c) of element type `type`, the result a register of type `result`. Uniform if
  /// all operands are and the code has a uniform form.
  std::uint32_t emit(Code code, Type type, Type result, std::initializer_list<std::uint32_t> args,
                     std::int64_t imm = 0, std::int64_t imm2 = 0);
  std::uint32_t emit(Code code, Type type, std::initializer_list<std::uint32_t> args,
                     std::int64_t imm = 0, std::int64_t imm2 = 0) {
    return emit(code, type, type, args, imm, imm2);
  }
  std::uint32_t convert(Type from, Type to, bool sign, std::uint32_t a);
  std::uint32_t to_uniform(Type type, std::uint32_t a);    ///< the first executing lane's
  std::uint32_t to_divergent(Type type, std::uint32_t a);  ///< spread over the lanes
  std::uint32_t sign_extended(const Scalar& s, std::uint32_t a);
  std::uint32_t cleaned(const Scalar& s, std::uint32_t a);
  std::uint32_t list_of(const Operands& registers);
  std::uint32_t resized(std::uint32_t a, Type from, Type to);

  // ---- Instructions
  void block(const llvm::BasicBlock& bb);
  void instruction(const llvm::Instruction& i);
  void result(const llvm::Instruction& i, Operands registers);
  void binary(const llvm::BinaryOperator& i);
  void binary128(const llvm::BinaryOperator& i);
  std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b);
  std::uint32_t multiply_high_signed(std::uint32_t a, std::uint32_t b);
  std::uint32_t compare128(llvm::CmpInst::Predicate predicate, const Operands& a,
                           const Operands& b);
  Operands shifted128(const llvm::BinaryOperator& i, const Operands& a);
  bool is_pair(llvm::Type* type) const;
  void cast(const llvm::CastInst& i);
  void cast128(const llvm::CastInst& i);
  void bitcast(const llvm::Value& i, const llvm::Value* from);
  Operands recast(const Operands& from, llvm::Type* from_type, llvm::Type* to_type);
  void compare(const llvm::CmpInst& i);
  std::uint32_t compare_pair(llvm::CmpInst::Predicate predicate, Scalar s, std::uint32_t x,
                             std::uint32_t y);
  void select(const llvm::SelectInst& i);
  void address(const llvm::GetElementPtrInst& i);
  void element(const llvm::Instruction& i);
  void load(const llvm::LoadInst& i);
  void store(const llvm::StoreInst& i);
  void atomic(const llvm::Instruction& i, const llvm::Value* pointer, const llvm::Value* value,
              AtomicKind kind, const llvm::Value* compared);
  void memory(const llvm::Instruction& i, unsigned space, std::uint32_t pointer, bool is_store,
              const llvm::SmallVectorImpl<Scalar>& elements, Operands& registers);
  void update(const llvm::AtomicRMWInst& i);
  void touch(const llvm::Value* pointer, AccessKind kind, std::uint32_t bytes);
  void allocate(const llvm::AllocaInst& i);
  void terminator(const llvm::Instruction& i);
  void end_block(BlockEnd exit, std::uint32_t condition = 0);
  struct Move {
    std::uint32_t d;
    std::uint32_t a;
    Type type;
  };
  std::vector<Move> moves_of(const llvm::BasicBlock* from, const llvm::BasicBlock* to);
  std::uint32_t copied(std::uint32_t a, Type type);
  void separate(std::vector<Move>& one, std::vector<Move>& other);
  Edge edge(std::vector<Move> moves);
  std::uint32_t to_flat(std::uint32_t pointer, unsigned space);

  // ---- Calls (calls.cc)
  void call(const llvm::CallInst& i);
  bool generic_intrinsic(const llvm::IntrinsicInst& i);
  bool amdgcn_intrinsic(const llvm::CallInst& i, llvm::StringRef name);
  bool lane_intrinsic(const llvm::CallInst& i, llvm::StringRef name);
  bool library_function(const llvm::CallInst& i, llvm::StringRef name);
  bool service(const llvm::CallInst& i, llvm::StringRef name);
  bool tiny_conversion(const llvm::CallInst& i, llvm::StringRef name);
  std::int64_t tiny_operands(const llvm::CallInst& i, const MatrixShape& shape) const;
  Tiny eight_bits(bool bf8) const;
  bool matrix(const llvm::CallInst& i, const std::string& name);
  void transposed_read(const llvm::CallInst& i);
  void elementwise(const llvm::CallInst& i, Code code, unsigned arguments);
  void count128(const llvm::CallInst& i, Code code);
  void three_way(const llvm::CallInst& i);
  void overflow(const llvm::CallInst& i);
  void saturating_conversion(const llvm::CallInst& i, bool sign);
  void reduce(const llvm::CallInst& i, Code code);
  void copy_memory(const llvm::MemIntrinsic& i);
  /// Moves a value of any type as 32-bit words (or a word at a time of two halves).
  void by_words(const llvm::CallInst& i, const std::vector<const llvm::Value*>& values,
                const std::function<std::uint32_t(const Operands&)>& move);
  std::uint32_t uniform_operand(const llvm::Value* value);

  // ---- Set-up and faults
  void load_arguments();
  [[noreturn]] void refuse(const llvm::Instruction& i, const std::string& what) const;
  std::uint32_t file_index(const std::string& file);

  const KernelIr& kernel_;
  const Slice& slice_;
  const llvm::Function& function_;
  const llvm::DataLayout& layout_;
  const Operations& table_;
  std::unique_ptr<Program> program_;
  llvm::DenseMap<const llvm::Value*, Operands> values_;
  std::map<std::pair<Type, std::uint64_t>, std::uint32_t> constants_;
  LdsLayout lds_;
  std::map<const llvm::BasicBlock*, std::uint32_t> first_block_;
  std::map<std::string, std::uint32_t> file_indices_;
  struct EdgeFix {
    std::uint32_t block;
    unsigned which;
    const llvm::BasicBlock* to;
  };
  std::vector<EdgeFix> edge_fixes_;
  Location location_;
  const llvm::Instruction* current_ = nullptr;
  std::uint32_t slot_chunk_ = 0;  ///< free 8-byte slots of the last 64 bytes
  std::uint32_t slot_left_ = 0;
};

}  // namespace swizzleperf::vgpu
