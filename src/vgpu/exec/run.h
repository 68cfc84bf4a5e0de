// Executes blocks of a translated kernel.
#pragma once

#include "swizzleperf/error.h"
#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {

/// Makes `run` ready for blocks of this launch; cheap when it was for the launch before.
void attach(BlockRun& run, const Program& program, const Launch& launch, const DeviceMemory& memory,
            const std::vector<Allocation>& own_memory);

/// Begins a block, which goes on with continue_block. `recorder` and `observer` may be null.
void start_block(BlockRun& run, const Dim3& block_index, BlockRecorder* recorder,
                 AccessObserver* observer = nullptr);

/// Why a block returns the thread it ran on.
enum class BlockState : std::uint8_t {
  kDone,
  kWaits,          ///< for what another block does, or seems to
  kAtGridBarrier,  ///< until pass_grid_barrier
};

/// Throws Error(kInput) for what the kernel does wrong.
BlockState continue_block(BlockRun& run);
/// False when the recorder wants no more of the block.
bool pass_grid_barrier(BlockRun& run);

/// For a block that waits and changes nothing, as all others do.
WaitsForEver waits_for_ever(const BlockRun& run);

/// Runs one block from beginning to end. `recorder` and `observer` may be null. Throws
/// Error(kInput) for what the kernel does wrong.
void run_block(BlockRun& run, const Dim3& block_index, BlockRecorder* recorder,
               AccessObserver* observer = nullptr);

}  // namespace swizzleperf::vgpu
