// Counters of one launch, from the vendors' profilers, in one form.
//
// NVIDIA: Nsight Compute (ncu). AMD: rocprofv3, in all its forms of output. A profiler runs the
// program by itself, without our library in it. What it did not count, counted as zero where that
// cannot be, or gave an impossible value for, is nothing here, with a note that says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/subprocess.h"
#include "measure/bundle.h"

namespace swizzleperf::measure {

/// All of one launch. Requests are in the profiler's unit (NVIDIA: sectors of 32 bytes that SMs ask
/// for; AMD: requests of 128 bytes or less at TCC), which `unit` names.
struct Counters {
  std::optional<double> l2_requests;
  std::optional<double> l2_hits;
  std::optional<double> l2_hit_rate;  ///< 0 to 1, computed from the two above
  std::optional<double> dram_read_bytes;
  std::optional<double> dram_write_bytes;
  std::optional<double> milliseconds;  ///< under the profiler
  std::string unit;
  std::string how;  ///< "ncu 2025.3, caches flushed before the launch, clocks as they are"
  std::vector<std::string> notes;
};

struct Profile {
  std::optional<Counters> counters;
  std::string missing;  ///< why there are none: one sentence with what to do about it
};

/// Runs the profiler on the program. Never throws for want of a profiler, of permission or of
/// sense in what it prints: that is `missing`. `scratch` is an existing folder for its files; where
/// the program stands behind walls, so does the profiler, so it must be one that they let through.
Profile profile(const ChildSpec& program, Language language, const Target& target,
                const std::filesystem::path& scratch);

/// More than memory or the last-level cache of any GPU moves, in bytes a nanosecond: the peak of
/// MI300X's Infinity Cache. For machines that there is no model of.
inline constexpr double kFastestMemory = 17'200;

/// The parsers, for what was printed or written elsewhere. Several files are merged, whether they
/// are of one run or of runs that counted different things. Bytes are refused beyond twice what
/// `memory_bytes_per_ns` allows. Throw Error(kInput) naming the file and what is wrong.
Profile parse_ncu(const std::string& text, const Target& target,
                  double memory_bytes_per_ns = kFastestMemory);
Profile parse_rocprofv3(const std::vector<std::filesystem::path>& files, const Target& target,
                        double memory_bytes_per_ns = kFastestMemory);

/// What the driver has counted of a device's energy since it was loaded, in joules; nothing where
/// it does not say. Devices are counted as the driver does, before *_VISIBLE_DEVICES.
std::optional<double> energy_joules(Language language, int device);

/// A change of such a counter, and when it was seen.
struct EnergyChange {
  double seconds = 0;
  double joules = 0;  ///< the new count
};

/// Drivers renew their counters some ten times a second, so only the time from one change to
/// another belongs to the energy between them. Nothing from fewer than three changes: the first may
/// hold what was before.
std::optional<double> watts(const std::vector<EnergyChange>& changes);

/// Runs `work` and says what power the device drew meanwhile.
std::optional<double> watts_while(Language language, int device, const std::function<void()>& work);

struct Gpu {
  std::string name;
  std::string uuid;  ///< "GPU-..."; *_VISIBLE_DEVICES takes it; empty where the driver has none
  int device = 0;    ///< as energy_joules() counts
};

/// The GPUs that a program started now would see, in its order. Looks below `root` ("/" but in
/// tests) for AMD's; asks NVML for NVIDIA's.
std::vector<Gpu> visible_gpus(Language language, const std::filesystem::path& root = "/");

/// Whether counters may be read, as far as can be told without a launch.
struct Permission {
  bool granted = false;
  std::string sentence;  ///< what grants it, or what to do
};
Permission counter_permission(Language language, const std::filesystem::path& root = "/");

}  // namespace swizzleperf::measure
