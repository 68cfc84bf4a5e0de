// See profile.h. Which profiler, on which GPU, within which bounds; and whatever goes wrong on the
// way becomes the reason why there are no counters, since a measurement without them is still one.
#include "measure/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "machine/detect.h"
#include "measure/counters.h"
#include "measure/ncu.h"
#include "measure/rocprofv3.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

/// What is known of the GPU that will be counted on: the host's first of the vendor.
struct Known {
  std::string arch;
  double memory_bytes_per_ns = kFastestMemory;
};

/// The faster of memory and last-level cache: AMD counts what either answers.
double bandwidth_of(const Machine& machine) {
  const double cache = machine.llc ? machine.llc->bytes_per_clk * machine.clock_ghz : 0;
  return std::max(machine.hbm_bytes_per_ns, cache);
}

Known known_gpu(Language language) {
  std::vector<Machine> machines;
  try {
    machines = all_machines();
  } catch (const Error&) {  // an installation without models: wider bounds
    return {};
  }
  const std::string vendor = language == Language::kCuda ? "nvidia" : "amd";
  for (const DetectedGpu& gpu : detect_gpus("/", machines)) {
    if (gpu.vendor != vendor) continue;
    Known known{gpu.arch, 0};
    for (const Machine& machine : machines)
      if (std::find(gpu.models.begin(), gpu.models.end(), machine.name) != gpu.models.end())
        known.memory_bytes_per_ns = std::max(known.memory_bytes_per_ns, bandwidth_of(machine));
    if (known.memory_bytes_per_ns == 0) known.memory_bytes_per_ns = kFastestMemory;
    return known;
  }
  return {};
}

/// An empty folder below `scratch`, so that nothing of an earlier call is read.
fs::path own_folder(const fs::path& scratch) {
  fs::path folder = fs::absolute(scratch) / "profiler";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  make_directories(folder);
  return folder;
}

Profile run(const ChildSpec& program, Language language, const Target& target,
            const fs::path& scratch) {
  const bool cuda = language == Language::kCuda;
  if (!find_program(cuda ? "ncu" : "rocprofv3"))
    return {std::nullopt, cuda ? "ncu is not on PATH: it comes with the CUDA toolkit (Nsight "
                                 "Compute)"
                               : "rocprofv3 is not on PATH: it comes with ROCm 6.2 and later "
                                 "(/opt/rocm/bin)"};
  if (target.symbol.empty())
    return {std::nullopt, "the kernel's symbol is not known, by which a profiler is told of it"};
  ChildSpec resolved = program;
  if (const auto found = find_program(program.argv.at(0)))
    resolved.argv[0] = fs::absolute(*found).string();  // as run_child() would find it
  const Known gpu = known_gpu(language);
  const fs::path folder = own_folder(scratch);
  return cuda ? run_ncu(resolved, target, folder, gpu.memory_bytes_per_ns)
              : run_rocprofv3(resolved, target, folder, gpu.arch, gpu.memory_bytes_per_ns);
}

}  // namespace

Profile profile(const ChildSpec& program, Language language, const Target& target,
                const fs::path& scratch) {
  try {
    return run(program, language, target, scratch);
  } catch (const std::exception& fault) {  // ours, or the file system's
    return {std::nullopt, fault.what()};
  }
}

}  // namespace swizzleperf::measure
