// Loops in which a wave may wait for what another wave does.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace swizzleperf::vgpu {

/// Does the value of memory that others write (a volatile or atomic load, an exchange that fails, a
/// load behind a fence) decide whether the loop goes on?
bool waits(const llvm::Loop& loop);

/// The same of the loop or one inside it, where that memory is not LDS.
bool waits_in_or_below_for_global(const llvm::Loop* loop);

}  // namespace swizzleperf::vgpu
