// What is cut out of a source file compiles in the head of a reader: the kernel and what it uses.
#include "context/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/random.h"

namespace swizzleperf {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHip = R"(// An essay that tells what is cached where.
#include <hip/hip_runtime.h>
#define SQUARE(x) ((x) * \
                   (x))
#define UNUSED 3
namespace {
constexpr int kTile = 1'6;  // lines of the L2
using real = float;
struct Shape { int rows; int columns; };
enum class Mode { kPlain, kOther };
template <int N = 4>
__device__ int helper(int i) { return SQUARE(i) + N + inner(i); }
__device__ int inner(int i) { const char* text = "} // no comment"; return i + text[0] + '}'; }
__device__ int stranger(int i) { return i; }
}  // namespace

extern "C" {
__global__ void other(real* p) { p[0] = 1; }
}

template <typename T>
__global__ __launch_bounds__(256, 2) void mine(T* p, Shape s) {
  /* XCD */ p[blockIdx.x * kTile] = helper<4>(s.rows);
}

int main() { mine<real><<<1, 1>>>(nullptr, {}); }
)";

TEST(Source, KeepsTheKernelAndWhatItNames) {
  for (const char* kernel : {"void mine<float>(float*, (anonymous namespace)::Shape)",
                             "void (anonymous namespace)::mine<float>(float*)", "mine"}) {
    SCOPED_TRACE(kernel);
    const Excerpt e = kernel_excerpt(kHip, "a.hip", kernel);
    EXPECT_TRUE(e.found);
    EXPECT_FALSE(e.shortened);
    for (const char* kept : {"void mine(", "helper(int i)", "inner(int i)", "#define SQUARE",
                             "(x))", "kTile = 1'6;", "struct Shape", "\"} // no comment\""}) {
      EXPECT_THAT(e.text, HasSubstr(kept));
    }
    for (const char* left : {"essay", "UNUSED", "stranger", "other", "main", "XCD", "L2", "Mode"}) {
      EXPECT_THAT(e.text, Not(HasSubstr(left)));
    }
  }
}

TEST(Source, OfPython) {
  const Excerpt e = kernel_excerpt(R"("""An essay
about caches."""
import triton
WIDTH = 4  # lines of the L2
OTHER = 5

@triton.jit
def part(i):
    "what it does"
    return i * WIDTH

@triton.autotune(
    configs=[],
)
@triton.jit
def mine(p,
         N: tl.constexpr
):
    """Docs."""
    name = "# no comment"
    tl.store(p, part(N))

def check():
    mine[(1,)](None)
)",
                                   "a.py", "mine");
  EXPECT_TRUE(e.found);
  for (const char* kept : {"def mine(", "def part(", "WIDTH = 4", "@triton.jit", "\"# no comment\"",
                           "tl.store", "@triton.autotune"}) {
    EXPECT_THAT(e.text, HasSubstr(kept));
  }
  for (const char* left : {"essay", "Docs", "what it does", "L2", "check", "OTHER", "import"}) {
    EXPECT_THAT(e.text, Not(HasSubstr(left)));
  }
}

TEST(Source, IsCappedAndSaysSo) {
  std::string text =
      "__device__ int far(int i) { return i; }\n__device__ int near(int i) { return far(i); }\n";
  text += "__global__ void mine(int* p) {\n";
  for (int i = 0; i < 100; ++i) text += "  p[" + std::to_string(i) + "] = near(1);\n";
  text += "}\n";
  const Excerpt whole = kernel_excerpt(text, "a.hip", "mine");
  EXPECT_FALSE(whole.shortened);
  const Excerpt less = kernel_excerpt(text, "a.hip", "mine", whole.text.size() - 20);
  EXPECT_TRUE(less.shortened);
  EXPECT_THAT(less.text, HasSubstr("near(int i)"));  // what is nearest to the kernel goes last
  EXPECT_THAT(less.text, Not(HasSubstr("far(int i)")));
  const Excerpt least = kernel_excerpt(text, "a.hip", "mine", 300);
  EXPECT_TRUE(least.shortened);
  EXPECT_LE(least.text.size(), 301U);
  EXPECT_THAT(least.text, HasSubstr("void mine("));
}

TEST(Source, GivesTheBeginningWhereTheKernelIsNotInIt) {
  const Excerpt e = kernel_excerpt(kHip, "a.hip", "somewhere_else");
  EXPECT_FALSE(e.found);
  EXPECT_THAT(e.text, HasSubstr("#include <hip/hip_runtime.h>"));
  EXPECT_THAT(e.text, Not(HasSubstr("essay")));
  EXPECT_EQ(kernel_excerpt("", "a.hip", "x").text, "");
}

/// Whatever the text is cut to, nothing is read behind its end and nothing grows without bound.
TEST(Source, OfTornText) {
  const std::string whole = kHip;
  for (std::size_t end = 0; end < whole.size(); ++end) {
    const std::string torn = whole.substr(0, end);
    for (const char* name : {"a.hip", "a.py"}) {
      EXPECT_LE(kernel_excerpt(torn, name, "mine", 400).text.size(), 401U);
    }
  }
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    while (text.size() < 60) {
      static constexpr const char* kBits[] = {
          "{", "}",          "(",    ")", "\"", "'", "/*", "*/", "//", "\n",       "R\"(", ")\"",
          "#", "__global__", "mine", "<", ">",  ";", "\\", "=",  "@",  "template", "def ", " "};
      text += kBits[random.below(std::size(kBits))];
    }
    for (const char* name : {"a.hip", "a.py"}) (void)kernel_excerpt(text, name, "mine", 100);
  }
}

TEST(Source, FindsEveryKernelOfTheSuite) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SWIZZLEPERF_KERNELS)) {
    const std::filesystem::path& file = entry.path();
    const std::string name = file.stem().string();
    if (file.parent_path().filename() != name) continue;
    if (file.extension() != ".hip" && file.extension() != ".py") continue;
    SCOPED_TRACE(file);
    const std::string text = read_file(file);
    const bool python = file.extension() == ".py";
    // Whatever kernels the file defines, each is found by its name.
    const std::string mark = python ? "@triton.jit\ndef " : "__global__";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const std::size_t open = text.find('(', text.find(python ? "def " : "void ", at));
      std::size_t begin = open;
      while (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')
        --begin;
      const std::string kernel = text.substr(begin, open - begin);
      const Excerpt e = kernel_excerpt(text, file.string(), kernel);
      EXPECT_TRUE(e.found) << kernel;
      EXPECT_FALSE(e.shortened) << kernel;
      EXPECT_THAT(e.text, HasSubstr(kernel + "("));
      EXPECT_THAT(e.text, Not(HasSubstr("int main")));
      ++files;
    }
  }
  EXPECT_GE(files, 20U);
}

}  // namespace
}  // namespace swizzleperf
