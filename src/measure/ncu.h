// NVIDIA's Nsight Compute, run and read.
#pragma once

#include <filesystem>

#include "base/subprocess.h"
#include "measure/profile.h"

namespace swizzleperf::measure {

/// `program.argv[0]` is an absolute path. `scratch` is a folder of this call's own.
Profile run_ncu(const ChildSpec& program, const Target& target,
                const std::filesystem::path& scratch, double memory_bytes_per_ns);

}  // namespace swizzleperf::measure
