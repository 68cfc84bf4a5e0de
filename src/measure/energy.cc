// Energy, where a driver counts it: NVML in millijoules (Volta and later), ROCm SMI as ticks of a
// given size in microjoules. Both count the whole board since the driver was loaded, so what a
// launch takes is the power over many launches times its part of their time, idle power included.
#include <atomic>
#include <chrono>
#include <thread>

#include "measure/nvml.h"
#include "measure/profile.h"
#include "measure/shared_library.h"

namespace swizzleperf::measure {
namespace {

// Of rocm_smi.h: 0 is success.
using RsmiInit = int(std::uint64_t);
using RsmiShutdown = int();
using RsmiEnergy = int(std::uint32_t, std::uint64_t* ticks, float* microjoules_a_tick,
                       std::uint64_t* timestamp);

/// Each ROCm has its own number in the library's name; the call has been the same since 5.0.
std::optional<double> rsmi_joules(int device) {
  const SharedLibrary rsmi{"librocm_smi64.so.1", "librocm_smi64.so.8", "librocm_smi64.so.7",
                           "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so"};
  auto* init = rsmi.function<RsmiInit>("rsmi_init");
  auto* shutdown = rsmi.function<RsmiShutdown>("rsmi_shut_down");
  auto* energy = rsmi.function<RsmiEnergy>("rsmi_dev_energy_count_get");
  if (!init || !shutdown || !energy || device < 0 || init(0) != 0) return std::nullopt;
  std::uint64_t ticks = 0;
  float microjoules = 0;
  std::uint64_t when = 0;
  const int status = energy(static_cast<std::uint32_t>(device), &ticks, &microjoules, &when);
  shutdown();
  if (status != 0 || microjoules <= 0) return std::nullopt;
  return static_cast<double>(ticks) * static_cast<double>(microjoules) / 1e6;
}

}  // namespace

std::optional<double> energy_joules(Language language, int device) {
  if (language == Language::kHip) return rsmi_joules(device);
  const auto nvml = Nvml::open();
  return nvml ? nvml->joules(device) : std::nullopt;
}

std::optional<double> watts(const std::vector<EnergyChange>& changes) {
  constexpr std::size_t kLeast = 6;  // each end is late by up to one look
  if (changes.size() < kLeast) return std::nullopt;
  const EnergyChange& from = changes[1];
  const EnergyChange& to = changes.back();
  return (to.joules - from.joules) / (to.seconds - from.seconds);
}

std::optional<double> watts_while(Language language, int device,
                                  const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  // Held open: starting NVML for each reading takes longer than the counter's period.
  const auto nvml = language == Language::kCuda ? Nvml::open() : std::nullopt;
  std::optional<double> last = energy_joules(language, device);
  if (!last) return std::nullopt;
  std::vector<EnergyChange> changes;
  std::atomic<bool> over = false;
  std::thread watcher([&] {
    const Clock::time_point begin = Clock::now();
    while (!over) {
      const auto now = energy_joules(language, device);
      const std::chrono::duration<double> passed = Clock::now() - begin;
      if (now && *now != *last) changes.push_back({passed.count(), *now});
      if (now) last = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  try {
    work();
  } catch (...) {
    over = true;
    watcher.join();
    throw;
  }
  over = true;
  watcher.join();
  return watts(changes);
}

}  // namespace swizzleperf::measure
