// See gpus.h. NVML lists boards by bus; CUDA's own order puts the fastest first, which is the same
// among equal GPUs and otherwise unless CUDA_DEVICE_ORDER=PCI_BUS_ID. Whoever starts a program on
// one of them passes its UUID, which has no order.
#include "measure/gpus.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>
#include <sstream>

#include "machine/detect.h"
#include "measure/nvml.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// The one GPU that an entry names, or null.
const Gpu* named(const std::vector<Gpu>& gpus, const std::string& entry) {
  int index = -1;
  const auto [end, fault] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  if (fault == std::errc() && end == entry.data() + entry.size())
    return index >= 0 && index < static_cast<int>(gpus.size()) ? &gpus[index] : nullptr;
  const Gpu* found = nullptr;
  for (const Gpu& gpu : gpus) {
    if (!entry.starts_with("GPU-") || !gpu.uuid.starts_with(entry)) continue;
    if (found) return nullptr;  // the beginning of two
    found = &gpu;
  }
  return found;
}

void restrict_by(const char* variable, std::vector<Gpu>& gpus) {
  if (const char* list = std::getenv(variable)) gpus = restricted(gpus, list);
}

std::vector<Gpu> nvidia_gpus() {
  std::vector<Gpu> gpus;
  if (const auto nvml = Nvml::open())
    for (int i = 0; i < nvml->devices(); ++i) gpus.push_back({nvml->name(i), nvml->uuid(i), i});
  return gpus;
}

/// "AMD Instinct MI300X", or its architecture where several products or none have these dies.
std::string amd_name(const DetectedGpu& gpu, const std::vector<Machine>& machines) {
  std::set<std::string> titles;
  for (const Machine& machine : machines)
    if (std::find(gpu.models.begin(), gpu.models.end(), machine.name) != gpu.models.end())
      titles.insert(machine.title);
  return titles.size() == 1 ? *titles.begin() : gpu.arch;
}

std::vector<Gpu> amd_gpus(const std::filesystem::path& root) {
  std::vector<Machine> machines;
  try {
    machines = all_machines();
  } catch (const Error&) {  // an installation without models: architectures will do for names
    machines.clear();
  }
  std::vector<Gpu> gpus;
  for (const DetectedGpu& gpu : detect_gpus(root, machines))
    if (gpu.vendor == "amd")
      gpus.push_back({amd_name(gpu, machines), gpu.uuid, static_cast<int>(gpus.size())});
  return gpus;
}

}  // namespace

std::vector<Gpu> restricted(const std::vector<Gpu>& gpus, const std::string& list) {
  std::vector<Gpu> seen;
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const Gpu* gpu = named(gpus, trimmed(entry));
    if (!gpu) break;
    for (const Gpu& before : seen)
      if (before.device == gpu->device) return {};
    seen.push_back(*gpu);
  }
  return seen;
}

std::vector<Gpu> visible_gpus(Language language, const std::filesystem::path& root) {
  if (language == Language::kCuda) {
    std::vector<Gpu> gpus = nvidia_gpus();
    restrict_by("CUDA_VISIBLE_DEVICES", gpus);
    return gpus;
  }
  std::vector<Gpu> gpus = amd_gpus(root);
  restrict_by("ROCR_VISIBLE_DEVICES", gpus);
  // Counted among those that are left; HIP takes CUDA's variable for its own where that is unset.
  restrict_by(std::getenv("HIP_VISIBLE_DEVICES") ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
              gpus);
  return gpus;
}

}  // namespace swizzleperf::measure
