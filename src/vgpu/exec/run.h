// Executes blocks of a translated kernel.
#pragma once

#include "vgpu/exec/wave.h"

namespace swizzleperf::vgpu {

/// Makes `run` ready for blocks of this launch; cheap when it was for the launch before.
void attach(BlockRun& run, const Program& program, const Launch& launch, const DeviceMemory& memory,
            const std::vector<Allocation>& own_memory);

/// Runs one block. `recorder` and `observer` may be null. Throws Error(kInput) for what the kernel
/// does wrong.
void run_block(BlockRun& run, const Dim3& block_index, BlockRecorder* recorder,
               AccessObserver* observer = nullptr);

}  // namespace swizzleperf::vgpu
