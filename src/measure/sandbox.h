// What a program that is built from somebody else's text may do while it is measured.
//
// It may write only below one folder, take no network, no more memory, file space and time than it
// is given, and leaves no process behind. How that is done is in base/walls.h and
// base/supervisor.cc; here it is found out which walls can be had on this machine, by having a
// function of ours run into them. What was seen is said, never assumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/subprocess.h"

namespace swizzleperf::measure {

struct Confinement {
  std::filesystem::path writable;  ///< the one folder, which exists; also its home and, below it,
                                   ///< where TMPDIR points
  double time_limit_s = 600;
  std::uint64_t memory_bytes = 0;  ///< resident, of all its processes; 0 = three quarters of what
                                   ///< the host has free
  std::uint64_t file_bytes = std::uint64_t{16} << 30;  ///< of any one file
  bool network = false;
};

struct Protections {
  Walls walls;                       ///< that can be had; no folder yet
  std::vector<std::string> active;   ///< "no network", "writes only below its folder", ...
  std::vector<std::string> missing;  ///< "no network: <why>"
};

/// What can be had here, found out once by trying.
const Protections& protections();

/// Three quarters of what the kernel says could be had without swapping; 0 if it does not say.
std::uint64_t most_of_free_memory();

/// The same child, confined. The device files stay usable.
ChildSpec confined(ChildSpec spec, const Confinement& confinement);

}  // namespace swizzleperf::measure
