// The kernels of the suite: each agrees with its reference on the CPU at ragged sizes, its check
// can fail, and when a swizzle is put into its source it still computes the same bits.
#include <gmock/gmock.h>

#include <sstream>

#include "base/files.h"
#include "optimize/apply.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Case {
  std::string name;
  /// Edges that are no whole tiles or chunks, then whole chunks; block counts that the number of
  /// dies does not divide.
  std::string sizes[2];
  /// A mistake in the kernel, which the check is to find at the first sizes.
  std::string right;
  std::string wrong;
  std::int64_t launch = -1;  ///< with several blocks
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Case kCases[] = {
    {"attention",
     {"6 2 300 128 --causal --token-major --block-first", "9 9 200 64"},
     "out *= shrink",
     "out *= 1"},
    {"black_scholes", {"10003", "9216"}, "c * above", "c * below"},
    {"elementwise", {"10003", "17408"}, "0.70710678F", "0.71F"},
    {"fdtd2d", {"75 140 --steps 3", "97 104"}, "right + x[i]", "right - x[i]"},
    {"gemm",
     {"1150 890 72", "700 333 61"},
     "Block::multiply(part, lds);",
     "if (threadIdx.x == 77) lds[77] += static_cast<half>(0.25F);\n"
     "__syncthreads();\nBlock::multiply(part, lds);"},
    {"gemm_persistent",
     {"1100 600 72 --blocks 11", "600 521 61 --blocks 5"},
     "const RowsOfB b_rows(b, where.n * kTileN, n, k);",
     "const RowsOfB b_rows(b, where.n * kTileN + (where.n == 1), n, k);"},
    {"gravity", {"75 101 300", "97 64 255"}, "-= mass[i]", "-= 1.01F * mass[i]"},
    {"layernorm", {"13 333", "21 4104"}, " - mean * mean", ""},
    {"smith_waterman",
     {"700 650", "641 1024"},
     "tile.at(-1, -1) = matrix.or_zero(row - 1, column - 1)",
     "tile.at(-1, -1) = 0",
     10},
    {"softmax", {"13 333", "10 8200"}, "kLog2E = 1.44269504F", "kLog2E = 1.44F"},
    {"spmv",
     {"130 77 9", "101 5000 200"},
     "static_cast<half>(sum)",
     "static_cast<half>(sum + row)"},
    {"stencil2d", {"75 140", "97 104"}, "0.125F * around", "0.126F * around"},
    {"transpose", {"300 75", "328 104"}, "*to = tile[c][r]", "*to = tile[c][r == 7 ? 8 : r]"},
};

vgpu::ProgramSpec spec_of(const fs::path& source, const std::string& sizes) {
  vgpu::ProgramSpec spec;
  spec.program = source;
  std::istringstream words(sizes);
  for (std::string word; words >> word;) spec.arguments.push_back(word);
  spec.arguments.emplace_back("--check");
  return spec;
}

class Kernel : public testing::TestWithParam<Case> {
 protected:
  Kernel() : built_(vgpu::build_program(spec_of(source(), ""), scratch_.path())) {
    fs::copy(fs::path(KERNELS) / "common", scratch_.path() / "common");  // included as ../common/
  }

  static fs::path source() {
    return fs::path(KERNELS) / GetParam().name / (GetParam().name + ".hip");
  }

  /// A file with another text of the kernel, as far from common/ as the original.
  fs::path variant(const std::string& name, const std::string& text) const {
    const fs::path file = scratch_.path() / name / source().filename();
    fs::create_directories(file.parent_path());
    write_file(file, text);
    return file;
  }

  vgpu::FunctionalRun run(const fs::path& source, const vgpu::BuiltProgram& built,
                          const std::string& sizes) const {
    return vgpu::run_functional(spec_of(source, sizes), built);
  }

  ScratchDirectory scratch_;
  vgpu::BuiltProgram built_;
};

TEST_P(Kernel, AgreesWithItsReferenceWhichFindsAMistake) {
  const vgpu::FunctionalRun refused = run(source(), built_, "0 0 0 0");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.captured_stderr, HasSubstr("usage: " + GetParam().name));
  for (const std::string& sizes : GetParam().sizes) {
    const vgpu::FunctionalRun right = run(source(), built_, sizes);
    EXPECT_EQ(right.exit_status, 0) << right.captured_stdout << right.captured_stderr;
    EXPECT_THAT(right.captured_stdout, HasSubstr("check: PASS")) << sizes;
  }
  std::string text = read_file(source());
  const std::size_t at = text.find(GetParam().right);
  ASSERT_NE(at, std::string::npos) << GetParam().right;
  text.replace(at, GetParam().right.size(), GetParam().wrong);
  const fs::path wrong_source = variant("wrong", text);
  const vgpu::BuiltProgram wrong = vgpu::build_program(spec_of(wrong_source, ""), scratch_.path());
  const vgpu::FunctionalRun found = run(wrong_source, wrong, GetParam().sizes[0]);
  EXPECT_EQ(found.exit_status, 1);
  EXPECT_THAT(found.captured_stdout, HasSubstr("check: FAIL")) << found.captured_stderr;
}

TEST_P(Kernel, PatchedComputesTheSameBits) {
  vgpu::ProgramSpec spec = spec_of(source(), GetParam().sizes[0]);
  spec.launch_index = GetParam().launch;
  const Launch launch = place(vgpu::trace_program(spec, built_), load_machine("mi300x"));
  const Swizzle swizzle = make_swizzle("die-contiguous");
  ASSERT_FALSE(verify_grid(swizzle.formula, launch.shape).identity);
  // That the swizzle holds everywhere is proved elsewhere.
  const Applied applied = apply(swizzle, launch, Proof{}, spec, built_, scratch_.path());
  EXPECT_EQ(applied.comparison.first_difference, "");
  EXPECT_GT(applied.comparison.bytes_compared, 0U);

  const fs::path patched_source = variant("patched", applied.splice.patched);
  vgpu::ProgramSpec for_other = spec_of(patched_source, "");
  for_other.arch = "gfx950";
  EXPECT_TRUE(fs::exists(vgpu::build_device(for_other, scratch_.path())));
  const vgpu::BuiltProgram patched =
      vgpu::build_program(spec_of(patched_source, ""), scratch_.path());
  for (const std::string& sizes : GetParam().sizes) {
    const vgpu::FunctionalRun before = run(source(), built_, sizes);
    const vgpu::FunctionalRun after = run(patched_source, patched, sizes);
    EXPECT_EQ(after.exit_status, 0) << after.captured_stdout << after.captured_stderr;
    EXPECT_FALSE(before.output_digest.empty());
    EXPECT_EQ(before.output_digest, after.output_digest) << sizes;
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, Kernel, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace swizzleperf
