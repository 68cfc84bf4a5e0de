// What doctor says of measuring. A tool that is there is not enough: a driver may keep counters to
// administrators, a device file may be closed, a toolkit may lie beside PATH. Each of these is a
// finding of its own, with what to do.
#include <fmt/format.h>

#include <filesystem>

#include "base/subprocess.h"
#include "cli/finding.h"
#include "measure/nvml.h"
#include "measure/profile.h"
#include "measure/sandbox.h"
#include "measure/session.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

/// A vendor's tool; where its usual folder has it though PATH does not, that is what to do.
Finding vendor_tool(const char* name, const char* purpose, const char* folder, const char* remedy) {
  Finding finding = find_tool(name, purpose, For::kMeasuring, remedy);
  if (finding.found.empty() && find_program((fs::path(folder) / name).string()))
    finding.remedy = fmt::format("it is in {}: put that on PATH", folder);
  return finding;
}

Finding counters(const char* what, measure::Language language) {
  const measure::Permission permission = measure::counter_permission(language);
  return {what, "be allowed to read counters", For::kMeasuring,
          permission.granted ? permission.sentence : "", permission.sentence};
}

Finding probe(const char* what, measure::Language language) {
  const std::string missing = measure::missing_probe(language);
  return {what, "hold a program at the launch", For::kMeasuring,
          missing.empty() ? "beside this program" : "", missing};
}

Finding nvml() {
  Finding finding{"NVML", "tell GPUs apart, read energy", For::kMeasuring, "",
                  "libnvidia-ml.so.1 comes with NVIDIA's driver"};
  if (const auto library = measure::Nvml::open())
    finding.found =
        fmt::format("driver {}, {} of {} GPUs visible", library->driver(),
                    measure::visible_gpus(measure::Language::kCuda).size(), library->devices());
  return finding;
}

/// What was tried and held; what did not hold is said with it.
Finding sandbox() {
  const measure::Protections& walls = measure::protections();
  const std::string missing = fmt::format("{}", fmt::join(walls.missing, "; "));
  Finding finding{"the sandbox", "confine what a model wrote", For::kMeasuring,
                  fmt::format("{}", fmt::join(walls.active, ", ")), missing};
  if (!finding.found.empty() && !missing.empty())
    finding.found += fmt::format("; missing: {}", missing);
  return finding;
}

}  // namespace

std::vector<Finding> measuring_findings() {
  constexpr const char* kCuda = "/usr/local/cuda/bin";
  constexpr const char* kRocm = "/opt/rocm/bin";
  return {
      vendor_tool("nvcc", "build for a real NVIDIA GPU", kCuda, "install the CUDA toolkit"),
      vendor_tool("ncu", "read counters of an NVIDIA GPU", kCuda,
                  "Nsight Compute, in the CUDA toolkit"),
      counters("NVIDIA's counters", measure::Language::kCuda),
      nvml(),
      probe("the probe for CUDA", measure::Language::kCuda),
      vendor_tool("hipcc", "build for a real AMD GPU", kRocm, "install ROCm on a node with a GPU"),
      vendor_tool("rocprofv3", "read counters of an AMD GPU", kRocm, "part of ROCm 6.2 and later"),
      counters("AMD's counters", measure::Language::kHip),
      probe("the probe for HIP", measure::Language::kHip),
      sandbox(),
  };
}

}  // namespace swizzleperf
