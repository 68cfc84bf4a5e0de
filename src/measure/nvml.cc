// See nvml.h.
#include "measure/nvml.h"

#include <array>

#include "measure/shared_library.h"

namespace swizzleperf::measure {
namespace {

// Of nvml.h: every function returns 0 when it did what it is named for.
using Device = void*;
using Init = int();
using Shutdown = int();
using Count = int(unsigned*);
using Handle = int(unsigned, Device*);
using Text = int(Device, char*, unsigned);
using SystemText = int(char*, unsigned);
using Energy = int(Device, unsigned long long*);  // millijoules since the driver was loaded

constexpr unsigned kTextBytes = 96;

}  // namespace

struct Nvml::Library {
  SharedLibrary file{"libnvidia-ml.so.1"};
  bool started = false;

  Library() {
    auto* init = file.function<Init>("nvmlInit_v2");
    started = init && init() == 0;
  }
  ~Library() {
    auto* shutdown = file.function<Shutdown>("nvmlShutdown");
    if (started && shutdown) shutdown();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] std::optional<Device> device(int index) const {
    auto* handle = file.function<Handle>("nvmlDeviceGetHandleByIndex_v2");
    Device found = nullptr;
    if (!handle || index < 0 || handle(static_cast<unsigned>(index), &found) != 0)
      return std::nullopt;
    return found;
  }
  [[nodiscard]] std::string text(const char* function, int index) const {
    auto* get = file.function<Text>(function);
    const auto found = device(index);
    std::array<char, kTextBytes> buffer{};
    return get && found && get(*found, buffer.data(), kTextBytes - 1) == 0 ? buffer.data() : "";
  }
};

std::optional<Nvml> Nvml::open() {
  auto library = std::make_shared<Library>();
  if (!library->started) return std::nullopt;
  return Nvml(std::move(library));
}

int Nvml::devices() const {
  auto* count = library_->file.function<Count>("nvmlDeviceGetCount_v2");
  unsigned devices = 0;
  return count && count(&devices) == 0 ? static_cast<int>(devices) : 0;
}

std::string Nvml::name(int device) const { return library_->text("nvmlDeviceGetName", device); }

std::string Nvml::uuid(int device) const { return library_->text("nvmlDeviceGetUUID", device); }

std::optional<double> Nvml::joules(int device) const {
  auto* energy = library_->file.function<Energy>("nvmlDeviceGetTotalEnergyConsumption");
  const auto found = library_->device(device);
  unsigned long long millijoules = 0;
  if (!energy || !found || energy(*found, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules) / 1e3;
}

std::string Nvml::driver() const {
  auto* version = library_->file.function<SystemText>("nvmlSystemGetDriverVersion");
  std::array<char, kTextBytes> buffer{};
  return version && version(buffer.data(), kTextBytes - 1) == 0 ? buffer.data() : "";
}

}  // namespace swizzleperf::measure
