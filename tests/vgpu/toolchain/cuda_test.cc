// CUDA programs that check themselves: each is compiled by swizzleperf-nvcc, passes on the virtual
// GPU, and can be traced. They are written for the real nvcc, too.
#include <gmock/gmock.h>

#include "sandbox.h"
#include "vgpu/run.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::HasSubstr;

class CudaProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaProgram, PassesAndIsTraced) {
  const Sandbox box;
  const std::string source = std::string(CUDA_PROGRAMS) + "/" + GetParam() + ".cu";
  const ChildResult compiled = box.run({"swizzleperf-nvcc", "-std=c++17", "-arch=sm_80",
                                        "--extended-lambda", "-O2", source, "-o", "program"});
  ASSERT_TRUE(compiled.ok()) << said(compiled);
  EXPECT_EQ(said(compiled), "");
  const ChildResult ran = box.run({"./program"});
  EXPECT_EQ(ran.exit_status, 0) << said(ran);
  EXPECT_THAT(ran.out, HasSubstr("PASS"));

  ProgramSpec spec;
  spec.program = box.path() / "program";
  const Trace trace = trace_program(spec, build_program(spec, box.path()));
  EXPECT_GT(trace.blocks.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, CudaProgram,
                         ::testing::Values("atomics", "ballot", "bfloat16", "cub", "grid_sync",
                                           "grids", "groups", "half2", "intrinsics", "memory",
                                           "pipeline", "printing", "random", "rounding", "shuffle",
                                           "small_floats", "streams", "wmma"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace swizzleperf::vgpu
