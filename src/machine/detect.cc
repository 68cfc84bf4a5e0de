// See detect.h. Formats: a KFD node's `properties` is lines of "key value"; NVIDIA's `information`
// is lines of "Key: value".
#include "machine/detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>

#include "base/files.h"

namespace swizzleperf {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMostDies = 64;  // more is a sentinel, not a count

using Properties = std::map<std::string, std::uint64_t>;

Properties read_properties(const fs::path& file) {
  Properties result;
  std::istringstream lines(read_file(file));
  std::string key;
  std::uint64_t value = 0;
  while (lines >> key >> value) result[key] = value;
  return result;
}

std::uint64_t get(const Properties& properties, const std::string& key, std::uint64_t otherwise) {
  const auto found = properties.find(key);
  return found == properties.end() ? otherwise : found->second;
}

/// 90402 -> gfx942, 90010 -> gfx90a: major in decimal, minor and stepping in hexadecimal.
std::string gfx_name(std::uint64_t version) {
  return fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
}

/// In the driver's order: numbered nodes by their number (10 after 9), buses by name.
std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> result;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, ignored)) result.push_back(item.path());
  std::sort(result.begin(), result.end(), [](const fs::path& a, const fs::path& b) {
    const auto size = [](const fs::path& path) { return path.filename().string().size(); };
    return std::pair(size(a), a) < std::pair(size(b), b);
  });
  return result;
}

void match_amd(const std::vector<Machine>& machines, std::uint32_t dies, std::uint32_t cus,
               DetectedGpu& gpu) {
  gpu.dies = dies;
  for (const Machine& machine : machines)
    if (machine.arch == gpu.arch && machine.dies == dies &&
        machine.dies * machine.cus_per_die == cus)
      gpu.models.push_back(machine.name);
  if (gpu.models.empty())
    gpu.problem = fmt::format(
        "no machine model has {} with {} dies and {} CUs; write one with base "
        "= \"NAME\" and give its path to --machine",
        gpu.arch, dies, cus);
}

std::optional<DetectedGpu> detect_amd_node(const fs::path& file,
                                           const std::vector<Machine>& machines) {
  const Properties properties = read_properties(file);
  const std::uint64_t simds = get(properties, "simd_count", 0);
  if (simds == 0) return std::nullopt;  // a CPU

  DetectedGpu gpu;
  gpu.vendor = "amd";
  gpu.arch = gfx_name(get(properties, "gfx_target_version", 0));
  if (const std::uint64_t id = get(properties, "unique_id", 0))
    gpu.uuid = fmt::format("GPU-{:016x}", id);
  gpu.source = file.string();
  const auto simds_per_cu = std::max<std::uint64_t>(1, get(properties, "simd_per_cu", 4));
  const auto cus = static_cast<std::uint32_t>(simds / simds_per_cu);
  gpu.cus = cus;
  const std::uint64_t dies = get(properties, "num_xcc", 1);
  if (dies == 0 || dies > kMostDies) {
    gpu.problem = fmt::format(
        "num_xcc is {}, which is no count of dies: the driver does not know; "
        "choose the machine with --machine",
        dies);
    return gpu;
  }
  match_amd(machines, static_cast<std::uint32_t>(dies), cus, gpu);
  return gpu;
}

std::string field_of(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key + ":")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Whether the words of a product name include the model's name: "NVIDIA H200" has h200.
bool names_model(const std::string& product, const std::string& model) {
  std::string words = " ";
  for (const char c : product)
    words += std::isalnum(static_cast<unsigned char>(c))
                 ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                 : ' ';
  return (words + " ").find(" " + model + " ") != std::string::npos;
}

DetectedGpu detect_nvidia_gpu(const fs::path& file, const std::vector<Machine>& machines) {
  DetectedGpu gpu;
  gpu.vendor = "nvidia";
  const std::string information = read_file(file);
  gpu.product = field_of(information, "Model");
  gpu.uuid = field_of(information, "GPU UUID");
  gpu.source = file.string();
  // PCIe and NVL boards carry the same name with fewer SMs; the models are of the SXM modules.
  const bool other_board = names_model(gpu.product, "pcie") || names_model(gpu.product, "nvl");
  for (const Machine& machine : machines) {
    if (other_board || machine.vendor != "nvidia" || !names_model(gpu.product, machine.name))
      continue;
    gpu.models.push_back(machine.name);
    gpu.arch = machine.arch;
    gpu.dies = machine.dies;
    gpu.cus = machine.dies * machine.cus_per_die;
  }
  if (gpu.models.empty())
    gpu.problem = fmt::format(
        "no machine model for '{}'; write one with base = \"NAME\" and give "
        "its path to --machine",
        gpu.product);
  return gpu;
}

}  // namespace

std::vector<DetectedGpu> detect_gpus(const fs::path& root, const std::vector<Machine>& machines) {
  std::vector<DetectedGpu> gpus;
  for (const fs::path& node : sorted_entries(root / "sys/class/kfd/kfd/topology/nodes"))
    if (fs::exists(node / "properties"))
      if (auto gpu = detect_amd_node(node / "properties", machines))
        gpus.push_back(std::move(*gpu));
  for (const fs::path& board : sorted_entries(root / "proc/driver/nvidia/gpus"))
    if (fs::exists(board / "information"))
      gpus.push_back(detect_nvidia_gpu(board / "information", machines));
  return gpus;
}

}  // namespace swizzleperf
