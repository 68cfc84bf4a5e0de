// A whole measurement, on HIP programs that the virtual GPU runs: hipcc is our drop-in compiler,
// the device is the virtual one, and everything else is what an AMD node would run. Times are the
// virtual GPU's and say nothing; who is refused, and why, does.
#include "measure/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <tuple>

#include "base/files.h"
#include "measure/words.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kProgram = R"(#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#include "place.h"

// Each block scales 64 elements; MAIN is what a broken candidate changes on the host's side.
__global__ void scale(const float* in, float* out, int n) {
  const int block = place(blockIdx.x, gridDim.x);
  const int i = block * 64 + threadIdx.x;
  BODY
}

int main() {
  constexpr int n = 64 * 24;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 251 + 1;
  MAIN
  float *in, *out;
  if (hipMalloc(&in, n * 4) != hipSuccess || hipMalloc(&out, n * 4) != hipSuccess) return 3;
  hipMemcpy(in, host.data(), n * 4, hipMemcpyHostToDevice);
  // What was there before: the right answer, as a program that checks itself may leave it.
  for (float& x : host) x *= 2;
  hipMemcpy(out, host.data(), n * 4, hipMemcpyHostToDevice);
  scale<<<24, 64>>>(in, out, n);
  if (hipDeviceSynchronize() != hipSuccess) return 4;
  hipMemcpy(host.data(), out, n * 4, hipMemcpyDeviceToHost);
  std::printf("%g\n", host[n - 1]);
  return host[n - 1] == 2.0f * ((n - 1) % 251 + 1) ? 0 : 1;
}
)";

constexpr const char* kInOrder = "__device__ int place(int b, int) { return b; }\n";
constexpr const char* kReversed = "__device__ int place(int b, int n) { return n - 1 - b; }\n";
constexpr const char* kBody = "if (i < n) out[i] = 2 * in[i];";

std::string program_with(const std::string& body, const std::string& main = "") {
  std::string text = kProgram;
  text.replace(text.find("BODY\n"), 4, body);
  text.replace(text.rfind("MAIN\n"), 4, main);
  return text;
}

class Measure : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch_.path() / "bin");
    fs::create_symlink(SWIZZLEPERF_HIPCC, scratch_.path() / "bin/hipcc");
    path_ = std::getenv("PATH");
    ::setenv("PATH", ((scratch_.path() / "bin").string() + ":" + path_).c_str(), 1);
    bundle_.directory = scratch_.path() / "bundle";
    bundle_.project.language = Language::kHip;
    bundle_.project.source = "scale.hip";
    bundle_.project.program = "scale";
    bundle_.project.compile_options = {"-O1"};
    bundle_.target.symbol = "_Z5scalePKfPfi";
    bundle_.target.kernel = "scale";
    bundle_.target.grid = {24, 1, 1};
    bundle_.target.block = {64, 1, 1};
    bundle_.machine = "mi300x";
    put("project/scale.hip", program_with(kBody));
    put("project/place.h", kInOrder);
    settings_.devices = {0};
    settings_.build.architecture = "gfx942";
    settings_.counters = false;
    settings_.timing_s = 0.1;
    settings_.reach_s = 20;
    settings_.command_s = 20;
    settings_.jobs = 2;
    settings_.quiet = true;
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((bundle_.directory / file).parent_path());
    std::ofstream(bundle_.directory / file) << text;
  }

  Candidate& add(const std::string& spec, const fs::path& file, const std::string& text) {
    Candidate c;
    c.number = static_cast<int>(bundle_.candidates.size()) + 1;
    c.spec = spec;
    c.formula = "pid = pid";
    c.permutation = "0000000000000000";
    c.files = {file};
    put(fs::path("candidates") / std::to_string(c.number) / file, text);
    bundle_.candidates.push_back(c);
    return bundle_.candidates.back();
  }

  const Results& run() {
    write_bundle(bundle_);
    results_ = measure(read_bundle(bundle_.directory), settings_);
    return results_;
  }

  ScratchDirectory scratch_;
  std::string path_;
  Bundle bundle_;
  Settings settings_;
  Results results_;
};

TEST_F(Measure, ARightCandidateIsComparedInThreeStatesAndTimed) {
  add("reversed", "place.h", kReversed);
  const Measured& m = run().candidates.at(0);
  EXPECT_EQ(m.status, Status::kMeasured) << m.reason;
  EXPECT_THAT(m.compared,
              testing::ElementsAre("memory as it is", "outputs poisoned", "fresh inputs"));
  EXPECT_GE(m.rounds.size(), 9U);
  ASSERT_TRUE(m.speedup);
  EXPECT_TRUE(results_.control);
  EXPECT_FALSE(m.profile.counters);
  const Results read = read_results(bundle_.directory);
  EXPECT_EQ(to_json(read, bundle_).at("verdict"), to_json(results_, bundle_).at("verdict"));
  EXPECT_EQ(read.candidates.at(0).compared, m.compared);
}

TEST_F(Measure, BrokenCandidatesAreRefusedWithTheirReasonAndTheOthersGoOn) {
  settings_.reach_s = 6;
  settings_.command_s = 6;
  const auto kernel = [](const std::string& body) { return program_with(body); };
  const auto host = [](const std::string& main) { return program_with(kBody, main); };
  const std::vector<std::tuple<std::string, std::string, std::string>> broken = {
      {"loses a tile", kernel("if (block == 7) return;\n" + std::string(kBody)),
       "with outputs poisoned it leaves other bytes"},
      {"right for the first input only",
       kernel("if (i < n) out[i] = in[0] == 1.0f ? 2 * in[i] : in[i];"),
       "with fresh inputs it leaves other bytes"},
      {"writes too far", kernel("out[i + 1000000] = 1;"), ""},
      {"wrong", kernel("if (i < n) out[i] = 3 * in[i];"),
       "with memory as it is it leaves other bytes"},
      {"does not build", kernel("this is no C++;"), "error"},
      {"ends early", host("std::fprintf(stderr, \"no luck\\n\"); return 5;"), "exit status 5"},
      {"crashes", host("*(volatile int*)nullptr = 1;"), "SIGSEGV"},
      {"hangs on the host", host("for (volatile int i = 0;; i = 0) {}"), "within 6 s"},
      {"takes all memory",
       host("for (std::vector<char*> all;;) { char* p = new char[1 << 24];"
            " for (int i = 0; i < 1 << 24; i += 4096) p[i] = 1; all.push_back(p); }"),
       "held more than"},
  };
  settings_.memory_bytes = std::uint64_t{1} << 30;
  add("reversed", "place.h", kReversed);
  for (const auto& [spec, text, reason] : broken) add(spec, "scale.hip", text);
  add("reversed again", "place.h", kReversed).from_model_text = true;
  run();
  for (std::size_t i = 0; i < broken.size(); ++i) {
    const auto& [spec, text, reason] = broken[i];
    const Measured& m = results_.candidates.at(i + 1);
    EXPECT_EQ(m.status, Status::kRefused) << spec;
    EXPECT_THAT(m.reason, HasSubstr(reason)) << spec;
    EXPECT_NE(results_.best, m.number) << spec;
  }
  EXPECT_EQ(results_.candidates.front().status, Status::kMeasured)
      << results_.candidates.front().reason;
  EXPECT_EQ(results_.candidates.back().status, Status::kMeasured)
      << results_.candidates.back().reason;
  EXPECT_THAT(console(results_, bundle_), HasSubstr("2 loses a tile refused: with outputs"));
}

TEST_F(Measure, CountersOfEachProgramComeFromTheProfilerBehindWallsToo) {
  fs::create_symlink(MEASURE_DATA "/bin/rocprofv3", scratch_.path() / "bin/rocprofv3");
  settings_.counters = true;
  add("reversed", "place.h", kReversed).from_model_text = true;
  const Results& results = run();
  for (const Measured* m : {&results.original, &results.candidates.at(0)}) {
    ASSERT_TRUE(m->profile.counters) << m->profile.missing << m->reason;
    EXPECT_EQ(m->profile.counters->l2_hits, 600'000);
    EXPECT_EQ(m->profile.counters->l2_hit_rate, 0.75);
  }
}

TEST_F(Measure, TwoDevicesShareTheCandidatesAndFindTheSame) {
  for (int i = 0; i < 3; ++i) add("reversed", "place.h", kReversed);
  add("wrong", "scale.hip", program_with("if (i < n) out[i] = 3 * in[i];"));
  settings_.devices = {0, 1};
  run();
  EXPECT_EQ(results_.devices, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(results_.candidates[i].status, Status::kMeasured);
  EXPECT_EQ(results_.candidates[3].status, Status::kRefused);
}

TEST_F(Measure, AnOriginalThatCannotBeMeasuredIsOneSentence) {
  put("project/scale.hip", program_with(kBody, "return 5;"));
  add("reversed", "place.h", kReversed);
  write_bundle(bundle_);
  try {
    measure(bundle_, settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::kInput);
    EXPECT_THAT(e.what(), HasSubstr("exit status 5"));
  }
}

TEST_F(Measure, AnotherLaunchThanWasPlannedIsOneSentence) {
  add("reversed", "place.h", kReversed);
  bundle_.target.grid = {23, 1, 1};
  write_bundle(bundle_);
  try {
    measure(bundle_, settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("24 x 1 x 1 of 64 x 1 x 1 here, but 23 x 1 x 1"));
  }
}

TEST_F(Measure, InputsThatChangeFromRunToRunAreNotComparedAndNeverWin) {
  const std::string random =
      "std::FILE* f = std::fopen(\"/dev/urandom\", \"r\"); unsigned char c[4];"
      " (void)!std::fread(c, 1, 4, f); host[3] = c[0] + 256 * c[1] + 65536 * c[2];";
  put("project/scale.hip", program_with(kBody, random));
  add("reversed", "place.h", kReversed);
  const Measured& m = run().candidates.at(0);
  EXPECT_EQ(m.status, Status::kNotCompared);
  EXPECT_THAT(m.reason, HasSubstr("other inputs"));
  EXPECT_EQ(results_.best, std::nullopt);
}

}  // namespace
}  // namespace swizzleperf::measure
