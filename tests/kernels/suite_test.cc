// The kernels of the suite: each agrees with its reference on the CPU at ragged sizes, its check
// can fail, and when a swizzle is put into its source it still computes the same bits.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "optimize/apply.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A mistake in a kernel, which its check is to find.
struct Mistake {
  std::string right;
  std::string wrong;
};

const std::map<std::string, Mistake> kMistakes = {
    {"attention", {"out *= shrink", "out *= 1"}},
    {"black_scholes", {"c * above", "c * below"}},
    {"elementwise", {"0.70710678F", "0.71F"}},
    {"fdtd2d", {"right + x[i]", "right - x[i]"}},
    {"gemm",
     {"Block::multiply(part, lds);",
      "if (threadIdx.x == 77) lds[77] += static_cast<half>(0.25F);\n"
      "__syncthreads();\nBlock::multiply(part, lds);"}},
    {"gemm_persistent",
     {"const RowsOfB b_rows(b, where.n * kTileN, n, k);",
      "const RowsOfB b_rows(b, where.n * kTileN + (where.n == 1), n, k);"}},
    {"gravity", {"-= mass[i]", "-= 1.01F * mass[i]"}},
    {"layernorm", {" - mean * mean", ""}},
    {"smith_waterman",
     {"tile.at(-1, -1) = matrix.or_zero(row - 1, column - 1)", "tile.at(-1, -1) = 0"}},
    {"softmax", {"kLog2E = 1.44269504F", "kLog2E = 1.44F"}},
    {"spmv", {"static_cast<half>(sum)", "static_cast<half>(sum + row)"}},
    {"stencil2d", {"0.125F * around", "0.126F * around"}},
    {"transpose", {"*to = tile[c][r]", "*to = tile[c][r == 7 ? 8 : r]"}},
};

struct Case {
  std::string name;
  std::vector<std::string> sizes;  ///< ragged; blocks that the number of dies does not divide
  std::int64_t launch = -1;        ///< one of several blocks
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// The list that kernels/run takes too.
std::vector<Case> cases() {
  std::vector<Case> all;
  const auto suite = nlohmann::json::parse(read_file(fs::path(KERNELS) / "suite.json"));
  for (const auto& [name, entry] : suite.items()) {
    all.push_back({name, entry.at("ragged"), entry.value("ragged_launch", std::int64_t{-1})});
  }
  return all;
}

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

  /// With die-contiguous put into its source. That this holds everywhere is proved elsewhere.
  Applied patch() const {
    vgpu::ProgramSpec spec = spec_of(source(), GetParam().sizes[0]);
    spec.launch_index = GetParam().launch;
    const Launch launch = place(vgpu::trace_program(spec, built_), load_machine("mi300x"));
    const Swizzle swizzle = make_swizzle("die-contiguous");
    EXPECT_FALSE(verify_grid(swizzle.formula, launch.shape).identity);
    return apply(swizzle, launch, Proof{}, spec, built_, scratch_.path());
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
  const Mistake& mistake = kMistakes.at(GetParam().name);
  const std::size_t at = text.find(mistake.right);
  ASSERT_NE(at, std::string::npos) << mistake.right;
  text.replace(at, mistake.right.size(), mistake.wrong);
  const fs::path wrong_source = variant("wrong", text);
  const vgpu::BuiltProgram wrong = vgpu::build_program(spec_of(wrong_source, ""), scratch_.path());
  const vgpu::FunctionalRun found = run(wrong_source, wrong, GetParam().sizes[0]);
  EXPECT_EQ(found.exit_status, 1);
  EXPECT_THAT(found.captured_stdout, HasSubstr("check: FAIL")) << found.captured_stderr;
}

TEST_P(Kernel, PatchedComputesTheSameBits) {
  const Applied applied = patch();
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

TEST_P(Kernel, PatchedBuildsWithNvcc) {
  const auto nvcc = find_program("nvcc");
  if (!nvcc) GTEST_SKIP() << "nvcc is not on PATH";
  const fs::path patched_source = variant("patched", patch().splice.patched);
  ChildSpec spec;
  spec.argv = {*nvcc,         "-std=c++17", "-arch=sm_90", "-x",
               "cu",          "-cubin",     "-o",          scratch_.path() / "patched.cubin",
               patched_source};
  const ChildResult result = run_child(spec);
  EXPECT_TRUE(result.ok()) << result.out << result.err;
  EXPECT_TRUE(fs::exists(scratch_.path() / "patched.cubin"));
}

INSTANTIATE_TEST_SUITE_P(Suite, Kernel, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(Table, SaysWhatTheTraceOfAKernelCost) {
  ChildSpec spec;
  spec.argv = {fs::path(KERNELS) / "run", "elementwise", "--json", "--swizzleperf",
               fs::read_symlink("/proc/self/exe").parent_path() / "swizzleperf"};
  spec.environment["SWIZZLEPERF_PYTHON"] = "no-python-and-so-no-triton";
  const ChildResult result = run_child(spec);
  ASSERT_TRUE(result.ok()) << result.err;
  const nlohmann::json row = nlohmann::json::parse(result.out).at("rows").at(0);
  EXPECT_EQ(row.at("name"), "elementwise");
  EXPECT_EQ(row.at("right"), true);
  EXPECT_EQ(row.at("grid"), nlohmann::json({16384, 1, 1}));
  EXPECT_EQ(row.at("requests"), 16384 * 64);  // 3 x 16 lines read, 2 x 8 written by half lines
  EXPECT_GT(row.at("blocks").at("extrapolated"), 0);
  EXPECT_GT(row.at("blocks").at("checked"), 0);
  EXPECT_GT(row.at("peak_bytes"), 100'000'000);

  spec.argv[1] = "nothing";
  const ChildResult refused = run_child(spec);
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no kernel nothing; there are attention"));
}

}  // namespace
}  // namespace swizzleperf
