// Where the pieces lie that a program for the virtual GPU is built from.
#pragma once

#include <filesystem>
#include <string>

namespace swizzleperf::vgpu {

struct Pieces {
  std::filesystem::path runtime_library;  ///< libswizzleperf_hip.so
  std::filesystem::path device_library;   ///< swizzleperf_device.bc, stands for ROCm's
  std::filesystem::path prelude;          ///< force-included before a HIP program
  std::filesystem::path launcher;         ///< swizzleperf-launch, the program of a launch spec
  std::filesystem::path cuda_headers;     ///< stand for a CUDA toolkit's
  std::filesystem::path hip_headers;      ///< what later versions of HIP have and 5.2 lacks

  /// HIP's header, precompiled for one half ("device", "host"); such a file cannot be moved, so
  /// only a build folder has it.
  [[nodiscard]] std::filesystem::path precompiled(const std::string& half,
                                                  const std::string& arch) const {
    return device_library.parent_path() / (half + "-" + arch + ".pch");
  }
};

/// One of our own executables. Throws as locate_pieces does.
std::filesystem::path locate_compiler(const std::string& name);

/// A directory with the headers of a CUDA toolkit, other than ours.
bool is_cuda_toolkit(const std::filesystem::path& directory);

/// clang++ as a full path. Throws Error(kInput) when it is not installed.
std::string find_compiler();

/// Looks beside the running executable: first as in a build folder (., ./device), then as installed
/// (../lib, ../share/swizzleperf). Throws Error(kInput) naming the file that is missing.
Pieces locate_pieces();

}  // namespace swizzleperf::vgpu
