// What GPU is really there, and how many dies it has.
//
// A swizzle for eight dies on a partition of one is a slow-down, so the die count is read from the
// system and never assumed: on AMD from the kernel driver's topology in sysfs, where `num_xcc` is
// the number of dies of this partition (absent on older chips, which have one; values such as 65535
// mean that the driver does not know). NVIDIA shows the product's name in /proc; its L2 partitions
// come from the model of that name. Nothing here needs a vendor library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "swizzleperf/machine.h"

namespace swizzleperf {

struct DetectedGpu {
  std::string vendor;   ///< "amd" | "nvidia"
  std::string product;  ///< as the system names it; may be empty
  std::string uuid;     ///< "GPU-..." as its driver writes it; empty where it does not say
  std::string arch;     ///< gfx942, ...; empty where the system does not say
  std::optional<std::uint32_t> dies;
  std::optional<std::uint32_t> cus;  ///< of all its dies
  std::string source;                ///< the file that says so
  std::string problem;  ///< one sentence when something could not be established, else empty
  std::vector<std::string> models;  ///< names of the machine models that fit, may be several
};

/// Looks below `root` ("/" but in tests) and compares with `machines`.
std::vector<DetectedGpu> detect_gpus(const std::filesystem::path& root,
                                     const std::vector<Machine>& machines);

}  // namespace swizzleperf
