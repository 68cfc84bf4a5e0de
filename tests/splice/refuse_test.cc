// What must be refused, with the sentence that says what and where; and that nothing is written.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "cases.h"
#include "splice/splice.h"
#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kInclude = "#include <hip/hip_runtime.h>\n";

class Splice : public ::testing::Test {
 protected:
  SpliceRequest request(const std::string& source, const std::string& kernel) {
    return request_for(scratch_.path(), "a", source, kernel, small_hip_arguments());
  }

  /// The sentence of the refusal, after its exit code: "2: ..." or "3: ...".
  std::string refusal(const SpliceRequest& wanted) {
    const std::string before = read_file(wanted.source);
    std::string sentence = "not refused";
    try {
      sentence += splice(wanted).patch;
    } catch (const Error& error) {
      sentence = fmt::format("{}: {}", static_cast<int>(error.exit()), error.what());
      EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    }
    EXPECT_EQ(read_file(wanted.source), before);
    return sentence;
  }
  std::string refusal(const std::string& source, const std::string& kernel = "k") {
    return refusal(request(kInclude + source, kernel));
  }

  SpliceResult spliced(const std::string& source, const std::string& kernel = "k") {
    return splice(request(kInclude + source, kernel));
  }

  void header(const std::string& name, const std::string& text) {
    write_file(scratch_.path() / name, "#pragma once\n" + text);
  }

  ScratchDirectory scratch_;
};

TEST_F(Splice, RefusesAMacroFromAHeader) {
  header("grid.h", "#define GRID_ROW (blockIdx.y)\n");
  EXPECT_THAT(refusal("#include \"grid.h\"\n__global__ void k(int* a) {\n  a[GRID_ROW] = 1;\n}\n"),
              AllOf(HasSubstr("3: a.hip:4:"), HasSubstr("GRID_ROW"), HasSubstr("another file")));
}

TEST_F(Splice, RefusesADeviceFunctionInAHeader) {
  header("index.h", "__device__ inline int row() {\n  return blockIdx.y;\n}\n");
  EXPECT_THAT(
      refusal("#include \"index.h\"\n__global__ void k(int* a) { a[row()] = blockIdx.x; }\n"),
      AllOf(HasSubstr("index.h:3:"), HasSubstr(" row,"), HasSubstr("another file")));
}

TEST_F(Splice, RefusesAKernelInAHeader) {
  header("kernel.h", "__global__ void k(int* a) { a[blockIdx.x] = 1; }\n");
  EXPECT_THAT(refusal("#include \"kernel.h\"\nvoid f();\n"),
              HasSubstr("kernel.h:2: k(int *) is defined"));
}

TEST_F(Splice, RefusesAFunctionThatAnotherKernelCalls) {
  const std::string shared =
      "__device__ int row() { return blockIdx.y; }\n"
      "__device__ int twice() { return 2 * row(); }\n"
      "__global__ void k(int* a) { a[blockIdx.x] = twice(); }\n"
      "__global__ void other(int* a) { a[blockIdx.x] = row(); }\n";
  EXPECT_THAT(refusal(shared),
              AllOf(HasSubstr("3: a.hip:2: row "), HasSubstr("other(int *) (a.hip:5)")));
  EXPECT_THAT(refusal("template <class T> __device__ T row(T v) { return v + blockIdx.y; }\n"
                      "__global__ void k(int* a) { a[blockIdx.x] = row(1); }\n"
                      "template <class T> __global__ void other(T* a) { a[0] = row(a[1]); }\n"),
              AllOf(HasSubstr("a.hip:2: row"), HasSubstr("other(T *)")));
}

TEST_F(Splice, RefusesMacrosThatReachFurther) {
  const std::string macro = "#define ROW (blockIdx.y + 1)\n";
  EXPECT_THAT(refusal(macro + "__global__ void k(int* a) { a[ROW] = 1; }\n"
                              "__global__ void other(int* a) { a[ROW] = 2; }\n"),
              AllOf(HasSubstr("3: a.hip:4: the macro ROW (a.hip:2)")));
  EXPECT_THAT(refusal(macro + "#define CELL (ROW * 8)\n__global__ void k(int* a) { a[ROW] = 1; }\n"
                              "__device__ int f() { return CELL; }\n"),
              HasSubstr("a.hip:5: the macro ROW (a.hip:2)"));
  EXPECT_THAT(refusal(macro + "__global__ void k(int* a) { a[ROW] = 1;\n#undef ROW\n"
                              "#define ROW blockIdx.z\n a[ROW] = 2; }\n"),
              HasSubstr("ROW reads the block index and is defined more than once"));
  EXPECT_THAT(refusal("#define KERNEL(name) __global__ void name(int* a) { a[blockIdx.x] = 1; }\n"
                      "KERNEL(k)\n"),
              HasSubstr("a.hip:3: the function here is written by the macro KERNEL"));
  EXPECT_THAT(refusal(macro + "__device__ int f(int row = ROW) { return row; }\n"
                              "__global__ void k(int* a) { a[f()] = 1; }\n"),
              HasSubstr("a.hip:3: the macro ROW reads the block index where no local variable"));
}

TEST_F(Splice, RefusesWhatHasNoText) {
  EXPECT_THAT(
      refusal("__global__ void k(int* a) {\n  int b;\n"
              "  asm volatile(\"s_mov_b32 %0, ttmp9\" : \"=s\"(b));\n  a[b] = blockIdx.x;\n}\n"),
      HasSubstr("3: a.hip:4: inline assembly in k"));
  EXPECT_THAT(refusal("__global__ void k(int* a) { a[__ockl_get_global_id(0)] = blockIdx.x; }\n"),
              HasSubstr("a.hip:2: __ockl_get_global_id reads the block index inside"));
  EXPECT_THAT(refusal("__global__ void k(int* a, int i) { a[0] = __ockl_get_group_id(i); }\n"),
              HasSubstr("a.hip:2: __ockl_get_group_id is called with"));
}

TEST_F(Splice, RefusesWhatWouldNotCompile) {
  EXPECT_THAT(refusal("__device__ int f(const __cuda_builtin_blockIdx_t& b) { return b.x; }\n"
                      "__global__ void k(int* a) { a[0] = f(blockIdx); }\n"),
              AllOf(HasSubstr("3: the patched text would not compile (a.hip:"),
                    HasSubstr("no matching function for call to 'f'")));
}

TEST_F(Splice, RefusesAKernelThatIsPatchedAlready) {
  const std::string source =
      "__global__ void k(int* a) { a[blockIdx.x] = 1; }\n__global__ void j(int* a) { a[blockIdx.x] "
      "= 1; }\n";
  const SpliceRequest first = request(kInclude + source, "k");
  const std::string patched = splice(first).patched;
  SpliceRequest again = request(patched, "k");
  EXPECT_THAT(refusal(again), AllOf(HasSubstr("3: a.hip:"), HasSubstr("earlier patch")));
  again.function = "other_block";
  again.helper_code = reversing_helper("other_block");
  EXPECT_THAT(refusal(again), HasSubstr("earlier patch"));
  // The other kernel can be patched too, under another name.
  SpliceRequest second = request(patched, "j");
  EXPECT_THAT(refusal(second), HasSubstr("the name test_block_index is taken"));
  second.function = "other_block";
  second.helper_code = reversing_helper("other_block");
  EXPECT_NO_THROW(splice(second));
}

TEST_F(Splice, NamesTheKernelsThatAreThere) {
  const std::string two =
      "namespace n { __global__ void k(int* a) { a[blockIdx.x] = 1; } }\n"
      "__global__ void k(int* a) { a[blockIdx.x] = 2; }\n"
      "__global__ void k(float* a) { a[blockIdx.x] = 3; }\n";
  EXPECT_THAT(refusal(two, "missing"),
              AllOf(HasSubstr("2: a.hip: no kernel 'missing'"), HasSubstr("n::k(int *) (a.hip:2)"),
                    HasSubstr("k(float *) (a.hip:4)")));
  EXPECT_THAT(refusal(two, "k"),
              AllOf(HasSubstr("2: a.hip: 'k' names 3 kernels"), HasSubstr("n::k(int *)")));
  EXPECT_THAT(refusal(two, "::k"), HasSubstr("names 2 kernels"));
  EXPECT_THAT(spliced(two, "n::k").changed, ElementsAre("a.hip:2: blockIdx.x"));
  EXPECT_THAT(spliced(two, "k(float*)").changed, ElementsAre("a.hip:4: blockIdx.x"));
  EXPECT_THAT(spliced(two, "_Z1kPi").changed, ElementsAre("a.hip:3: blockIdx.x"));
  EXPECT_THAT(spliced(two, "n::k(int*)").changed, ElementsAre("a.hip:2: blockIdx.x"));
  EXPECT_THAT(refusal("int f();\n"),
              HasSubstr("2: a.hip: no kernel 'k': this file has no __global__"));
  EXPECT_THAT(refusal("__device__ int k() { return blockIdx.x; }\n"), HasSubstr("no __global__"));
  EXPECT_THAT(refusal("__global__ void k(int* a) { a[0] = 1; }\n"),
              HasSubstr("never reads its block index"));
}

TEST_F(Splice, ReportsTheCompilersFirstError) {
  EXPECT_THAT(refusal("__global__ void k(int* a) {\n  a[blockIdx.x] = ;\n  b = 2;\n}\n"),
              HasSubstr("3: a.hip:3:19: expected expression"));
  EXPECT_THAT(refusal("#include \"missing.h\"\n"),
              HasSubstr("a.hip:2:10: 'missing.h' file not found"));
}

TEST_F(Splice, RefusesAMissingFileAndAForeignRoot) {
  SpliceRequest wanted =
      request(std::string(kInclude) + "__global__ void k(int* a) { a[blockIdx.x] = 1; }\n", "k");
  wanted.root = scratch_.path() / "elsewhere";
  EXPECT_THAT(refusal(wanted), HasSubstr("2: "));
  wanted.root = scratch_.path().parent_path();
  const std::string path = scratch_.path().filename().string() + "/a.hip";
  EXPECT_THAT(splice(wanted).patch, HasSubstr("--- a/" + path + "\n+++ b/" + path + "\n"));
  wanted.source = scratch_.path() / "none.hip";
  EXPECT_THROW(splice(wanted), Error);
}

TEST_F(Splice, NotesWhatItLeftAlone) {
  const SpliceResult result = spliced(
      "#define ROW blockIdx.y\nint outside(int);\n__device__ int far(int);\n"
      "__device__ int unused() { return blockIdx.z; }\n"
      "template <class T>\n__global__ void k(T* a) {\n  a[ROW] = far(1);\n#ifdef SLOW\n  a[ROW] = "
      "1;\n"
      "  a[blockIdx.x] = 2;\n#endif\n}\n");
  EXPECT_THAT(
      result.notes,
      ElementsAre(AllOf(HasSubstr("a.hip:10: the macro ROW (a.hip:2)"), HasSubstr("not compiled")),
                  HasSubstr("a.hip:11: this blockIdx is not compiled"),
                  HasSubstr("k(T *) is a template"), HasSubstr("far is not defined in this file"),
                  AllOf(HasSubstr("no kernel of the file"), HasSubstr(": 5."))));
}

TEST_F(Splice, RecognisesRemaps) {
  const auto remaps = [&](const std::string& body) {
    std::vector<std::string> found;
    for (const Remap& remap :
         spliced("__device__ int cdiv(int a, int b) { return (a + b - 1) / b; }\n"
                 "__global__ void k(int* a, int m, int n, int g) {\n" +
                 body + "}\n")
             .existing_remaps)
      found.push_back(remap.where.substr(6) + " " + remap.what);
    return found;
  };
  EXPECT_THAT(remaps("int pid = blockIdx.y * gridDim.x + blockIdx.x;\n"
                     "int in_group = g * n;\nint group = pid / in_group;\nint first = group * g;\n"
                     "int size = min(m - first, g);\n"
                     "a[first + pid % size] =\n (pid % in_group) / size;\n"),
              ElementsAre("6 pid / in_group", "8 min(m - first, g)", "9 pid % size",
                          "10 pid % in_group", "10 (pid % in_group) / size"));
  EXPECT_THAT(
      remaps(
          "int pid = blockIdx.x;\npid = (pid % 8) * cdiv(gridDim.x, 8) + pid / 8;\na[pid] = 1;\n"),
      ElementsAre("5 pid % 8", "5 pid / 8"));
  EXPECT_THAT(remaps("unsigned pid = blockIdx.x;\na[((pid & 7) << 4) | (pid >> 3)] = 1;\n"),
              ElementsAre("5 pid & 7", "5 pid >> 3"));
  EXPECT_THAT(remaps("a[blockIdx.x ^ (blockIdx.y & 3)] = 1;\n"),
              ElementsAre("4 blockIdx.x ^ (blockIdx.y & 3)"));
  EXPECT_THAT(remaps("a[(blockIdx.x + blockIdx.y) % gridDim.x] = 1;\n"),
              ElementsAre("4 (blockIdx.x + blockIdx.y) % gridDim.x"));
  EXPECT_THAT(remaps("a[gridDim.x - 1 - blockIdx.x] = 1;\n"),
              ElementsAre("4 gridDim.x - 1 - blockIdx.x"));
}

TEST_F(Splice, PlainUsesAreNoRemaps) {
  const std::vector<Remap> found =
      spliced(
          "__global__ void k(int* a, int n, int heads) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int row = i / n, col = i % n;\n"
          "  int tile = blockIdx.y * 64, last = min(tile + 64, n);\n"
          "  int batch = blockIdx.z / heads, head = blockIdx.z % heads;\n"
          "  const int* p = a + blockIdx.x * 128 / 4;\n"
          "  int end = tile + 64 < n ? tile + 64 : n;\n"
          "  a[(batch * heads + head) * n] = p[row] + col + last + end;\n"
          "  if (blockIdx.x == gridDim.x - 1) a[a[blockIdx.x] % 8] = n - tile;\n}\n")
          .existing_remaps;
  for (const Remap& remap : found) ADD_FAILURE() << remap.where << ": " << remap.what;
}

}  // namespace
}  // namespace swizzleperf::splice
