// The state of a block while it runs, and what operations need of it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "vgpu/exec.h"
#include "vgpu/exec/program.h"

namespace swizzleperf::vgpu {

// Generic (flat) pointers: device memory has host addresses, which stay below 2^47; LDS and private
// memory get apertures above.
constexpr std::uint64_t kLdsAperture = 0x1000'0000'0000'0000;
constexpr std::uint64_t kPrivateAperture = 0x2000'0000'0000'0000;
constexpr std::uint64_t kFunctionAperture = 0x3000'0000'0000'0000;
constexpr std::uint64_t kApertureMask = 0xf000'0000'0000'0000;
constexpr std::uint32_t kNull32 = 0xffffffff;  // null of LDS and private pointers

/// A stretch of memory that an access may fall into.
struct Region {
  std::uint64_t begin = 1;
  std::uint64_t end = 0;
  bool recorded = true;  ///< false for kernel arguments, which no cache model wants to see
  bool writable = true;
};

struct BlockRun;

/// The data of one lane outside the execution mask must go somewhere.
struct alignas(64) Sink {
  std::uint8_t bytes[256];
};

enum class WaveState : std::uint8_t { kReady, kAtBarrier, kAtGridBarrier, kDone };

struct Wave {
  std::uint8_t* registers = nullptr;
  std::uint64_t exec = 0;  ///< lanes that execute
  BlockRun* run = nullptr;
  std::uint64_t all = 0;  ///< lanes that exist
  std::uint32_t index = 0;
  std::uint32_t block = 0;   ///< next block to execute
  std::uint32_t rounds = 0;  ///< of waiting loops since somebody else had a turn
  WaveState state = WaveState::kReady;
  std::uint8_t* private_memory = nullptr;   ///< lane after lane
  std::uint64_t* pending = nullptr;         ///< by block: lanes that wait for it
  std::vector<std::uint64_t> pending_bits;  ///< which blocks have any
};

/// Thrown when the recorder wants no more of this block.
struct Abandoned {};

/// A line that one lane prints, in the pieces that the compiler passes: the format, then arguments.
struct Message {
  std::vector<std::variant<std::uint64_t, std::string>> pieces;
  bool is_error = false;
};

/// One block in execution; belongs to a thread and is reused.
struct BlockRun {
  // Scratch of memory operations, and what kernels reach through pointers we hand out.
  alignas(64) std::uint64_t pointers[kLanes];
  alignas(64) std::uint64_t addresses[kLanes];  // a uniform address, spread
  alignas(64) std::uint8_t implicit_args[256];
  alignas(64) std::uint8_t dispatch_packet[64];
  Sink zero{};
  Sink sink{};
  const Program* program = nullptr;
  std::uint64_t prepared_for = 0;  ///< id of the program that registers are laid out for
  const Launch* launch = nullptr;
  const DeviceMemory* memory = nullptr;
  const std::vector<Allocation>* own_memory =
      nullptr;  ///< variables that the runtime did not place
  BlockRecorder* recorder = nullptr;
  AccessObserver* observer = nullptr;
  bool watched = false;  ///< by one of the two
  std::vector<Wave> waves;
  std::vector<std::uint8_t> registers;
  std::vector<std::uint64_t> pending;
  std::vector<std::uint8_t> lds;
  std::vector<std::uint8_t> private_memory;
  std::vector<Region> sites;
  Cost cost;
  std::uint64_t steps = 0;
  std::uint64_t effects = 0;  ///< changes of memory that others see
  std::uint64_t clock = 0;
  std::vector<Message> messages;  ///< that lanes are composing or have sent
  std::string text;               ///< printed so far
  std::string error_text;         ///< the first line for stderr: of a failed assertion
  Dim3 block_index;
};

enum class Space : std::uint8_t { kGlobal, kLds, kPrivate, kFlat };

/// What an access wants to do, for its checks.
enum class Intent : std::uint8_t { kRead, kWrite, kAtomic };

// Slow paths, shared by all instruction sets (memory.cc).

/// The region around [address, address + bytes) of device memory; throws the fault if there is
/// none.
Region find_region(Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address,
                   Intent intent);
/// Memory that a lane may read, from a flat pointer; faults if there is none.
const void* readable(Wave& wave, const Op& op, std::uint32_t lane, std::uint64_t address,
                     std::uint64_t bytes);
[[noreturn]] void fault(const Wave& wave, const Op& op, std::uint32_t lane,
                        const std::string& what);
[[noreturn]] void fault_lds(const Wave& wave, const Op& op, std::uint32_t lane,
                            std::uint64_t offset);
[[noreturn]] void fault_private(const Wave& wave, const Op& op, std::uint32_t lane,
                                std::uint64_t offset);
[[noreturn]] void fault_misaligned(const Wave& wave, const Op& op, std::uint32_t lane,
                                   std::uint64_t address);
/// Hands over the cost so far and one access, before memory changes.
void record(Wave& wave, const Op& op, AccessKind kind, std::uint64_t mask,
            const std::uint64_t* addresses);

}  // namespace swizzleperf::vgpu
