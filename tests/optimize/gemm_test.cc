// The main job on the real kernel: the patch that optimize writes applies, builds for both
// architectures, and the patched program computes the original's bits on ragged grids too.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/subprocess.h"
#include "vgpu/run.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path build_directory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

ChildResult run(std::vector<std::string> argv, const fs::path& directory) {
  ChildSpec spec;
  spec.argv = std::move(argv);
  spec.directory = directory;
  spec.time_limit_s = 250;
  return run_child(spec);
}

/// The kernel of the repository, copied, optimised at a small size and patched with git apply.
class PatchedGemm : public testing::Test {
 protected:
  /// What goes wrong here fails every test in SetUp: a suite that cannot be set up would otherwise
  /// count as skipped.
  static void SetUpTestSuite() {
    scratch = new ScratchDirectory;
    const fs::path kernels = fs::path(SWIZZLEPERF_SOURCE) / "kernels";
    fs::copy(kernels / "common", scratch->path() / "common");  // included as ../common/
    fs::create_directories(scratch->path() / "gemm");
    const fs::path source = scratch->path() / "gemm/gemm.hip";
    const std::string text = read_file(kernels / "gemm/gemm.hip");
    write_file(source, text);
    const fs::path work = scratch->path() / "run";
    const ChildResult optimized = run({build_directory() / "swizzleperf", "optimize", source, "-q",
                                       "--run-dir", work, "--", "4096", "4096", "2048"},
                                      scratch->path());
    if (!optimized.ok()) problem = optimized.err;
    if (read_file(source) != text) problem += "the source was touched; ";
    if (!fs::exists(work / "best.patch")) problem += "no patch: " + optimized.out;
    if (!problem.empty()) return;
    result = json::parse(read_file(work / "result.json"));
    // The patch is for the folder in which optimize ran.
    const fs::path copy = scratch->path() / "patched";
    patched = copy / "gemm";
    fs::create_directories(patched);
    fs::copy(kernels / "common", copy / "common");
    fs::copy_file(source, patched / "gemm.hip");
    const ChildResult applied = run({"git", "apply", work / "best.patch"}, copy);
    if (!applied.ok()) problem = applied.err;
    if (read_file(patched / "gemm.hip") == text) problem += "the patch changed nothing";
  }
  void SetUp() override { ASSERT_EQ(problem, ""); }
  static void TearDownTestSuite() {
    delete scratch;
    scratch = nullptr;
  }

  inline static ScratchDirectory* scratch = nullptr;
  inline static std::string problem;
  inline static fs::path patched;
  inline static json result;
};

TEST_F(PatchedGemm, IsAnImprovementThatWasProvedAndCompared) {
  EXPECT_NE(result.at("verdict").at("decision"), "keep the identity");
  const json& best = result.at("best");
  EXPECT_EQ(best.at("proof").at("launch_blocks"), 32 * 32);
  EXPECT_TRUE(best.at("applied").at("comparison").at("equal"));
  EXPECT_GT(best.at("applied").at("comparison").at("bytes_compared"), 0);
  EXPECT_LT(result.at("baseline").at("metrics").at("l2").at("hit_rate"),
            best.at("metrics").at("l2").at("hit_rate"));
}

TEST_F(PatchedGemm, BuildsForBothArchitectures) {
  for (const char* arch : {"gfx942", "gfx950"}) {
    vgpu::ProgramSpec spec;
    spec.program = patched / "gemm.hip";
    spec.arch = arch;
    EXPECT_TRUE(fs::exists(vgpu::build_device(spec, scratch->path()))) << arch;
  }
}

TEST_F(PatchedGemm, ComputesTheSameBitsOnRaggedGrids) {
  // Tile counts 9 x 7, 1 x 13 and 16 x 16, with edges that are no whole tiles.
  const std::vector<std::vector<std::string>> sizes = {
      {"1150", "890", "72"}, {"100", "1600", "40"}, {"2048", "2048", "64"}};
  const vgpu::ProgramSpec before_spec = [] {
    vgpu::ProgramSpec s;
    s.program = scratch->path() / "gemm/gemm.hip";
    return s;
  }();
  vgpu::ProgramSpec after_spec = before_spec;
  after_spec.program = patched / "gemm.hip";
  const vgpu::BuiltProgram before = vgpu::build_program(before_spec, scratch->path());
  const vgpu::BuiltProgram after = vgpu::build_program(after_spec, scratch->path());
  for (const auto& size : sizes) {
    vgpu::ProgramSpec spec = before_spec;
    spec.arguments = size;
    const vgpu::FunctionalRun original = vgpu::run_functional(spec, before);
    const vgpu::FunctionalRun swizzled = vgpu::run_functional(spec, after);
    EXPECT_EQ(original.exit_status, 0) << original.captured_stdout;
    EXPECT_EQ(swizzled.exit_status, 0) << swizzled.captured_stdout;
    EXPECT_FALSE(original.output_digest.empty());
    EXPECT_EQ(original.output_digest, swizzled.output_digest) << size[0] << " x " << size[1];
  }
}

TEST_F(PatchedGemm, IsNotPatchedTwice) {
  const ChildResult again =
      run({build_directory() / "swizzleperf", "optimize", patched / "gemm.hip", "-q", "--run-dir",
           scratch->path() / "again", "--format", "json", "--", "4096", "4096", "2048"},
          scratch->path());
  EXPECT_TRUE(again.ok()) << again.err;
  const json second = json::parse(again.out);
  EXPECT_TRUE(second.at("best").at("applied").at("patch").is_null());
}

}  // namespace
}  // namespace swizzleperf
