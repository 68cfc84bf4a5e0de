// profile() as a whole, with stand-ins for the profilers on PATH (data/bin).
#include "measure/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "measure/sandbox.h"

namespace swizzleperf::measure {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

class Profiled : public testing::Test {
 protected:
  Profiled() {
    if (const char* path = std::getenv("PATH")) path_ = path;
    target_.symbol = "_Z4gemmILb1EEvPKfPfi";
    target_.kernel = "void gemm<true>(float const*, float*, int)";
    target_.index = 2;
    ::setenv("PATH", (std::string(MEASURE_DATA) + "/bin:" + path_).c_str(), 1);
    program_.argv = {"sh", "-c", "echo ran >>runs"};
    program_.directory = scratch_.path();
    for (const char* tool : {"NCU", "ROCPROFV3"})
      program_.environment[std::string("FAKE_") + tool + "_LOG"] = scratch_.path() / "log";
  }
  ~Profiled() override { ::setenv("PATH", path_.c_str(), 1); }

  Profile run(Language language) { return profile(program_, language, target_, scratch_.path()); }
  /// The arguments of each call of the profiler.
  std::vector<std::vector<std::string>> calls() const {
    std::vector<std::vector<std::string>> result;
    std::istringstream lines(read_file(scratch_.path() / "log"));
    for (std::string line; std::getline(lines, line);)
      if (line != R"(["--help"])") result.push_back(nlohmann::json::parse(line));
    return result;
  }
  void form(const char* tool, const char* value) {
    program_.environment[std::string("FAKE_") + tool] = value;
  }

  ScratchDirectory scratch_;
  std::string path_;
  ChildSpec program_;
  Target target_;
};

TEST_F(Profiled, NcuCountsExactlyTheLaunch) {
  const Profile profile = run(Language::kCuda);
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_EQ(profile.counters->l2_hit_rate, 0.6);
  EXPECT_THAT(profile.counters->how, HasSubstr("ncu 2025.3.1, caches flushed"));
  ASSERT_EQ(calls().size(), 1U);
  const std::string all = nlohmann::json(calls()[0]).dump();
  EXPECT_THAT(all, HasSubstr(R"("--kernel-name-base","mangled","--kernel-name",)"
                             R"("_Z4gemmILb1EEvPKfPfi","--launch-skip","2","--launch-count","1")"));
  EXPECT_THAT(all, HasSubstr(R"("--clock-control","none")"));
  EXPECT_EQ(calls()[0][calls()[0].size() - 2], "-c");
  EXPECT_EQ(read_file(scratch_.path() / "runs"), "ran\n");
}

TEST_F(Profiled, NcuWithoutAMetricCountsTheOthers) {
  form("NCU", "old");
  const Profile profile = run(Language::kCuda);
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_EQ(profile.counters->l2_hit_rate, 0.6);
  ASSERT_EQ(calls().size(), 2U);
  EXPECT_THAT(nlohmann::json(calls()[1]).dump(), Not(HasSubstr("ltcfabric")));
}

TEST_F(Profiled, NcuSaysWhatIsWrong) {
  form("NCU", "permission");
  EXPECT_THAT(run(Language::kCuda).missing, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  form("NCU", "fail");
  EXPECT_EQ(run(Language::kCuda).missing,
            "ncu ended with exit status 1: cudaErrorNoDevice: no device");
  form("NCU", "none");
  EXPECT_THAT(run(Language::kCuda).missing, HasSubstr("no launch number 2 (from 0) of void gemm"));
  form("NCU", "hang");
  program_.time_limit_s = 1;
  EXPECT_THAT(run(Language::kCuda).missing, HasSubstr("did not end within 1 s"));
}

TEST_F(Profiled, CountersOfAFailingProgramCarryANote) {
  program_.argv = {"sh", "-c", "exit 3"};
  const Profile profile = run(Language::kCuda);
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_THAT(profile.counters->notes, Contains(HasSubstr("exit status 3")));
}

TEST_F(Profiled, WithoutASymbolThereIsASentence) {
  target_.symbol.clear();
  EXPECT_THAT(run(Language::kCuda).missing, HasSubstr("symbol is not known"));
}

TEST_F(Profiled, WithoutProfilersThereIsASentence) {
  ::setenv("PATH", scratch_.path().c_str(), 1);
  EXPECT_THAT(run(Language::kCuda).missing, HasSubstr("ncu is not on PATH"));
  EXPECT_THAT(run(Language::kHip).missing, HasSubstr("rocprofv3 is not on PATH"));
}

TEST_F(Profiled, Rocprofv3CountsInSeveralRuns) {
  const Profile profile = run(Language::kHip);
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_EQ(profile.counters->l2_hits, 600'002);  // of launch 2
  EXPECT_EQ(profile.counters->l2_requests, 800'002);
  EXPECT_EQ(profile.counters->dram_read_bytes, 32 * 10'000 + 64 * 40'000 + 128 * 100'000);
  EXPECT_EQ(profile.counters->dram_write_bytes, 64 * 40'000 + 32 * 10'000);
  EXPECT_EQ(profile.counters->milliseconds, 2);
  EXPECT_THAT(profile.counters->how, HasSubstr("rocprofv3 1.0.0, 3 runs"));
  EXPECT_THAT(profile.counters->notes, Contains(HasSubstr("last-level cache")));
  EXPECT_EQ(read_file(scratch_.path() / "runs"), "ran\nran\nran\n");
  ASSERT_EQ(calls().size(), 3U);
  for (const auto& call : calls()) {
    EXPECT_THAT(call, IsSupersetOf({"--pmc", "--kernel-include-regex",
                                    "^_Z4gemmILb1EEvPKfPfi(\\.kd)?$", "--mangled-kernels"}));
    const auto separator = std::find(call.begin(), call.end(), "--");
    ASSERT_NE(separator, call.end());
    EXPECT_THAT(std::vector<std::string>(separator + 2, call.end()),
                ElementsAre("-c", "echo ran >>runs"));
  }
}

TEST_F(Profiled, Rocprofv3InAllItsForms) {
  const Profile csv = run(Language::kHip);
  for (const char* name : {"json", "rocpd", "csv-6.2"}) {
    form("ROCPROFV3_FORM", name);
    form("ROCPROFV3_KERNEL", "_Z4gemmILb1EEvPKfPfi");
    const Profile profile = run(Language::kHip);
    ASSERT_TRUE(profile.counters) << name << ": " << profile.missing;
    EXPECT_EQ(profile.counters->l2_hits, csv.counters->l2_hits) << name;
    EXPECT_EQ(profile.counters->dram_read_bytes, csv.counters->dram_read_bytes) << name;
  }
}

TEST_F(Profiled, BehindWallsAsWithout) {
  const Profile open = run(Language::kHip);
  Confinement confinement;
  confinement.writable = scratch_.path();
  program_ = confined(program_, confinement);
  for (const Language language : {Language::kHip, Language::kCuda}) {
    const Profile profile = run(language);
    ASSERT_TRUE(profile.counters) << profile.missing;
    EXPECT_TRUE(profile.counters->l2_hit_rate);
    if (language == Language::kHip) EXPECT_EQ(profile.counters->l2_hits, open.counters->l2_hits);
  }
}

TEST_F(Profiled, ACounterThatAGpuLacksCostsItsQuantityAlone) {
  form("ROCPROFV3_LACKS",
       "TCC_EA0_RDREQ_128B_sum TCC_BUBBLE_sum TCC_EA_RDREQ_32B_sum TCC_EA0_WRREQ_64B_sum");
  const Profile profile = run(Language::kHip);
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_EQ(profile.counters->l2_hit_rate, 600'002.0 / 800'002.0);
  EXPECT_EQ(profile.counters->dram_read_bytes, std::nullopt);
  EXPECT_THAT(profile.counters->notes,
              Contains(AllOf(HasSubstr("bytes read are not known"), HasSubstr("may lack"))));
  EXPECT_TRUE(profile.counters->dram_write_bytes);  // by the names of MI200
}

TEST_F(Profiled, Rocprofv3SaysWhatIsWrong) {
  form("ROCPROFV3_FORM", "zeros");
  const Profile zeros = run(Language::kHip);
  ASSERT_TRUE(zeros.counters) << zeros.missing;
  EXPECT_EQ(zeros.counters->l2_requests, std::nullopt);
  EXPECT_EQ(zeros.counters->dram_read_bytes, std::nullopt);
  EXPECT_THAT(zeros.counters->notes, Contains(HasSubstr("all counters are zero")));
  form("ROCPROFV3_FORM", "fail");
  EXPECT_EQ(run(Language::kHip).missing,
            "rocprofv3 ended with exit status 1: the agent has gone away");
  form("ROCPROFV3_FORM", "none");
  EXPECT_THAT(run(Language::kHip).missing, HasSubstr("wrote nothing for TCC_HIT_sum"));
  form("ROCPROFV3_FORM", "permission");
  EXPECT_EQ(run(Language::kHip).missing, counter_permission(Language::kHip).sentence);
  form("ROCPROFV3_FORM", "csv");
  form("ROCPROFV3_LAUNCHES", "2");
  EXPECT_THAT(run(Language::kHip).missing, HasSubstr("2 launches of void gemm"));
  form("ROCPROFV3_KERNEL", "_Z4fillPfi");
  EXPECT_THAT(run(Language::kHip).missing, HasSubstr("but of fill(float*, int)"));
  form("ROCPROFV3_FORM", "hang");
  program_.time_limit_s = 1;
  EXPECT_THAT(run(Language::kHip).missing, HasSubstr("did not end within 1 s"));
}

}  // namespace
}  // namespace swizzleperf::measure
