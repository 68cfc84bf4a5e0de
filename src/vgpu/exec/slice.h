// Which instructions of a kernel a translation has to keep.
//
// Functional mode keeps what has an effect and what that needs. Address mode keeps control flow,
// the addresses of global accesses, and what these need; where a needed value comes out of LDS or
// private memory, the stores to that object are needed with their values, and so on until nothing
// changes. Global memory is special: a load whose value is needed is performed, but whether a store
// of this kernel may have written it depends on which buffers the launch passes, so there are two
// slices, one that only records global stores and one that performs them, and the launch decides by
// the roots of both (roots_may_meet in module.cc).
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <set>
#include <vector>

namespace swizzleperf::vgpu {

enum class SliceKind : std::uint8_t { kEverything, kAddresses, kAddressesAndStores };

/// Where a global pointer comes from.
struct PointerRoot {
  enum class Kind : std::uint8_t { kArgument, kVariable, kUnknown } kind = Kind::kUnknown;
  std::uint32_t argument_offset = 0;  ///< of the pointer in the kernel arguments
  const llvm::GlobalVariable* variable = nullptr;
};

struct Slice {
  std::set<const llvm::Value*> values;           ///< instructions whose result is needed
  std::set<const llvm::Instruction*> performed;  ///< memory operations that touch memory for real
  std::vector<PointerRoot> needed_loads;         ///< of global memory
  std::vector<PointerRoot> stores;               ///< to global memory, performed or not
  /// Atomic updates of global memory whose result decides an address or a branch (work handed out
  /// by a counter): what a block does then depends on when it runs, and no trace of it is true.
  /// Empty for kEverything.
  std::set<const llvm::Instruction*> deciding_atomics;

  [[nodiscard]] bool needs(const llvm::Value* value) const { return values.contains(value); }
  [[nodiscard]] bool performs(const llvm::Instruction* i) const { return performed.contains(i); }
};

/// `argument_offsets`: of the kernel's parameters in the packed arguments.
Slice slice_kernel(const llvm::Function& function, SliceKind kind,
                   const std::vector<std::uint32_t>& argument_offsets);

/// Is memory behind the pointer something a cache model wants to see: all but LDS, private memory
/// and the kernel's own arguments?
bool is_recorded(const llvm::Value* pointer);

/// AMDGPU's address spaces.
constexpr unsigned kFlatSpace = 0;
constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kLdsSpace = 3;
constexpr unsigned kConstantSpace = 4;
constexpr unsigned kPrivateSpace = 5;

}  // namespace swizzleperf::vgpu
