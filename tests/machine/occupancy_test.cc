// Cases worked out by hand; the arithmetic stands beside each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"

namespace swizzleperf {
namespace {

struct Case {
  const char* machine;
  BlockResources block;
  std::uint32_t blocks;
  const char* limit;
};

class OccupancyCases : public testing::TestWithParam<Case> {};

TEST_P(OccupancyCases, Holds) {
  const Case& c = GetParam();
  const Occupancy result = occupancy(load_machine(c.machine), c.block);
  EXPECT_EQ(result.blocks_per_cu, c.blocks);
  EXPECT_EQ(result.limit, c.limit);
}

INSTANTIATE_TEST_SUITE_P(
    Amd, OccupancyCases,
    testing::Values(
        // 4 waves; 512/128 = 4 waves a SIMD, 16 a CU.
        Case{"mi300x", {256, 128, 0}, 4, "registers"},
        // 129 registers take 136: 3 waves a SIMD, 12 a CU.
        Case{"mi300x", {256, 129, 0}, 3, "registers"},
        // A whole SIMD for each wave.
        Case{"mi300x", {256, 512, 0}, 1, "registers"},
        // 64 registers and fewer leave all 8 waves: 32 / 4.
        Case{"mi300x", {256, 64, 0}, 8, "registers"}, Case{"mi300x", {256, 32, 0}, 8, "waves"},
        // Two tiles of 128 x 32 fp16 = 16 KB: 64 / 16.
        Case{"mi300x", {256, 64, 16384}, 4, "LDS"},
        // One byte more takes another 512: 65536 / 16896 = 3.
        Case{"mi300x", {256, 64, 16385}, 3, "LDS"}, Case{"mi300x", {256, 64, 65536}, 1, "LDS"},
        // One wave each: as many as there are slots, no barrier needed.
        Case{"mi300x", {64, 0, 0}, 32, "waves"}, Case{"mi300x", {1, 0, 0}, 32, "waves"},
        // Two waves: 16 by slots and by barriers.
        Case{"mi300x", {128, 0, 0}, 16, "waves"},
        // A partial wave counts whole: 5 waves in 32 slots.
        Case{"mi300x", {257, 0, 0}, 6, "waves"}, Case{"mi300x", {1024, 0, 0}, 2, "waves"},
        // 160 KB in granules of 1280: 16 KB takes 13 of 128 granules.
        Case{"mi355x", {256, 64, 16384}, 8, "registers"},
        Case{"mi355x", {256, 64, 32768}, 4, "LDS"}));

INSTANTIATE_TEST_SUITE_P(Nvidia, OccupancyCases,
                         testing::Values(
                             // 8 warps; 65536 / (128 x 32) = 16 warps.
                             Case{"h200", {256, 128, 0}, 2, "registers"},
                             // 33 registers take 40: 12 warps a quarter, 48 an SM.
                             Case{"h200", {256, 33, 0}, 6, "registers"},
                             Case{"h200", {256, 32, 0}, 8, "registers"},
                             Case{"h200", {256, 16, 0}, 8, "waves"},
                             // The largest a block may ask for is 227 KB: 1 KB is the system's.
                             Case{"h200", {256, 32, 227 * 1024}, 1, "shared memory"},
                             // 228 / (32 + 1) = 6.
                             Case{"h200", {256, 32, 32768}, 6, "shared memory"},
                             Case{"a100", {256, 32, 32768}, 4, "shared memory"},
                             Case{"h200", {32, 32, 0}, 32, "blocks"}));

std::string sentence(const char* machine, const BlockResources& block) {
  try {
    occupancy(load_machine(machine), block);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInput);
    return error.what();
  }
  return "no error";
}

TEST(Occupancy, SaysWhyNothingFits) {
  EXPECT_THAT(sentence("mi300x", {256, 64, 65537}), testing::HasSubstr("not enough LDS"));
  EXPECT_THAT(sentence("mi300x", {256, 513, 0}), testing::HasSubstr("not enough registers"));
  EXPECT_THAT(sentence("mi300x", {1024, 256, 0}), testing::HasSubstr("not enough registers"));
  EXPECT_THAT(sentence("h200", {4096, 0, 0}), testing::HasSubstr("not enough waves"));
  EXPECT_THAT(sentence("h200", {256, 0, 228 * 1024}),
              testing::HasSubstr("not enough shared memory"));
  EXPECT_THAT(sentence("h200", {0, 0, 0}), testing::HasSubstr("0 threads"));
}

TEST(Occupancy, NeverRisesWithDemand) {
  const Machine machine = load_machine("mi300x");
  for (std::uint32_t threads = 64; threads <= 256; threads += 64)
    for (std::uint32_t vgprs = 8; vgprs + 8 <= 512; vgprs += 8)
      EXPECT_GE(occupancy(machine, {threads, vgprs, 1024}).blocks_per_cu,
                occupancy(machine, {threads, vgprs + 8, 1024}).blocks_per_cu);
}

}  // namespace
}  // namespace swizzleperf
