// Small programs that check themselves: each builds and passes in functional mode.
#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

class SmallProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallProgram, PassesItsOwnChecks) {
  const ScratchDirectory scratch;
  const ProgramSpec spec = program_file(std::string(GetParam()) + ".hip");
  const FunctionalRun run = run_functional(spec, build_program(spec, scratch.path()));
  EXPECT_EQ(run.exit_status, 0);
}

INSTANTIATE_TEST_SUITE_P(All, SmallProgram,
                         ::testing::Values("copies", "symbols", "streams", "several_kernels",
                                           "managed_memory", "errors", "grids", "queries"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Digest, IsTheSameForTheSameRunAndNotForAnother) {
  TextProgram program(
      "#include <hip/hip_runtime.h>\n"
      "#include <cstdlib>\n"
      "__global__ void k(int* p, int v) { p[threadIdx.x] = v * (threadIdx.x + 1); }\n"
      "int main(int, char** argv) {\n"
      "  int* p;\n"
      "  (void)hipMalloc(&p, 256);\n"
      "  k<<<1, 64>>>(p, std::atoi(argv[1]));\n"
      "  (void)hipFree(p);\n"  // freed memory counts too
      "  return 0;\n"
      "}\n");
  const BuiltProgram built = program.build();
  const auto digest = [&](const char* argument) {
    program.spec().arguments = {argument};
    return run_functional(program.spec(), built).output_digest;
  };
  EXPECT_EQ(digest("1"), digest("1"));
  EXPECT_NE(digest("1"), digest("2"));
}

TEST(Run, OutputAndStatusArriveAndTheExecutableCanBeGivenInstead) {
  TextProgram program(
      "#include <hip/hip_runtime.h>\n"
      "#include <cstdio>\n"
      "__global__ void k(int* p) { *p = 40; }\n"
      "int main() {\n"
      "  int* p;\n"
      "  (void)hipMalloc(&p, 4);\n"
      "  k<<<1, 1>>>(p);\n"
      "  int back;\n"
      "  (void)hipMemcpy(&back, p, 4, hipMemcpyDeviceToHost);\n"
      "  std::printf(\"got %d\\n\", back);\n"
      "  return 5;\n"
      "}\n");
  const BuiltProgram built = program.build();
  const FunctionalRun run = run_functional(program.spec(), built);
  EXPECT_EQ(run.exit_status, 5);
  EXPECT_EQ(run.captured_stdout, "got 40\n");

  ProgramSpec again = program.spec();
  again.program = built.executable;
  EXPECT_EQ(run_functional(again, build_program(again, program.directory())).captured_stdout,
            "got 40\n");
}

}  // namespace
}  // namespace swizzleperf::vgpu
