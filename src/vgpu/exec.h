// The virtual GPU's execution engine: LLVM IR of a kernel in, executed blocks out.
//
// A wave runs in lockstep over the IR with an execution mask; lanes that went different ways meet
// again at the first block they share (exec/program.h says how and why). So each load is one
// instruction with 64 addresses, coalescing is exact, and barriers and cross-lane operations are
// simple. Values that LLVM's uniformity analysis proves equal in all lanes are computed once. The
// IR is translated once per kernel and mode into a compact program of wave-wide operations over
// structure-of-arrays registers.
//
// Two modes:
//   functional - everything runs, memory is real;
//   address    - only what addresses, predicates and control flow depend on runs (a backward
//   slice).
//                Stores are recorded but write nothing, unless addresses of the launch may depend
//                on them; floating-point work falls away, and its amount is still counted (per
//                basic block) for the cost of an interval.
// Every access is checked against the allocations; a fault names block, thread and source line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "swizzleperf/error.h"
#include "swizzleperf/grid.h"
#include "trace/recorder.h"

namespace swizzleperf::vgpu {

/// Device memory: host memory of this process at the same addresses. Sorted, disjoint.
struct Allocation {
  std::uint64_t base;
  std::uint64_t bytes;
  std::string name;  ///< for messages: "hipMalloc #3", "device variable 'table'"
};

/// What the kernel may touch. Kept by the runtime; must not change while blocks run.
struct DeviceMemory {
  std::vector<Allocation> allocations;
  [[nodiscard]] const Allocation* find(std::uint64_t address) const;  ///< containing, or null
};

struct KernelInfo {
  std::string symbol;                     ///< as in the IR
  std::string name;                       ///< demangled
  std::vector<std::uint32_t> arg_offset;  ///< bytes into the packed kernel arguments
  std::vector<std::uint32_t> arg_bytes;
  std::vector<std::string> arg_name;  ///< from debug info; "" where unknown
  std::vector<bool> arg_is_pointer;
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t static_lds_bytes = 0;
  std::uint32_t wave_lanes = 64;  ///< 32 where it is CUDA's
  bool allocates = false;         ///< calls malloc or free: a launch needs a heap
  bool repeatable = true;  ///< what it does is all in memory: it neither allocates nor prints
};

/// What a vendor calls the memory that a block shares; warps of 32 lanes are CUDA's.
inline const char* lds_word(std::uint32_t wave_lanes) {
  return wave_lanes == 32 ? "shared memory" : "LDS";
}

struct DeviceVariable {
  std::string symbol;
  std::uint64_t bytes;
  std::uint64_t align;
  std::vector<std::byte> initial;  ///< bytes long
};

enum class Mode { kFunctional, kAddress };

class DeviceHeap;

struct Launch {
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_lds_bytes = 0;
  std::span<const std::byte> kernargs;  ///< kernarg_bytes, packed as the AMDGPU ABI packs them
  std::uint64_t step_limit = 0;         ///< wave operations a block may execute; 0 = none
  DeviceHeap* heap = nullptr;           ///< for kernels that allocate; null = they cannot
};

/// A write made by a block, for comparing two kernels without running whole grids.
struct BlockWrite {
  std::uint64_t address;
  std::vector<std::byte> bytes;
};

/// One executed global-memory instruction of one wave: lane i, if bit i of `mask` is set, touches
/// [addresses[i], addresses[i] + bytes).
struct Access {
  AccessKind kind;
  bool atomic;   ///< the instruction is: loads and stores may be, too
  bool returns;  ///< its result is used
  std::uint64_t mask;
  const std::uint64_t* addresses;
  std::uint32_t bytes;
  std::string_view file;  ///< of the source; valid as long as the module
  std::uint32_t line;     ///< 0 = unknown
};

/// Told of every access before memory changes.
class AccessObserver {
 public:
  virtual ~AccessObserver() = default;
  virtual void access(const Access& access) = 0;
};

/// The same for a whole launch, whose blocks may take turns.
class GridObserver : public AccessObserver {
 public:
  /// The block begins, or goes on; the accesses that follow are its own.
  virtual void turn(std::uint64_t block) = 0;
  /// The block whose turn it is has ended.
  virtual void ended() = 0;
};

/// What a block alone, or a whole launch, is stopped with when it waits for what never comes.
class WaitsForEver : public Error {
 public:
  using Error::Error;
};

/// One module of device code, parsed, checked and translated on demand. Thread-safe once loaded.
class Module {
 public:
  /// Throws Error(kInput) when the bitcode cannot be read or uses what is not supported: the
  /// message names the thing, the kernel and the source line.
  static std::unique_ptr<Module> load(std::span<const std::byte> bitcode, const std::string& name);
  virtual ~Module() = default;

  [[nodiscard]] virtual const std::vector<KernelInfo>& kernels() const = 0;
  [[nodiscard]] virtual const std::vector<DeviceVariable>& variables() const = 0;
  /// Where the runtime put a device variable; before the first run.
  virtual void place_variable(const std::string& symbol, std::uint64_t address) = 0;
  /// After all are placed: writes initial values that are addresses of other variables.
  virtual void link_variables() = 0;

  /// Runs one block. `recorder` may be null. In functional mode memory is written directly.
  virtual void run_block(const KernelInfo& kernel, const Launch& launch, const Dim3& block_index,
                         Mode mode, const DeviceMemory& memory, BlockRecorder* recorder) = 0;

  /// Runs a whole launch in functional mode, in dispatch order on this thread, under the eyes of
  /// `observer`.
  virtual void watch_grid(const KernelInfo& kernel, const Launch& launch,
                          const DeviceMemory& memory, GridObserver& observer) = 0;

  /// The same for one block alone.
  virtual void watch_block(const KernelInfo& kernel, const Launch& launch, const Dim3& block_index,
                           const DeviceMemory& memory, AccessObserver& observer) = 0;

  /// Runs a whole launch in functional mode on all cores (blocks in dispatch order, so a kernel
  /// that uses atomics gives the same result for one thread). Blocks that wait for each other, at a
  /// barrier of the grid or by looking at memory, make progress. What kernels print goes to stdout.
  virtual void run_grid(const KernelInfo& kernel, const Launch& launch, const DeviceMemory& memory,
                        unsigned threads) = 0;

  /// Does what a block asks of memory depend on the others: does it take its work from a counter,
  /// or wait for what another block writes? Then run_block on its own says nothing true, and
  /// record_grid is the way.
  virtual bool needs_order(const KernelInfo& kernel, const Launch& launch,
                           const DeviceMemory& memory) = 0;

  /// Runs a whole launch in functional mode, in dispatch order on this thread, and records every
  /// block: blocks[i] is that of linear index i, with patterns of `patterns`.
  virtual void record_grid(const KernelInfo& kernel, const Launch& launch,
                           const DeviceMemory& memory, PatternTable& patterns,
                           std::vector<RawBlock>& blocks) = 0;
};

/// What becomes of a second definition of a name.
enum class OnConflict { kRefuse, kTakeLast };

/// Links modules of device code, as a device linker links objects. Throws Error(kInput) naming what
/// is defined twice.
std::vector<std::byte> link_bitcode(const std::vector<std::span<const std::byte>>& parts,
                                    OnConflict on_conflict);

/// Registers of a kernel as the real code generator allocates them.
struct CodegenResources {
  std::uint32_t vgprs = 0;  ///< per lane, accumulation registers included
  std::uint32_t sgprs = 0;
  std::uint32_t lds_bytes = 0;
  std::uint32_t scratch_bytes = 0;
};

/// Compiles the kernel for `arch` with LLVM's AMDGPU back end, in process, and reads the resource
/// counts from the metadata it emits.
CodegenResources codegen_resources(std::span<const std::byte> bitcode, const std::string& symbol,
                                   const std::string& arch);

}  // namespace swizzleperf::vgpu
