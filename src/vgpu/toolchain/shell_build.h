// --build CMD: the user's own build, with our compilers in the place of hipcc and nvcc.
#pragma once

#include <string>

namespace swizzleperf::vgpu {

/// Runs `sh -c command` here, with a directory first on PATH in which hipcc and nvcc are ours. What
/// the build prints goes to stderr when it fails; then throws Error(kInput). Everything else of the
/// environment (CC, CXX, NVCC, CUDA_PATH, ...) is the user's.
void run_build(const std::string& command);

}  // namespace swizzleperf::vgpu
