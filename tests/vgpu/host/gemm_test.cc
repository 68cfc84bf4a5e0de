// The GEMM kernel: right on every kind of edge, traced at full size, compared with patched copies.
#include <gmock/gmock.h>

#include <numeric>

#include "programs.h"
#include "trace/lines.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::HasSubstr;

/// A copy of the kernel still includes what lies beside the original.
const std::string kBesideGemm = "-iquote" + std::filesystem::path(GEMM).parent_path().string();

ProgramSpec gemm(const std::vector<std::string>& arguments) {
  ProgramSpec spec;
  spec.program = GEMM;
  spec.arguments = arguments;
  return spec;
}

class Gemm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new ScratchDirectory;
    built_ = new BuiltProgram(build_program(gemm({}), scratch_->path()));
  }
  static void TearDownTestSuite() {
    delete built_;
    delete scratch_;
  }
  /// Bitcode of the source with `from` replaced by `to`.
  static std::filesystem::path patched(const std::string& from, const std::string& to) {
    std::string text = read_file(GEMM);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    ProgramSpec spec;
    spec.program = scratch_->path() / "patched.hip";
    spec.compile_options = {kBesideGemm};
    write_file(spec.program, text);
    return build_device(spec, scratch_->path());
  }
  static BlockComparison compare(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& bitcode,
                                 const std::vector<std::uint32_t>& permutation) {
    return compare_blocks(gemm(arguments), *built_, bitcode, permutation, 12, 1);
  }

  static inline ScratchDirectory* scratch_ = nullptr;
  static inline BuiltProgram* built_ = nullptr;
};

constexpr const char* kBlockId = "const int id = blockIdx.y * gridDim.x + blockIdx.x;";

TEST_F(Gemm, PassesItsOwnCheckOnEveryKindOfEdge) {
  const std::vector<std::vector<std::string>> sizes = {
      {"1152", "896", "64"}, {"128", "1664", "192"}, {"2048", "2048", "64"},
      {"300", "200", "72"},  {"129", "257", "33"},   {"1", "1", "1"},
      {"128", "128", "8"},   {"127", "129", "130"},  {"640", "264", "1000"},
  };
  for (const auto& size : sizes) {
    for (const char* group : {"1", "3", "8"}) {
      std::vector<std::string> arguments = size;
      arguments.insert(arguments.end(), {"--group", group, "--check"});
      const FunctionalRun run = run_functional(gemm(arguments), *built_);
      EXPECT_EQ(run.exit_status, 0);
      EXPECT_THAT(run.captured_stdout, HasSubstr("PASS"))
          << size[0] << " x " << size[1] << " x " << size[2] << ", group " << group;
    }
  }
}

TEST_F(Gemm, ItsCheckFindsAWrongElement) {
  std::string text = read_file(GEMM);
  const std::string from = "Block::multiply(part, lds);";
  ASSERT_NE(text.find(from), std::string::npos);
  text.replace(text.find(from), from.size(),
               "if (threadIdx.x == 77) lds[77] += static_cast<half>(0.25F);\n"
               "__syncthreads();\n" +
                   from);
  ProgramSpec spec = gemm({"200", "200", "64", "--check"});
  spec.program = scratch_->path() / "wrong.hip";
  spec.compile_options = {kBesideGemm};
  write_file(spec.program, text);
  const FunctionalRun run = run_functional(spec, build_program(spec, scratch_->path()));
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.captured_stdout, HasSubstr("FAIL"));
}

TEST_F(Gemm, WrongArgumentsAreRefused) {
  EXPECT_THAT(sentence([&] { trace_program(gemm({"128", "x", "128"}), *built_); }),
              AllOf(HasSubstr("exit status 2"), HasSubstr("usage: gemm")));
}

/// Every block reads K/64 steps of a 128 x 64 and a 64 x 128 tile in whole 128-byte lines and
/// writes its tile of C once.
TEST_F(Gemm, FullSizeTrace) {
  const Trace t = trace_program(gemm({}), *built_);
  EXPECT_EQ(t.grid, (Dim3{64, 64, 1}));
  ASSERT_EQ(t.blocks.size(), 4096U);
  EXPECT_THAT(t.kernel, HasSubstr("gemm<true>"));
  EXPECT_EQ(t.lds_bytes, 32768U);
  std::uint64_t loaded = 0;
  std::uint64_t stored = 0;
  for (const BlockTrace& block : t.blocks) {
    for (const Event& event : t.templates[block.template_index].events) {
      std::uint64_t bytes = 0;
      for (const ByteRange& range : t.patterns[event.pattern]) {
        EXPECT_EQ(range.size % 128, 0U);
        bytes += range.size;
      }
      (event.kind == AccessKind::kLoad ? loaded : stored) += bytes;
    }
  }
  const std::uint64_t per_block = 8192ULL * 2 * (128 + 128);
  EXPECT_EQ(loaded, 4096 * per_block);
  EXPECT_EQ(stored, 8192ULL * 8192 * 2);
}

TEST_F(Gemm, ComparesEqualWithItself) {
  std::vector<std::uint32_t> identity(63);
  std::iota(identity.begin(), identity.end(), 0);
  const BlockComparison result =
      compare({"1150", "890", "64"}, patched(kBlockId, kBlockId), identity);
  EXPECT_EQ(result.first_difference, "");
  EXPECT_EQ(result.blocks_compared, 12U);
  EXPECT_GT(result.bytes_compared, 12U * 128 * 100);
}

TEST_F(Gemm, ComparesEqualUnderItsPermutation) {
  const auto reversed =
      patched(kBlockId,
              "const int id = gridDim.x * gridDim.y - 1 - (blockIdx.y * gridDim.x + blockIdx.x);");
  std::vector<std::uint32_t> permutation(63);
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  EXPECT_EQ(compare({"1150", "890", "64"}, reversed, permutation).first_difference, "");
  std::iota(permutation.begin(), permutation.end(), 0);
  EXPECT_THAT(compare({"1150", "890", "64"}, reversed, permutation).first_difference,
              HasSubstr("where the original"));
}

TEST_F(Gemm, APlantedDifferenceIsFound) {
  std::vector<std::uint32_t> identity(63);
  std::iota(identity.begin(), identity.end(), 0);
  const auto wrong_value =
      patched("four = {carried.rows[0][j],",
              "four = {static_cast<half>(carried.rows[0][j] + (threadIdx.x == 77 ? 1 : 0)),");
  EXPECT_THAT(compare({"1152", "896", "64"}, wrong_value, identity).first_difference,
              HasSubstr("where the original writes"));
  const auto lost_row = patched("c, m, n, where)", "c, m - 1, n, where)");
  EXPECT_THAT(compare({"1152", "896", "64"}, lost_row, identity).first_difference,
              HasSubstr("does not write"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
