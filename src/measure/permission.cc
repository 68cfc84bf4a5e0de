// May we read counters? NVIDIA's driver says so in a file (RmProfilingAdminOnly) and asks for
// CAP_SYS_ADMIN or, since driver 565, CAP_PERFMON; ROCm 7 wants CAP_PERFMON or
// kernel.perf_event_paranoid of 2 or less, and any ROCm wants the device file /dev/kfd, which
// belongs to the group render. What a driver decides beyond that shows at the first launch only.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "measure/profile.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

constexpr int kSysAdmin = 21;  // linux/capability.h
constexpr int kPerfmon = 38;

/// The word after "key:" at the beginning of a line; nothing where there is no such line or file.
std::optional<std::string> field_of(const fs::path& file, const std::string& key) {
  std::string text;
  try {
    text = read_file(file);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string word;
    if (line.starts_with(key + ":") && std::istringstream(line.substr(key.size() + 1)) >> word)
      return word;
  }
  return std::nullopt;
}

/// Which of the two capabilities this process has, or "".
std::string capability(const fs::path& root) {
  const auto effective = field_of(root / "proc/self/status", "CapEff");
  if (!effective) return "";
  const unsigned long long bits = std::strtoull(effective->c_str(), nullptr, 16);
  if (bits >> kPerfmon & 1) return "CAP_PERFMON";
  return bits >> kSysAdmin & 1 ? "CAP_SYS_ADMIN" : "";
}

Permission nvidia(const fs::path& root) {
  const auto restricted = field_of(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly");
  if (!restricted) return {false, "no NVIDIA driver is loaded here"};
  if (*restricted == "0") return {true, "the driver lets everybody (RmProfilingAdminOnly is 0)"};
  if (const std::string have = capability(root); !have.empty())
    return {true, "the driver lets administrators only, and this process has " + have};
  return {false,
          "the driver lets administrators only: have one set "
          "NVreg_RestrictProfilingToAdminUsers=0 for the kernel module nvidia and reload it, or "
          "grant CAP_PERFMON (driver 565 and later)"};
}

std::optional<int> paranoia(const fs::path& root) {
  int level = 0;
  std::ifstream file(root / "proc/sys/kernel/perf_event_paranoid");
  return file >> level ? std::optional(level) : std::nullopt;
}

Permission amd(const fs::path& root) {
  const fs::path device = root / "dev/kfd";
  std::error_code ignored;
  if (!fs::exists(device, ignored)) return {false, "no AMD driver is loaded here (no /dev/kfd)"};
  if (::access(device.c_str(), R_OK | W_OK) != 0)
    return {false,
            "/dev/kfd may not be opened: have an administrator add you to the groups render "
            "and video"};
  const auto level = paranoia(root);
  if (!level || *level <= 2)
    return {true, level ? fmt::format("kernel.perf_event_paranoid is {}", *level)
                        : "/dev/kfd may be opened"};
  if (const std::string have = capability(root); !have.empty())
    return {true, "this process has " + have};
  return {false, fmt::format("kernel.perf_event_paranoid is {}: have an administrator set it to 2 "
                             "or less, or grant CAP_PERFMON (ROCm 7 and later ask for it)",
                             *level)};
}

}  // namespace

Permission counter_permission(Language language, const fs::path& root) {
  return language == Language::kCuda ? nvidia(root) : amd(root);
}

}  // namespace swizzleperf::measure
