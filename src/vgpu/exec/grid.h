// Runs all blocks of a launch.
#pragma once

#include <functional>

#include "vgpu/exec/run.h"

namespace swizzleperf::vgpu {

struct GridOptions {
  unsigned threads = 1;
  /// What records a block; empty = nothing does. With a recorder the thread must be one.
  std::function<BlockRecorder*(std::uint64_t block)> recorder;
  /// Called when a recorded block has ended.
  std::function<void(std::uint64_t block)> finished;
  /// Told of every access; may be null. With an observer the thread must be one.
  GridObserver* observer = nullptr;
};

/// Throws Error(kInput) for the first block (in dispatch order, of those that ran) that fails. What
/// kernels print goes to stdout, block after block.
void run_grid(const Program& program, const Launch& launch, const DeviceMemory& memory,
              const std::vector<Allocation>& own_memory, const GridOptions& options);

}  // namespace swizzleperf::vgpu
