// Programs that crash, hang, give up or break the rules: one sentence each, never our own crash.
#include <gmock/gmock.h>

#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A program around a kernel `k(int* p)` and the body of main, with 256 ints at p.
std::string program(const std::string& kernel, const std::string& body) {
  return "#include <hip/hip_runtime.h>\n"
         "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
         "__global__ void k(int* p) { " +
         kernel +
         " }\n"
         "int main() {\n"
         "  int* p;\n"
         "  (void)hipMalloc(&p, 256 * sizeof(int));\n" +
         body +
         "  return 0;\n"
         "}\n";
}

std::string trace_fault(const std::string& text, double time_limit_s = 60,
                        std::uint64_t memory_limit_bytes = 0) {
  TextProgram p(text);
  p.spec().time_limit_s = time_limit_s;
  p.spec().memory_limit_bytes = memory_limit_bytes;
  p.spec().step_limit = 1'000'000;
  const BuiltProgram built = p.build();
  return sentence([&] { trace_program(p.spec(), built); });
}

TEST(Failure, NeverLaunches) {
  EXPECT_THAT(trace_fault(program("*p = 1;", "if (!p) k<<<1, 1>>>(p);\n")),
              HasSubstr("ended without launching a kernel"));
}

TEST(Failure, LaunchesThatAreRefused) {
  EXPECT_THAT(trace_fault(program("*p = 1;", "k<<<2, 1025>>>(p);\n")),
              AllOf(HasSubstr("ended without launching a kernel; a launch of k(int*) was refused"),
                    HasSubstr("1025 x 1 x 1 threads (at most 1024)")));
}

TEST(Failure, MoreBlocksThanCanBeNumbered) {
  EXPECT_THAT(trace_fault(program("*p = 1;", "k<<<dim3(65535, 65535, 65535), 1>>>(p);\n")),
              HasSubstr("has 65535 x 65535 x 65535 blocks; at most 2^32 - 1"));
}

TEST(Failure, LastWordsDoNotReachTheTerminalRaw) {
  const std::string text =
      trace_fault(program("*p = 1;",
                          "for (int i = 0; i < 5000; ++i) std::fputc('z', stderr);\n"
                          "std::fputs(\"\\n\\x1b[31mred\\r\\n\", stderr); std::abort();\n"
                          "k<<<1, 1>>>(p);\n"));
  EXPECT_EQ(text.find_first_of("\x1b\r"), std::string::npos);
  EXPECT_LT(text.size(), 500U);
  EXPECT_THAT(text, HasSubstr("[31mred"));
}

TEST(Failure, GivesUpWithAStatus) {
  EXPECT_THAT(trace_fault(program("*p = 1;",
                                  "std::fprintf(stderr, \"no such option\\n\"); return 9;\n"
                                  "k<<<1, 1>>>(p);\n")),
              AllOf(HasSubstr("ended without launching a kernel"), HasSubstr("exit status 9"),
                    HasSubstr("it said: no such option")));
}

TEST(Failure, Crashes) {
  EXPECT_THAT(trace_fault(program("*p = 1;",
                                  "std::fprintf(stderr, \"about to\\n\"); std::abort();\n"
                                  "k<<<1, 1>>>(p);\n")),
              AllOf(HasSubstr("ended by signal 6 (Aborted)"), HasSubstr("about to")));
}

TEST(Failure, HangsBeforeTheLaunch) {
  EXPECT_THAT(trace_fault(program("*p = 1;", "for (;;) usleep(1000);\nk<<<1, 1>>>(p);\n"), 1.0),
              HasSubstr("was stopped at its time limit of 1 s"));
}

TEST(Failure, ExceedsTheMemoryLimit) {
  EXPECT_THAT(
      trace_fault(program("*p = 1;",
                          "char* volatile c = static_cast<char*>(std::malloc(3ull << 30));\n"
                          "if (!c) { std::fprintf(stderr, \"no memory\\n\"); std::abort(); }\n"
                          "k<<<1, 1>>>(p);\n"),
                  60, 2ULL << 30),
      AllOf(HasSubstr("memory limit 2.1 GB"), HasSubstr("no memory")));
}

TEST(Failure, LeavesWithoutSayingAnything) {
  EXPECT_THAT(trace_fault(program("*p = 1;", "_exit(0);\nk<<<1, 1>>>(p);\n")),
              HasSubstr("exited with status 0 before the launch"));
}

TEST(Failure, KernelWritesOutsideItsMemory) {
  const std::string text =
      trace_fault(program("p[threadIdx.x + 64 * blockIdx.x] = 1;", "k<<<5, 64>>>(p);\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("block"), HasSubstr("program.hip:5")));
}

TEST(Failure, KernelWritesOutsideItsMemoryInFunctionalMode) {
  TextProgram p(program("p[threadIdx.x + 64 * blockIdx.x] = 1;", "k<<<5, 64>>>(p);\n"));
  const BuiltProgram built = p.build();
  EXPECT_THAT(sentence([&] { run_functional(p.spec(), built); }),
              AllOf(HasSubstr("block"), HasSubstr("program.hip:5")));
}

TEST(Failure, KernelNeverEnds) {
  EXPECT_THAT(trace_fault(program("for (volatile int* q = p;;) *q = *q + 1;", "k<<<1, 1>>>(p);\n")),
              AllOf(HasSubstr("program.hip:5"), HasSubstr("block (0,0,0)"),
                    HasSubstr("1000000 wave instructions"), HasSubstr("--step-limit")));
}

TEST(Failure, KernelWaitsForWhatNeverComes) {
  EXPECT_THAT(
      trace_fault(program("while (*(volatile int*)p == 0) {}", "k<<<1, 1>>>(p);\n")),
      AllOf(HasSubstr("program.hip:5"), HasSubstr("block (0,0,0) waits for what no block")));
}

TEST(Failure, DeviceMemoryRunsOut) {
  EXPECT_THAT(trace_fault(program("*p = 1;",
                                  "void* q;\n"
                                  "if (hipMalloc(&q, 5ull << 40) != hipSuccess) return 4;\n"
                                  "k<<<1, 1>>>(p);\n")),
              HasSubstr("asked for 5497.558 GB of device memory"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
