// Command lines of hipcc and nvcc in clang's terms.
#include "vgpu/toolchain/command_line.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf::vgpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

CompilerCall nvcc(const std::vector<std::string>& arguments) {
  return parse_command_line(Dialect::kNvcc, arguments);
}
CompilerCall hipcc(const std::vector<std::string>& arguments) {
  return parse_command_line(Dialect::kHipcc, arguments);
}
template <class Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CommandLine, NvccsOwnOptionsInEverySpelling) {
  const CompilerCall c = nvcc({"-gencode",
                               "arch=compute_70,code=sm_70",
                               "-gencode=arch=compute_80,code=sm_80",
                               "--gpu-architecture",
                               "sm_90",
                               "-Xptxas",
                               "-v,-dlcm=ca",
                               "--use_fast_math",
                               "-lineinfo",
                               "--expt-relaxed-constexpr",
                               "--extended-lambda",
                               "-ccbin",
                               "g++",
                               "--maxrregcount=64",
                               "-std",
                               "c++17",
                               "--std=c++14",
                               "-O3",
                               "-t",
                               "4",
                               "-Wno-deprecated-gpu-targets",
                               "-m64",
                               "-c",
                               "a.cu"});
  EXPECT_THAT(c.options, ElementsAre("-std=c++17", "-std=c++14", "-O3", "-DSWIZZLEPERF_SM=70"));
  EXPECT_THAT(c.warnings, IsEmpty());
  EXPECT_EQ(c.stage, Stage::kObjects);
  ASSERT_EQ(c.sources.size(), 1U);
  EXPECT_EQ(c.sources[0].language, Language::kCuda);
}

TEST(CommandLine, CompilerListsAreSplitAndReadAsTheHostCompilersOptions) {
  const CompilerCall c =
      nvcc({"-Xcompiler", "-Wall,-fopenmp,-march=native", "-Xcompiler=-Wl,-rpath,/x",
            "--compiler-options", "-DA=1 -Wextra", "a.cu", "-Xlinker", "-z,now"});
  EXPECT_THAT(c.options, IsSupersetOf({"-Wall", "-DA=1", "-Wextra"}));
  EXPECT_THAT(c.host_options, ElementsAre("-fopenmp", "-march=native"));
  EXPECT_THAT(c.link, ElementsAre("-Wl,-rpath,/x", "\0010", "-Xlinker", "-z", "-Xlinker", "now"));
}

TEST(CommandLine, DeviceLinking) {
  EXPECT_TRUE(nvcc({"-rdc=true", "-c", "a.cu"}).linked);
  EXPECT_FALSE(nvcc({"-rdc=true", "-rdc", "false", "-c", "a.cu"}).linked);
  EXPECT_TRUE(nvcc({"-dc", "a.cu"}).linked);
  EXPECT_EQ(nvcc({"-dc", "a.cu"}).stage, Stage::kObjects);
  EXPECT_EQ(nvcc({"-dlink", "a.o", "-o", "b.o"}).stage, Stage::kDeviceLink);
  EXPECT_TRUE(hipcc({"-fgpu-rdc", "-c", "a.hip"}).linked);
}

TEST(CommandLine, LanguagesByNameAndByOption) {
  const auto language = [](const CompilerCall& c) { return c.sources.at(0).language; };
  EXPECT_EQ(language(hipcc({"a.cpp"})), Language::kHip);
  EXPECT_EQ(language(hipcc({"a.cu"})), Language::kHip);
  EXPECT_EQ(language(hipcc({"a.c"})), Language::kC);
  EXPECT_EQ(language(hipcc({"-x", "c++", "a.hip"})), Language::kCpp);
  EXPECT_EQ(language(nvcc({"a.cpp"})), Language::kCpp);
  EXPECT_EQ(language(nvcc({"-x", "cu", "a.cpp"})), Language::kCuda);
  EXPECT_EQ(nvcc({"-x", "cu", "a.cpp", "-x", "none", "b.cc"}).sources.at(1).language,
            Language::kCpp);
}

TEST(CommandLine, CudaThatIncludesHipIsHip) {
  const ScratchDirectory scratch;
  write_file(scratch.path() / "a.cu", "#include <hip/hip_runtime.h>\n");
  write_file(scratch.path() / "b.cu", "#include <cuda_runtime.h>\n");
  EXPECT_EQ(language_of(scratch.path() / "a.cu", Dialect::kNvcc), Language::kHip);
  EXPECT_EQ(language_of(scratch.path() / "b.cu", Dialect::kNvcc), Language::kCuda);
}

TEST(CommandLine, PathsAreAbsolute) {
  const CompilerCall c = hipcc({"-I", "include", "-Iother", "-Llib", "a.hip", "-lm"});
  const std::string here = std::filesystem::current_path().string();
  EXPECT_THAT(c.options, ElementsAre("-I" + here + "/include", "-I" + here + "/other"));
  EXPECT_THAT(c.link, ElementsAre("-L" + here + "/lib", "\0010", "-lm"));
}

TEST(CommandLine, TheArchitectureOfTheModelsIsPreferred) {
  EXPECT_EQ(hipcc({"--offload-arch=gfx90a:sramecc+", "--offload-arch=gfx942,gfx950", "a.hip"}).arch,
            "gfx942");
  EXPECT_EQ(hipcc({"--amdgpu-target=gfx90a:xnack-", "a.hip"}).arch, "gfx90a");
  EXPECT_EQ(hipcc({"--offload-arch=native", "a.hip"}).arch, "");
}

TEST(CommandLine, TheRuntimesLibrariesAreReplacedAndTheVendorsRefused) {
  EXPECT_THAT(nvcc({"a.o", "-lcudart", "-lcuda", "-lm"}).link, ElementsAre("a.o", "-lm"));
  EXPECT_THAT(hipcc({"a.o", "-lamdhip64"}).link, ElementsAre("a.o"));
  EXPECT_THAT(sentence([] { nvcc({"a.o", "-lcublas"}); }), HasSubstr("-lcublas is not here"));
  EXPECT_THAT(sentence([] { nvcc({"a.o", "-lcufft"}); }), HasSubstr("-lcufft is not here"));
  EXPECT_THAT(sentence([] { hipcc({"a.o", "-lrocblas"}); }), HasSubstr("-lrocblas is not here"));
  EXPECT_EQ(sentence([] { nvcc({"-c", "a.cu", "-lcublas"}); }), "");  // nothing is linked
}

TEST(CommandLine, LibrariesByTheirFiles) {
  EXPECT_THAT(nvcc({"a.o", "/x/libcudart.so.13", "/x/libcudart_static.a", "-l:libcuda.so"}).link,
              ElementsAre("a.o"));
  EXPECT_THAT(nvcc({"a.o", "/x/libcublas_of_mine.a", "libm.so"}).link,
              ElementsAre("a.o", "/x/libcublas_of_mine.a", "libm.so"));
  EXPECT_THAT(sentence([] { nvcc({"a.o", "/x/libcublas.so"}); }),
              HasSubstr("/x/libcublas.so is not here"));
}

TEST(CommandLine, AToolkitsDirectoryIsLeftOut) {
  const ScratchDirectory scratch;
  const std::filesystem::path toolkit = scratch.path() / "toolkit", mine = scratch.path() / "mine";
  std::filesystem::create_directories(toolkit / "crt");
  std::filesystem::create_directories(mine);
  write_file(toolkit / "cuda_runtime_api.h", "");
  write_file(mine / "cuda_runtime_api.h", "");  // a project's own stand-in
  const CompilerCall c =
      nvcc({"-I" + toolkit.string(), "-isystem", toolkit.string(),
            "--include-path=" + toolkit.string(), "-Xcompiler", "-I" + toolkit.string(),
            "-I" + mine.string(), "-idirafter", toolkit.string(), "-c", "a.cu"});
  EXPECT_THAT(c.options, ElementsAre("-I" + mine.string()));
}

TEST(CommandLine, OptionFilesWithQuotes) {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "options").string();
  write_file(file, "-DA='x y' -DB=\\\"z\\\"\n\"-DC=1\" -c\n");
  const CompilerCall c = hipcc({"@" + file, "a.hip"});
  EXPECT_THAT(c.options, ElementsAre("-DA=x y", "-DB=\"z\"", "-DC=1"));
  EXPECT_EQ(c.stage, Stage::kObjects);
}

TEST(CommandLine, WhatNobodyKnowsIsLeftOutWithAWarning) {
  const CompilerCall c = hipcc({"--no-such-option=3", "-fno-strict-aliasing", "-c", "a.hip"});
  EXPECT_THAT(c.warnings,
              ElementsAre(AllOf(HasSubstr("--no-such-option=3"), HasSubstr("left out"))));
  EXPECT_THAT(c.options, ElementsAre("-fno-strict-aliasing"));
}

TEST(CommandLine, Refusals) {
  EXPECT_THAT(sentence([] { nvcc({"-ptx", "a.cu"}); }),
              HasSubstr("-ptx asks for a real GPU's code"));
  EXPECT_THAT(sentence([] { hipcc({"--genco", "a.hip"}); }), HasSubstr("--genco"));
  EXPECT_EQ(sentence([] { hipcc({}); }), "no input files");
  EXPECT_THAT(sentence([] { hipcc({"a.hip", "-o"}); }), HasSubstr("-o wants a value"));
  EXPECT_THAT(sentence([] { hipcc({"-c", "a.hip", "b.hip", "-o", "c.o"}); }),
              HasSubstr("-o names one file"));
  EXPECT_THAT(sentence([] { hipcc({"-x", "fortran", "a.f"}); }), HasSubstr("-x fortran"));
}

}  // namespace
}  // namespace swizzleperf::vgpu
