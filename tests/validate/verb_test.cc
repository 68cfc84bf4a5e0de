// The verb, end to end, on a small launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "validate/small_source.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class ValidateVerb : public testing::Test {
 protected:
  ValidateVerb() {
    run.environment["SWIZZLEPERF_VALIDATION"] = (run.directory.path() / "data").string();
  }

  ChildResult validate(const std::vector<std::string>& more = {}) {
    small.write(run.directory.path() / "data");
    std::vector<std::string> arguments = {"validate", "--save-traces", "traces", "--exact"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  [[nodiscard]] std::size_t traces() const {
    const fs::directory_iterator files(run.directory.path() / "traces");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  Command run;
  SmallSource small;
};

TEST_F(ValidateVerb, PredictsWhatSimulateDoesAndKeepsTheTrace) {
  const ChildResult console = validate({"--json", "result.json"});
  EXPECT_EQ(console.exit_status, 0) << console.err;
  EXPECT_THAT(console.out, HasSubstr("1 of 1 bounds hold."));
  EXPECT_EQ(traces(), 1U);

  const json result = json::parse(read_file(run.directory.path() / "result.json"));
  EXPECT_EQ(result["ok"], true);
  const json simulated =
      run.json({"simulate", "data/small/shift.hip", "-s", "die-contiguous", "--exact"});
  ASSERT_EQ(result["points"].size(), 2U);
  for (const std::size_t i : {0, 1}) {
    const json& point = result["points"][i];
    const json& row = simulated["results"][i];
    EXPECT_EQ(point["fitted"], i == 0);
    EXPECT_EQ(point["predicted"]["l2_hit_rate"], row["l2"]["hit_rate"]);
    EXPECT_EQ(point["predicted"]["dram_read_bytes"], row["hbm"]["read_bytes"]);
    EXPECT_EQ(point["predicted"]["time_ms"], row["time_ms"]);
    EXPECT_NEAR(point["error"]["l2_points"].get<double>(),
                100 * (row["l2"]["hit_rate"].get<double>() - (i == 0 ? 0.25 : 0.75)), 1e-9);
    EXPECT_TRUE(point["measured"]["dram_read_bytes"].is_null());
    EXPECT_TRUE(point["error"]["dram_read"].is_null());
  }

  // Without a compiler only a kept trace can answer.
  run.environment["PATH"] = run.directory.path().string();
  EXPECT_EQ(validate().out, console.out);
  EXPECT_EQ(validate({"--judged"}).exit_status, 0);
  small.program = replaced(small.program, "blocks = 64", "blocks = 32");
  EXPECT_EQ(validate().exit_status, 3);
}

TEST_F(ValidateVerb, MeasuredOccupancyOnRequest) {
  small.launches = replaced(small.launches, "use =", "blocks_per_cu = 3\nuse =");
  const auto blocks = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(validate(arguments).out)["summary"][0]["launches"][0]["blocks_per_cu"];
  };
  EXPECT_EQ(blocks({}), (json{{"measured", 3}, {"predicted", 8}}));
  EXPECT_EQ(blocks({"--measured-occupancy"}), (json{{"measured", 3}, {"predicted", 3}}));
}

TEST_F(ValidateVerb, AHipFileMayHaveBeenBuiltAsCuda) {
  small.program = R"(#if !defined(__HIP__)
#include <cuda_runtime.h>
constexpr int kThreads = 96;
#else
#include <hip/hip_runtime.h>
constexpr int kThreads = 256;
#endif
__device__ float written[64 * kThreads];
__global__ void shift() { written[blockIdx.x * kThreads + threadIdx.x] = 1; }
int main() { shift<<<64, kThreads>>>(); }
)";
  EXPECT_THAT(validate().out, HasSubstr("64 blocks of 256 threads"));
  small.launches = replaced(small.launches, "machine =", "language = \"cuda\"\nmachine =");
  EXPECT_THAT(validate().out, HasSubstr("64 blocks of 96 threads"));
}

TEST_F(ValidateVerb, OnlyTheFirstBlocks) {
  const auto requests = [&] {
    const json result = json::parse(validate({"--format", "json"}).out);
    return result["points"][0]["predicted"]["dram_read_bytes"].get<double>();
  };
  EXPECT_EQ(requests(), 64 * 1024);
  small.launches = replaced(small.launches, "use =", "first_blocks = 5\nuse =");
  EXPECT_EQ(requests(), 6 * 1024);  // theirs and the sixth's
}

TEST_F(ValidateVerb, ABrokenBoundIsExitCodeOne) {
  small.launches = replaced(small.launches, "at_most = 100", "at_most = 0");
  const ChildResult result = validate();
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("0 of 1 bounds hold."));
}

TEST_F(ValidateVerb, RefusesWhatLeavesNothing) {
  for (const std::vector<std::string>& nothing :
       {std::vector<std::string>{"--launch", "banana"}, {"-m", "h200"}}) {
    const ChildResult result = validate(nothing);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, HasSubstr("no measured point"));
  }
  EXPECT_THAT(validate({"--launch", "["}).err, HasSubstr("not a regular expression"));
  EXPECT_EQ(validate({"--fitted", "--judged"}).exit_status, 2);
}

}  // namespace
}  // namespace swizzleperf::validate
