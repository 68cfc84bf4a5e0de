// What is not supported is refused by name, with the source line, when it is used and not before;
// what a program does wrong is one sentence that says where.
#include <gmock/gmock.h>

#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two kernels and 256 ints at p; `bad` is launched only when the program gets an argument.
std::string program(const std::string& device, const std::string& bad) {
  return "#include <hip/hip_runtime.h>\n"
         "#include <cassert>\n" +
         device +
         "\n"
         "__global__ void good(int* p) { p[threadIdx.x] = 1; }\n"
         "__global__ void bad(int* p) {\n  " +
         bad +
         "\n}\n"
         "int main(int argc, char**) {\n"
         "  int* p;\n"
         "  if (hipMalloc(&p, 256 * sizeof(int)) != hipSuccess) return 3;\n"
         "  good<<<1, 64>>>(p);\n"
         "  if (argc > 1) bad<<<2, 64>>>(p);\n"
         "  return hipDeviceSynchronize();\n"
         "}\n";
}

/// The sentence when `bad` is launched; first the same program runs without launching it.
std::string refusal(const std::string& device, const std::string& bad) {
  TextProgram p(program(device, bad));
  const BuiltProgram built = p.build();
  EXPECT_EQ(run_functional(p.spec(), built).exit_status, 0);
  p.spec().arguments = {"launch it"};
  return sentence([&] { run_functional(p.spec(), built); });
}

/// In every text above, the body of `bad` is line 6.
constexpr const char* kLine = "program.hip:6";

TEST(Refusals, AnIntrinsic) {
  EXPECT_THAT(refusal("", "__builtin_amdgcn_ds_gws_init(p[0], p[1]);"),
              AllOf(HasSubstr("the intrinsic 'llvm.amdgcn.ds.gws.init'"), HasSubstr("bad(int*)"),
                    HasSubstr(kLine)));
}

TEST(Refusals, InlineAssembly) {
  EXPECT_THAT(
      refusal("", "asm volatile(\"s_nop 7\");"),
      AllOf(HasSubstr("inline assembly \"s_nop 7\""), HasSubstr("bad(int*)"), HasSubstr(kLine)));
}

TEST(Refusals, Recursion) {
  EXPECT_THAT(refusal("__device__ int f(int n) { return n < 2 ? n : f(n - 1) * 3 + f(n - 2); }",
                      "p[0] = f(p[1]);"),
              AllOf(HasSubstr("recursive function"), HasSubstr("'_Z1fi'"), HasSubstr(kLine)));
}

TEST(Refusals, AFunctionNobodyDefined) {
  EXPECT_THAT(refusal("extern \"C\" __device__ float __ocml_of_the_future_f32(float);",
                      "p[0] = __ocml_of_the_future_f32(p[1]);"),
              AllOf(HasSubstr("'__ocml_of_the_future_f32'"), HasSubstr(kLine)));
}

/// These GPUs have no texture units: already the compiler says so.
TEST(Refusals, ATextureInAKernel) {
  const TextProgram p(program("", "p[0] = tex1Dfetch<float>((hipTextureObject_t)p, 3);"));
  EXPECT_THAT(
      sentence([&] { (void)p.build(); }),
      AllOf(HasSubstr("tex1Dfetch"), HasSubstr("texture API not supported"), HasSubstr(kLine)));
}

TEST(Refusals, Assertion) {
  EXPECT_THAT(
      refusal("", "assert(p[threadIdx.x] == 1 - threadIdx.x / 40);"),
      AllOf(HasSubstr("block (0,0,0), thread (40,0,0)"), HasSubstr(kLine),
            HasSubstr("Device-side assertion `p[threadIdx.x] == 1 - threadIdx.x / 40' failed")));
}

TEST(Refusals, OutOfBounds) {
  EXPECT_THAT(refusal("", "p[threadIdx.x + blockIdx.x * 200] = 7;"),
              AllOf(HasSubstr("block (1,0,0), thread (56,0,0)"), HasSubstr(kLine),
                    HasSubstr("0 bytes past the end of hipMalloc #1 (1024 bytes)")));
}

TEST(Refusals, ASpinningKernelStopsByItself) {
  const std::string text = refusal("", "for (volatile int* q = p;;) *q = *q + 1;");
  EXPECT_THAT(text,
              AllOf(HasSubstr("wave instructions"), HasSubstr("--step-limit"), HasSubstr(kLine)));
}

TEST(Refusals, AWaitForNobody) {
  EXPECT_THAT(refusal("", "while (atomicAdd(p, 0) < 100) {}"),
              AllOf(HasSubstr("waits for what no block of the launch does"), HasSubstr(kLine)));
}

TEST(Refusals, RuntimeCallsByName) {
  const auto call = [](const std::string& text) {
    TextProgram p(
        "#include <hip/hip_runtime.h>\n#include <hip/hiprtc.h>\n"
        "__global__ void k(int* p) { *p = 1; }\n"
        "int main(int argc, char**) {\n" +
        text +
        "\n  k<<<1, 1>>>(nullptr);\n"
        "}\n");
    const BuiltProgram built = p.build();
    return sentence([&] { run_functional(p.spec(), built); });
  };
  EXPECT_THAT(call("hipTextureObject_t t; hipResourceDesc r{}; hipTextureDesc d{};\n"
                   "(void)hipCreateTextureObject(&t, &r, &d, nullptr);"),
              AllOf(HasSubstr("hipCreateTextureObject is not supported by the virtual GPU"),
                    HasSubstr("textures")));
  EXPECT_THAT(
      call("hiprtcProgram p;\n(void)hiprtcCreateProgram(&p, \"\", \"\", 0, nullptr, nullptr);"),
      HasSubstr("hiprtcCreateProgram is not supported by the virtual GPU"));
  EXPECT_THAT(call("hipModule_t m;\n(void)hipModuleLoadData(&m, \"\\x7f\" \"ELF code\");"),
              HasSubstr("is not LLVM IR"));
}

TEST(Refusals, ALaunchLargerThanMemorySaysHowMuch) {
  TextProgram p(
      "#include <hip/hip_runtime.h>\n"
      "__global__ void k(int* p) { *p = 1; }\n"
      "int main() {\n"
      "  int* p;\n"
      "  if (hipMalloc(&p, 3ull << 50) != hipSuccess) return 4;\n"
      "  k<<<1, 1>>>(p);\n"
      "}\n");
  const BuiltProgram built = p.build();
  EXPECT_THAT(sentence([&] { trace_program(p.spec(), built); }),
              HasSubstr("asked for 3377699.721 GB of device memory"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
