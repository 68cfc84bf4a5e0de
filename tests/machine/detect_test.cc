// Detection on made-up systems: a root directory with the files that the drivers would show.
#include "machine/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Detect : public testing::Test {
 protected:
  void put(const fs::path& file, const std::string& text) {
    const fs::path full = scratch_.path() / file;
    fs::create_directories(full.parent_path());
    write_file(full, text);
  }
  void kfd_node(int number, const std::string& properties) {
    put("sys/class/kfd/kfd/topology/nodes/" + std::to_string(number) + "/properties", properties);
  }
  std::vector<DetectedGpu> detect() { return detect_gpus(scratch_.path(), all_machines()); }

  ScratchDirectory scratch_;
};

const char* const kCpu = "cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\n";

TEST_F(Detect, NothingThere) { EXPECT_TRUE(detect().empty()); }

TEST_F(Detect, WholeMi300xAmongCpus) {
  kfd_node(0, kCpu);
  kfd_node(1, "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nnum_xcc 8\n");
  const auto gpus = detect();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].arch, "gfx942");
  EXPECT_EQ(gpus[0].dies, 8U);
  EXPECT_EQ(gpus[0].cus, 304U);
  EXPECT_EQ(gpus[0].problem, "");
  EXPECT_THAT(gpus[0].models, ElementsAre("mi300x", "mi300x-spx", "mi325x", "mi325x-spx"));
}

TEST_F(Detect, NodesAreInTheirOrderWithWhatTellsThemApart) {
  for (const int node : {10, 9, 2})
    kfd_node(node,
             "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nnum_xcc 8\n"
             "unique_id " +
                 std::to_string(node) + "\n");
  std::vector<std::string> uuids;
  for (const DetectedGpu& gpu : detect()) uuids.push_back(gpu.uuid);
  EXPECT_THAT(uuids,
              ElementsAre("GPU-0000000000000002", "GPU-0000000000000009", "GPU-000000000000000a"));
}

TEST_F(Detect, OneDiePartitionIsNotTakenForEight) {
  kfd_node(1, "simd_count 152\nsimd_per_cu 4\ngfx_target_version 90402\nnum_xcc 1\n");
  const auto gpus = detect();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].dies, 1U);
  EXPECT_THAT(gpus[0].models, ElementsAre("mi300a-cpx", "mi300x-cpx", "mi325x-cpx"));
}

TEST_F(Detect, OlderDriversLeaveTheCountOut) {
  kfd_node(1, "simd_count 440\nsimd_per_cu 4\ngfx_target_version 90010\n");
  const auto gpus = detect();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].arch, "gfx90a");
  EXPECT_EQ(gpus[0].dies, 1U);
  EXPECT_THAT(gpus[0].models, ElementsAre("mi250x"));
}

TEST_F(Detect, SentinelsAreRefused) {
  for (const char* count : {"65535", "4294967295", "0"}) {
    kfd_node(1, "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nnum_xcc " +
                    std::string(count) + "\n");
    const auto gpus = detect();
    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_FALSE(gpus[0].dies) << count;
    EXPECT_TRUE(gpus[0].models.empty());
    EXPECT_THAT(gpus[0].problem, HasSubstr("no count of dies"));
  }
}

TEST_F(Detect, UnknownChipsAreSaid) {
  kfd_node(1, "simd_count 80\nsimd_per_cu 2\ngfx_target_version 110000\n");
  const auto gpus = detect();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].arch, "gfx1100");
  EXPECT_EQ(gpus[0].cus, 40U);
  EXPECT_THAT(gpus[0].problem, HasSubstr("no machine model has gfx1100"));
}

TEST_F(Detect, NvidiaByName) {
  put("proc/driver/nvidia/gpus/0000:18:00.0/information",
      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 400\n");
  const auto gpus = detect();
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].product, "NVIDIA H200");
  EXPECT_THAT(gpus[0].models, ElementsAre("h200"));
  EXPECT_EQ(gpus[0].dies, 2U);
}

TEST_F(Detect, OtherNvidiaBoardsAreNotTakenForTheModule) {
  for (const char* product : {"NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA GeForce RTX 4090"}) {
    put("proc/driver/nvidia/gpus/0000:18:00.0/information",
        "Model: \t\t " + std::string(product) + "\n");
    const auto gpus = detect();
    ASSERT_EQ(gpus.size(), 1U);
    EXPECT_TRUE(gpus[0].models.empty()) << product;
    EXPECT_THAT(gpus[0].problem, HasSubstr(product));
  }
}

}  // namespace
}  // namespace swizzleperf
