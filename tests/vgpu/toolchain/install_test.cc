// `cmake --install` makes a tree that works by itself: compilers, headers, machine models,
// launcher.
#include <gmock/gmock.h>

#include "sandbox.h"

namespace swizzleperf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Install, WorksFromItsPrefix) {
  const Sandbox box;
  const std::string prefix = (box.path() / "prefix").string();
  const ChildResult installed = box.run({"cmake", "--install", BUILD, "--prefix", prefix});
  ASSERT_TRUE(installed.ok()) << said(installed);
  // Moved, so that nothing can lead back to where it was installed.
  ASSERT_TRUE(box.shell("mv prefix moved").ok());
  const auto shell = [&](const std::string& command) {
    return box.shell("env -u SWIZZLEPERF_MACHINES PATH=$PWD/moved/bin:/usr/bin:/bin " + command);
  };
  box.write("a.cu",
            "#include <cub/cub.cuh>\n#include <cuda_bf16.h>\n"
            "__global__ void k(float* p) {\n"
            "  __shared__ cub::BlockReduce<float, 64>::TempStorage temp;\n"
            "  const float sum = cub::BlockReduce<float, 64>(temp).Sum(p[threadIdx.x]);\n"
            "  if (threadIdx.x == 0) p[blockIdx.x] = sum;\n}\n"
            "int main() { float* p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); }\n");
  const ChildResult made = shell("swizzleperf-nvcc a.cu -o a");
  ASSERT_TRUE(made.ok()) << said(made);
  const ChildResult ran = shell("./a");
  EXPECT_TRUE(ran.ok()) << said(ran);
  const ChildResult simulated = shell("swizzleperf simulate ./a -m h200");
  EXPECT_TRUE(simulated.ok()) << said(simulated);
  EXPECT_THAT(simulated.out, AllOf(HasSubstr("k(float*)"), HasSubstr("H200")));
  box.write("b.hip",
            "#include <hip/hip_bf16.h>\n"
            "__global__ void k(__hip_bfloat16* p) { p[threadIdx.x] = __float2bfloat16(1.0f); }\n"
            "int main() { __hip_bfloat16* p; (void)hipMalloc(&p, 256); k<<<1, 64>>>(p); }\n");
  const ChildResult source = shell("swizzleperf simulate b.hip");
  EXPECT_TRUE(source.ok()) << said(source);
}

}  // namespace
}  // namespace swizzleperf
