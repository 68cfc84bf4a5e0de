// What a rewritten file may change, and what gives it away.
#include "splice/host_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "cases.h"

namespace swizzleperf::splice {
namespace {

using ::testing::HasSubstr;

const std::string kOriginal = R"(#include <hip/hip_runtime.h>
#define N 16
/// Counts.
struct Box {
  int n;
  __device__ int twice() const { return 2 * n; }
  int thrice() const { return 3 * n; }
};
__device__ int helper(int a) { return a + 1; }
__global__ void k(int* a) {
  // The index as it is.
  const int i = blockIdx.x;
  a[i] = helper(i);
}
template <int M>
__global__ void t(int* a) { a[blockIdx.x] = M; }
void launch(int blocks);
int host(int* a) { launch(4); return N; }
)";

class HostSide : public ::testing::Test {
 protected:
  Rewrite rewrite(const std::string& text) {
    const std::filesystem::path source = scratch_.path() / "a.hip";
    write_file(source, kOriginal);
    return compare_rewrite({source, scratch_.path(), small_hip_arguments(), text});
  }
  Rewrite replaced(const std::string& what, const std::string& by) {
    std::string text = kOriginal;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return rewrite(text.replace(at, what.size(), by));
  }

  ScratchDirectory scratch_;
};

TEST_F(HostSide, DeviceCodeMayChange) {
  EXPECT_EQ(rewrite(kOriginal).host_change, "");
  EXPECT_EQ(rewrite(kOriginal).patch, "");
  const std::pair<const char*, const char*> allowed[] = {
      {"= blockIdx.x;", "= (int)(gridDim.x - 1 - blockIdx.x);"},
      {"return a + 1;", "int b = a; return b + 1;"},
      {"__device__ int helper",
       "// Mine.\n__device__ int mine(int x) { return x; }\n__device__ int helper"},
      {"return 2 * n;", "return n + n;"},
      {"= M;", "= M + 0;"},
      {"int host(int* a) {", "int  host( int*a )\n{  // starts it\n"},
      {"  // The index as it is.\n", ""},
      {"const int i", "#pragma unroll 4\n  for (int j = 0; j < 4; ++j) {}\n  const int i"},
  };
  for (const auto& [what, by] : allowed) {
    const Rewrite r = replaced(what, by);
    EXPECT_EQ(r.host_change, "") << by;
    EXPECT_EQ(r.error, "") << by;
    EXPECT_THAT(r.patch, HasSubstr("--- a/a.hip"));
  }
}

TEST_F(HostSide, NothingElseMay) {
  const std::pair<const char*, const char*> refused[] = {
      {"launch(4)", "launch(2)"},
      {"return N;", "return 0;"},
      {"#define N 16", "#define N 17"},
      {"#define N 16\n", ""},
      {"int n;", "int n, m;"},
      {"return 3 * n;", "return 4 * n;"},
      {"__global__ void k(int* a)", "__global__ void k(int* a, int b = 0)"},
      {"int host(", "int more() { return 1; }\nint host("},
      {"__device__ int helper", "static int more = 3;\n__device__ int helper"},
      {"__device__ int helper(int a)", "__host__ __device__ int helper(int a)"},
      {"const int i", "#define main other\n  const int i"},
      {"const int i", "%:include \"/etc/passwd\"\n  const int i"},
      {"const int i",
       "?"
       "?=include \"/etc/passwd\"\n  const int i"},
      {"const int i", "/* */ #include \"/etc/passwd\"\n  const int i"},
      {"const int i", "#pragma unroll\\\n #include \"/etc/passwd\"\n  const int i"},
      {"const int i", "asm volatile(\"\"); const int i"},
      {"const int i", "__asm__(\".incbin \\\"/etc/passwd\\\"\"); const int i"},
      {"const int i", "_Pragma(\"GCC poison x\") const int i"},
  };
  for (const auto& [what, by] : refused) {
    const Rewrite r = replaced(what, by);
    EXPECT_NE(r.host_change, "") << by;
    EXPECT_EQ(r.patch, "") << by;
  }
}

TEST_F(HostSide, TheSentenceSaysWhere) {
  EXPECT_THAT(replaced("return N;", "return 0;").host_change,
              ::testing::AllOf(HasSubstr("'N ; }'"), HasSubstr("'0 ; }'"), HasSubstr("line 18")));
  EXPECT_THAT(replaced("const int i", "int x = ;").error, HasSubstr("a.hip:12"));
  EXPECT_NE(rewrite("").host_change, "");
}

}  // namespace
}  // namespace swizzleperf::splice
