// Drivers' libraries by way of made-up ones: a library that is loaded already is what the loader
// finds under its name.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "measure/gpus.h"
#include "measure/profile.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Loaded {
 public:
  explicit Loaded(const std::string& name)
      : handle_(::dlopen((std::string(FAKE_LIBRARIES) + "/" + name).c_str(), RTLD_NOW)) {}
  ~Loaded() {
    if (handle_) ::dlclose(handle_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  [[nodiscard]] bool ok() const { return handle_ != nullptr; }

 private:
  void* handle_;
};

/// Unset for the time of a test; `value` null leaves it unset.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    ::unsetenv(name);
    if (value) ::setenv(name, value, 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::vector<int> devices(const std::vector<Gpu>& gpus) {
  std::vector<int> result;
  for (const Gpu& gpu : gpus) result.push_back(gpu.device);
  return result;
}

bool has_driver(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW);
  if (handle) ::dlclose(handle);
  return handle != nullptr;
}

TEST(Energy, IsWhatTheDriverCounted) {
  const Loaded nvml("libnvidia-ml.so.1");
  ASSERT_TRUE(nvml.ok());
  EXPECT_EQ(energy_joules(Language::kCuda, 0), 1234.567);
  EXPECT_EQ(energy_joules(Language::kCuda, 1), std::nullopt);
  EXPECT_EQ(energy_joules(Language::kCuda, 2), std::nullopt);
  EXPECT_EQ(energy_joules(Language::kCuda, -1), std::nullopt);
  const Loaded rsmi("librocm_smi64.so.1");
  ASSERT_TRUE(rsmi.ok());
  EXPECT_EQ(energy_joules(Language::kHip, 0), 31.0);
  EXPECT_EQ(energy_joules(Language::kHip, 1), std::nullopt);
}

TEST(Energy, PowerIsToldFromChangesWheneverTheyAreSeen) {
  constexpr double kWatts = 643;
  for (const double period : {0.02, 0.1, 0.25}) {
    for (int offset = 0; offset < 10; ++offset) {
      std::vector<EnergyChange> changes;
      for (int i = 1; i * period < 1; ++i) {
        const double seen = i * period + 0.001 * offset;  // a little after it was made
        const double before = i == 1 ? 50 : 0;            // idle until then
        changes.push_back({seen, 1e6 + kWatts * period * i - before});
      }
      const auto power = watts(changes);
      if (changes.size() < 6) {
        EXPECT_EQ(power, std::nullopt);
      } else {
        EXPECT_NEAR(*power, kWatts, 1e-6);
      }
    }
  }
  EXPECT_EQ(watts({}), std::nullopt);
}

TEST(Energy, IsNothingWithoutADriver) {
  if (has_driver("libnvidia-ml.so.1") || has_driver("librocm_smi64.so.1"))
    GTEST_SKIP() << "this host has a driver";
  EXPECT_EQ(energy_joules(Language::kCuda, 0), std::nullopt);
  EXPECT_EQ(energy_joules(Language::kHip, 0), std::nullopt);
  EXPECT_THAT(visible_gpus(Language::kCuda), IsEmpty());
}

TEST(Gpus, AreThoseThatCudaWouldSee) {
  const Loaded nvml("libnvidia-ml.so.1");
  ASSERT_TRUE(nvml.ok());
  const auto seen = [](const char* list) {
    const Variable variable("CUDA_VISIBLE_DEVICES", list);
    return devices(visible_gpus(Language::kCuda));
  };
  EXPECT_THAT(seen(nullptr), ElementsAre(0, 1));
  EXPECT_THAT(seen("1,0"), ElementsAre(1, 0));
  EXPECT_THAT(seen(""), IsEmpty());
  EXPECT_THAT(seen("-1"), IsEmpty());
  EXPECT_THAT(seen("GPU-2"), ElementsAre(1));
  EXPECT_THAT(seen("GPU-"), IsEmpty());
  const std::vector<Gpu> all = visible_gpus(Language::kCuda);
  EXPECT_EQ(all[0].name, "NVIDIA H200");
  EXPECT_EQ(all[1].uuid, "GPU-22345678-0000-0000-0000-000000000000");
}

TEST(Gpus, AreRestrictedAsTheRuntimesDo) {
  const std::vector<Gpu> three = {{"a", "GPU-aa", 0}, {"b", "GPU-ab", 1}, {"c", "GPU-ac", 2}};
  const auto left = [&](const char* list) { return devices(restricted(three, list)); };
  EXPECT_THAT(left("2, 0"), ElementsAre(2, 0));
  EXPECT_THAT(left("0,7,1"), ElementsAre(0));  // what cannot be hides what follows
  EXPECT_THAT(left("0,x,1"), ElementsAre(0));
  EXPECT_THAT(left("1,GPU-ab"), IsEmpty());  // twice the same
  EXPECT_THAT(left("GPU-ac,0"), ElementsAre(2, 0));
  EXPECT_THAT(left("GPU-a"), IsEmpty());  // the beginning of several
  EXPECT_THAT(left("1,"), ElementsAre(1));
}

TEST(Gpus, AreThoseThatHipWouldSee) {
  const ScratchDirectory root;
  // Twelve nodes, so that 10 and 11 come after 9; 0 is a CPU.
  for (int node = 0; node < 12; ++node) {
    const fs::path folder = root.path() / "sys/class/kfd/kfd/topology/nodes" / std::to_string(node);
    fs::create_directories(folder);
    write_file(folder / "properties",
               node == 0 ? "simd_count 0\n"
                         : "simd_count 1280\nsimd_per_cu 4\ngfx_target_version 90500\nnum_xcc "
                           "8\nunique_id " +
                               std::to_string(node) + "\n");
  }
  const Variable rocr("ROCR_VISIBLE_DEVICES", nullptr);
  const Variable hip("HIP_VISIBLE_DEVICES", nullptr);
  const Variable cuda("CUDA_VISIBLE_DEVICES", nullptr);
  const std::vector<Gpu> all = visible_gpus(Language::kHip, root.path());
  ASSERT_EQ(all.size(), 11U);
  EXPECT_EQ(all[10].uuid, "GPU-000000000000000b");
  EXPECT_EQ(all[1].uuid, "GPU-0000000000000002");
  {
    const Variable only("ROCR_VISIBLE_DEVICES", "4,GPU-0000000000000002,9");
    EXPECT_THAT(devices(visible_gpus(Language::kHip, root.path())), ElementsAre(4, 1, 9));
    const Variable among("HIP_VISIBLE_DEVICES", "2,0");  // of those three
    EXPECT_THAT(devices(visible_gpus(Language::kHip, root.path())), ElementsAre(9, 4));
  }
}

class Permitted : public testing::Test {
 protected:
  void put(const char* file, const std::string& text) {
    fs::create_directories((root_.path() / file).parent_path());
    write_file(root_.path() / file, text);
  }
  Permission ask(Language language) { return counter_permission(language, root_.path()); }
  ScratchDirectory root_;
};

TEST_F(Permitted, NvidiaAsItsDriverSays) {
  EXPECT_FALSE(ask(Language::kCuda).granted);
  EXPECT_THAT(ask(Language::kCuda).sentence, HasSubstr("no NVIDIA driver"));
  put("proc/driver/nvidia/params", "ResmanDebugLevel: 4\nRmProfilingAdminOnly: 1\n");
  EXPECT_FALSE(ask(Language::kCuda).granted);
  EXPECT_THAT(ask(Language::kCuda).sentence, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(ask(Language::kCuda).sentence, testing::Not(HasSubstr("root")));
  put("proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n");
  EXPECT_TRUE(ask(Language::kCuda).granted);
  EXPECT_THAT(ask(Language::kCuda).sentence, HasSubstr("CAP_PERFMON"));
  put("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  EXPECT_FALSE(ask(Language::kCuda).granted);
  put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  EXPECT_TRUE(ask(Language::kCuda).granted);
}

TEST_F(Permitted, AmdAsItsDeviceFileAndTheKernelSay) {
  EXPECT_THAT(ask(Language::kHip).sentence, HasSubstr("no AMD driver"));
  put("dev/kfd", "");
  EXPECT_TRUE(ask(Language::kHip).granted);
  put("proc/sys/kernel/perf_event_paranoid", "2\n");
  EXPECT_TRUE(ask(Language::kHip).granted);
  put("proc/sys/kernel/perf_event_paranoid", "4\n");
  EXPECT_FALSE(ask(Language::kHip).granted);
  EXPECT_THAT(ask(Language::kHip).sentence, HasSubstr("perf_event_paranoid is 4"));
  put("proc/self/status", "CapEff:\t000001ffffffffff\n");
  EXPECT_TRUE(ask(Language::kHip).granted);
}

}  // namespace
}  // namespace swizzleperf::measure
