// Whole kernels as proposals: each way of being wrong has its outcome, and the right one is found
// to be the order that it is.
#include "optimize/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/files.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "optimize/optimize.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(RecoverOrder, OfAPermutedTraceIsItsPermutation) {
  const Trace original =
      synthetic::build(synthetic::Gemm{.m = 1024, .n = 768, .k = 128, .tile = 128, .group = 1});
  std::vector<std::uint32_t> order(original.blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  Random random(1);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  Trace permuted = original;
  for (std::size_t p = 0; p < order.size(); ++p) permuted.blocks[p] = original.blocks[order[p]];
  for (Buffer& b : permuted.buffers) b.base += 4096;  // another process, other addresses
  for (std::int64_t& anchor : permuted.anchors) anchor += 4096;
  EXPECT_EQ(recover_order(original, permuted).permutation, order);

  Trace doubled = permuted;
  doubled.blocks[3] = doubled.blocks[7];
  const RecoveredOrder lost = recover_order(original, doubled);
  EXPECT_TRUE(lost.permutation.empty());
  EXPECT_FALSE(lost.foreign);
  EXPECT_NE(lost.problem.find("computes 47 of 48 blocks; blocks 3 and 7"), std::string::npos)
      << lost.problem;
  EXPECT_NE(lost.problem.find("block " + std::to_string(order[3]) + " of the original is never"),
            std::string::npos)
      << lost.problem;

  Trace shifted = permuted;
  shifted.anchors[shifted.blocks[5].first_anchor] += 64;
  EXPECT_TRUE(recover_order(original, shifted).foreign);
}

const std::string kKernel = R"(
__global__ void scale(const float* a, float* c, int n) {
  const int x = blockIdx.x * 64 + threadIdx.x;
  const int y = blockIdx.y;
  c[y * n + x] = 2 * a[y * n + x] + a[x];
}
)";

/// What the kernel's lines become, by attempt.
struct Change {
  std::string what, by, outcome;
};
const std::vector<Change> kChanges = {
    {"2 * a", "3 * a", "different_output"},
    {"blockIdx.x * 64 +", "blockIdx.x / 2 * 128 +", "not_a_bijection"},
    {"blockIdx.x * 64 +", "(blockIdx.x * 64 + 32) % n +", "different_output"},
    {"scale<<<dim3(16, 8)", "scale<<<dim3(16, 4)", "host_changed"},
    {"const int y = blockIdx.y;", "const int y = block.y;", "not_built"},
    {"#include <vector>", "#include <vector>\n#include \"/etc/passwd\"", "host_changed"},
    {"const int y = blockIdx.y;", "const int y = blockIdx.y;  // as it is", "identity"},
    {"const int y = blockIdx.y;", "const int y = gridDim.y - 1 - blockIdx.y;", "measured"},
    {"const int y = blockIdx.y;", "const int y = 7 - (int)blockIdx.y;", "repeat"},
};

TEST(Rewrite, EachWayOfBeingWrongHasItsOutcome) {
  const ScratchDirectory scratch;
  const fs::path source = scratch.path() / "scale.hip";
  const std::string text = "#include <hip/hip_runtime.h>\n#include <vector>\n" + kKernel + R"(
int main() {
  const int n = 1024;
  std::vector<float> host(8 * n);
  for (int i = 0; i < 8 * n; ++i) host[i] = i % 1000;
  float *a, *c;
  (void)hipMalloc(&a, 32 * n);
  (void)hipMalloc(&c, 32 * n);
  (void)hipMemcpy(a, host.data(), 32 * n, hipMemcpyHostToDevice);
  scale<<<dim3(16, 8), 64>>>(a, c, n);
  return hipDeviceSynchronize() != hipSuccess;
}
)";
  write_file(source, text);
  const fs::path agent = scratch.path() / "agent";
  write_file(agent,
             "#!/bin/sh\n"
             "n=$(sed -n 's/.*\"attempt\":\\([0-9]*\\),\"attempts_left\".*/\\1/p')\n"
             "exec cat " +
                 scratch.path().string() + "/answer-$n\n");
  fs::permissions(agent, fs::perms::owner_all);
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    std::string changed = text;
    const std::size_t at = changed.find(kChanges[i].what);
    ASSERT_NE(at, std::string::npos) << kChanges[i].what;
    changed.replace(at, kChanges[i].what.size(), kChanges[i].by);
    write_file(scratch.path() / ("answer-" + std::to_string(i + 1)),
               "{\"summary\": \"s\"}\n```cpp\n" + changed + "```\n");
  }
  OptimizeRequest r;
  r.program.program = source;
  r.objective = Objective::kL2;
  r.run_directory = scratch.path() / "run";
  r.quiet = true;
  r.threads = 2;
  r.proposers.names = {"command"};
  r.proposers.edit = Edit::kKernel;
  r.proposers.attempts = kChanges.size();
  r.proposers.command.argv = {agent.string()};
  const OptimizeOutcome o = optimize(r);
  ASSERT_EQ(o.history.attempts.size(), kChanges.size());
  for (std::size_t i = 0; i < kChanges.size(); ++i) {
    EXPECT_EQ(outcome_name(o.history.attempts[i].outcome), kChanges[i].outcome)
        << kChanges[i].by << ": " << o.history.attempts[i].report;
  }
  ASSERT_EQ(o.best_order.size(), 128U);
  for (std::uint32_t p = 0; p < 128; ++p) EXPECT_EQ(o.best_order[p], (7 - p / 16) * 16 + p % 16);
  EXPECT_NE(o.applied->splice.patch.find("+  const int y = gridDim.y - 1 - blockIdx.y;"),
            std::string::npos)
      << o.applied->splice.patch;
  EXPECT_EQ(read_file(source), text);
  const json last = json::parse(read_file(r.run_directory / "prompts/009.request.json"));
  EXPECT_EQ(last["edit"], "kernel");
  EXPECT_EQ(last["file"], text);
  EXPECT_NE(last["history"][7]["patch"].get<std::string>().find("gridDim.y"), std::string::npos);
  r.resume = true;
  EXPECT_EQ(optimize(r).best_order, o.best_order);
}

/// 2 * 0 and 3 * 0 are equal: outputs of nothing but zeros prove nothing.
TEST(Rewrite, ZerosAloneAreNoEvidence) {
  const ScratchDirectory scratch;
  const fs::path source = scratch.path() / "scale.hip";
  std::string text = "#include <hip/hip_runtime.h>\n" + kKernel + R"(
int main() {
  float *a, *c;
  (void)hipMalloc(&a, 32 * 1024);
  (void)hipMalloc(&c, 32 * 1024);
  (void)hipMemset(a, 0, 32 * 1024);
  scale<<<dim3(16, 8), 64>>>(a, c, 1024);
  return hipDeviceSynchronize() != hipSuccess;
}
)";
  write_file(source, text);
  text.replace(text.find("2 * a"), 5, "3 * a");
  text.replace(text.find("blockIdx.y;"), 11, "gridDim.y - 1 - blockIdx.y;");
  write_file(scratch.path() / "answer", "{\"summary\": \"s\"}\n```cpp\n" + text + "```\n");
  OptimizeRequest r;
  r.program.program = source;
  r.run_directory = scratch.path() / "run";
  r.quiet = true;
  r.threads = 2;
  r.proposers.names = {"command"};
  r.proposers.edit = Edit::kKernel;
  r.proposers.attempts = 1;
  r.proposers.command.argv = {"cat", (scratch.path() / "answer").string()};
  const OptimizeOutcome o = optimize(r);
  ASSERT_EQ(o.history.attempts.size(), 1U);
  EXPECT_EQ(outcome_name(o.history.attempts[0].outcome), "different_output");
  EXPECT_NE(o.history.attempts[0].report.find("nothing but zeros"), std::string::npos)
      << o.history.attempts[0].report;
}

TEST(Rewrite, NeedsTheSource) {
  OptimizeRequest r;
  r.program.program = "launch.trace";
  r.run_directory = "never-made";
  r.proposers.names = {"manual"};
  r.proposers.edit = Edit::kKernel;
  EXPECT_THROW(optimize(r), Error);
  EXPECT_FALSE(fs::exists("never-made"));
}

}  // namespace
}  // namespace swizzleperf
