// Copying what a program is built from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace swizzleperf::measure {

/// More than this is no source code but data or build outputs that nobody meant.
inline constexpr std::uint64_t kMostProjectBytes = std::uint64_t{1} << 30;

struct CopyRules {
  std::vector<std::filesystem::path> left_out;  ///< files and folders of the project
  std::uint64_t most_bytes = kMostProjectBytes;
};

/// Copies a folder into `to`, which need not exist, without .git, runs and bundles of ours, the
/// build folders of CMake (they name absolute paths) and objects, since what building for the
/// virtual GPU left would pass for up to date. Returns sentences on what else was not copied.
/// Throws Error(kInput): it is too large (naming what is largest), something cannot be read or
/// written.
std::vector<std::string> copy_project(const std::filesystem::path& from,
                                      const std::filesystem::path& to, const CopyRules& rules = {});

/// Copies files that lie below `root`, laid out as they are there.
void copy_files(const std::filesystem::path& root, const std::vector<std::filesystem::path>& files,
                const std::filesystem::path& to);

/// The deepest folder that all of these lie below.
std::filesystem::path common_folder(const std::vector<std::filesystem::path>& files);

}  // namespace swizzleperf::measure
