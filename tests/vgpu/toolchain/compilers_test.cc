// The compilers in the hands of make, CMake and a shell.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "sandbox.h"

namespace swizzleperf {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kHip =
    "#include <hip/hip_runtime.h>\n"
    "__global__ void k(int* p) { *p = 1; }\n";
constexpr const char* kCudaMain = "int main() { k<<<1, 32>>>(0); }\n";

TEST(Projects, MakeWithHipcc) {
  const Sandbox box("hip");
  const ChildResult made = box.run({"make", "CXX=swizzleperf-hipcc"});
  ASSERT_TRUE(made.ok()) << said(made);
  EXPECT_EQ(box.run({"./main", "777"}).out, "PASS\n");
  for (const char* kernel : {"first", "second"}) {
    const ChildResult simulated =
        box.run({"swizzleperf", "simulate", "./main", "--kernel", kernel, "--", "100000"});
    EXPECT_TRUE(simulated.ok()) << said(simulated);
    EXPECT_THAT(simulated.out, StartsWith(fmt::format("{}(float*, int)", kernel)));
  }
  // The dependency files are there and right: a header's change compiles what includes it.
  EXPECT_THAT(box.read("first.d"), AllOf(HasSubstr("first.o:"), HasSubstr(" kernels.h")));
  EXPECT_THAT(box.run({"make", "CXX=swizzleperf-hipcc"}).out, HasSubstr("up to date"));
  ASSERT_TRUE(box.shell("sleep 0.01; touch kernels.h").ok());
  EXPECT_THAT(box.run({"make", "-n", "CXX=swizzleperf-hipcc"}).out, HasSubstr("-c first.hip"));
}

TEST(Projects, CMakeWithHipcc) {
  const Sandbox box("hip");
  const ChildResult configured =
      box.run({"cmake", "-S", ".", "-B", "b", "-DCMAKE_CXX_COMPILER=swizzleperf-hipcc"});
  ASSERT_TRUE(configured.ok()) << said(configured);
  EXPECT_THAT(configured.out, HasSubstr("identification is Clang"));
  const ChildResult built = box.run({"cmake", "--build", "b"});
  ASSERT_TRUE(built.ok()) << said(built);
  EXPECT_EQ(box.run({"./b/main"}).out, "PASS\n");
}

/// CMake's own CUDA language; it links with the host's compiler, since a file is C++.
TEST(Projects, CMakesCudaLanguage) {
  const Sandbox box("cmake_cuda");
  const auto ours = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const ChildResult configured =
      box.run({"cmake", "-S", ".", "-B", "b",
               "-DCMAKE_CUDA_COMPILER=" + (ours / "swizzleperf-nvcc").string()});
  ASSERT_TRUE(configured.ok()) << said(configured);
  EXPECT_THAT(configured.out, HasSubstr("CUDA compiler identification is NVIDIA 12.4"));
  const ChildResult built = box.run({"cmake", "--build", "b"});
  ASSERT_TRUE(built.ok()) << said(built);
  const ChildResult ran = box.run({"swizzleperf", "trace", "./b/main", "--run-to-end"});
  EXPECT_TRUE(ran.ok()) << said(ran);
  EXPECT_THAT(ran.out, StartsWith("PASS"));
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "./b/main", "-m", "h200"}).out,
              StartsWith("compute(int*)"));
}

TEST(Projects, MakeWithNvccsOptions) {
  const Sandbox box("cuda");
  const ChildResult made = box.run({"make", "CC=swizzleperf-nvcc"});
  ASSERT_TRUE(made.ok()) << said(made);
  EXPECT_THAT(box.run({"./main", "100", "70", "50"}).out, HasSubstr("PASS"));
  const ChildResult simulated =
      box.run({"swizzleperf", "simulate", "./main", "-m", "h200", "--", "256", "256", "64"});
  EXPECT_TRUE(simulated.ok()) << said(simulated);
  EXPECT_THAT(simulated.out, AllOf(StartsWith("multiply("), HasSubstr("H200")));
}

/// The patch names the right file of the project, applies there, and what it makes builds and
/// passes; nothing but the build has changed the tree.
TEST(Projects, OptimizeBuildsAndPatches) {
  const Sandbox box("slabs");
  const std::string before = box.read("src/slabs.cu");
  const ChildResult optimized =
      box.run({"swizzleperf", "optimize", "-q", "--build", "make", "--run-dir", "run", "./slabs"});
  ASSERT_TRUE(optimized.ok()) << said(optimized);
  EXPECT_EQ(box.read("src/slabs.cu"), before);
  ASSERT_TRUE(box.has("run/best.patch")) << optimized.out;
  EXPECT_THAT(box.read("run/best.patch"), StartsWith("--- a/src/slabs.cu\n"));
  const ChildResult applied = box.run({"git", "apply", "run/best.patch"});
  ASSERT_TRUE(applied.ok()) << said(applied);
  EXPECT_NE(box.read("src/slabs.cu"), before);
  const ChildResult made = box.run({"make", "NVCC=swizzleperf-nvcc"});
  ASSERT_TRUE(made.ok()) << said(made);
  EXPECT_EQ(box.run({"./slabs"}).out, "PASS\n");
}

/// A template's kernel is weak, and so is the patched one that takes its place.
TEST(Projects, ATemplateUnderDeviceLinkingIsPatched) {
  const Sandbox box("slabs");
  std::string source = box.read("src/slabs.cu");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = source.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    source.replace(at, from.size(), to);
  };
  replace("__global__ void sum_slab(", "template <int kStep>\n__global__ void sum_slab(");
  replace("i += blockDim.x)", "i += kStep * blockDim.x)");
  replace("sum_slab<<<", "sum_slab<1><<<");
  box.write("src/slabs.cu", source);
  const ChildResult optimized =
      box.run({"swizzleperf", "optimize", "-q", "--build", "make NVCC='nvcc -rdc=true'",
               "--run-dir", "run", "./slabs"});
  ASSERT_TRUE(optimized.ok()) << said(optimized);
  EXPECT_TRUE(box.has("run/best.patch")) << optimized.out;
}

TEST(Projects, ABuildThatFailsIsShown) {
  const Sandbox box;
  const ChildResult result =
      box.run({"swizzleperf", "simulate", "--build", "echo no rule >&2; exit 3", "./program"});
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("no rule"), HasSubstr("failed with exit status 3")));
}

TEST(Compilers, NameOutputsAsCompilersDo) {
  const Sandbox box;
  box.write("a.hip", kHip);
  box.write("b.cu", std::string("__global__ void k(int* p) {}\n") + kCudaMain);
  box.write("c.c", "int c(void) { return 1; }\n");
  EXPECT_TRUE(box.run({"swizzleperf-hipcc", "-c", "a.hip", "c.c"}).ok());
  EXPECT_TRUE(box.has("a.o") && box.has("c.o"));
  EXPECT_TRUE(
      box.run({"swizzleperf-nvcc", "-std=c++17", "-c", "b.cu", "c.c", "-Werror", "all-warnings"})
          .ok());
  EXPECT_TRUE(box.has("b.o"));
  EXPECT_TRUE(box.run({"swizzleperf-nvcc", "b.o", "c.o"}).ok());
  EXPECT_TRUE(box.run({"./a.out"}).ok());
}

TEST(Compilers, DependencyFiles) {
  const Sandbox box;
  box.write("a.cu", "#include \"h.h\"\n__global__ void k(int* p) {}\n");
  box.write("h.h", "#pragma once\n");
  EXPECT_TRUE(box.run({"swizzleperf-nvcc", "-MMD", "-MF", "deps", "-MT", "target", "-c", "a.cu",
                       "-o", "x.o"})
                  .ok());
  EXPECT_THAT(box.read("deps"), AllOf(StartsWith("target:"), HasSubstr(" h.h"), HasSubstr("a.cu")));
  EXPECT_TRUE(box.run({"swizzleperf-nvcc", "-MD", "-c", "a.cu", "-o", "y.o"}).ok());
  EXPECT_THAT(box.read("y.d"), AllOf(StartsWith("y.o:"), HasSubstr("hip_runtime_api.h")));
  const ChildResult only = box.run({"swizzleperf-nvcc", "-MM", "a.cu"});
  EXPECT_THAT(only.out, AllOf(StartsWith("a.o:"), HasSubstr("h.h")));
  EXPECT_FALSE(box.has("a.o"));
}

TEST(Compilers, ErrorsAreTheCompilersOwn) {
  const Sandbox box;
  box.write("a.hip", std::string(kHip) + "int main() { return oops; }\n");
  const ChildResult result = box.run({"swizzleperf-hipcc", "a.hip", "-o", "a"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("a.hip:3:21: error: use of undeclared identifier 'oops'"),
                                HasSubstr("1 error generated")));
  EXPECT_FALSE(box.has("a"));
}

TEST(Compilers, SharedLibrariesCarryTheirKernels) {
  const Sandbox box;
  box.write(
      "lib.cu",
      "__global__ void k(int* p) { p[threadIdx.x] = threadIdx.x; }\n"
      "int run() { int* p; cudaMalloc(&p, 128); k<<<1, 32>>>(p);\n"
      "  int back[32]; cudaMemcpy(back, p, 128, cudaMemcpyDeviceToHost); return back[31]; }\n");
  box.write("main.cpp", "int run(); int main() { return run() == 31 ? 0 : 1; }\n");
  const ChildResult library =
      box.run({"swizzleperf-nvcc", "-shared", "-Xcompiler", "-fPIC", "lib.cu", "-o", "libk.so"});
  EXPECT_TRUE(library.ok()) << said(library);
  const ChildResult linked =
      box.run({"swizzleperf-nvcc", "main.cpp", "-L.", "-lk", "-Xlinker", "-rpath=.", "-o", "main"});
  EXPECT_TRUE(linked.ok()) << said(linked);
  EXPECT_EQ(box.run({"./main"}).exit_status, 0);
}

TEST(Compilers, DeviceLinkAndLibraryStagesOfNvcc) {
  const Sandbox box;
  box.write("f.cu", "__device__ int f(int x) { return x + 1; }\n");
  box.write("k.cu",
            "#include <cstdio>\n"
            "extern __device__ int f(int);\n__global__ void k() { if (f(1) != 2) __trap(); }\n"
            "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n");
  EXPECT_TRUE(box.run({"swizzleperf-nvcc", "-dc", "f.cu", "k.cu"}).ok());
  EXPECT_TRUE(box.run({"swizzleperf-nvcc", "-dlink", "f.o", "k.o", "-o", "device.o"}).ok());
  const ChildResult archive = box.run({"swizzleperf-nvcc", "-lib", "f.o", "-o", "libf.a"});
  EXPECT_TRUE(archive.ok()) << said(archive);
  const ChildResult linked =
      box.run({"swizzleperf-nvcc", "k.o", "device.o", "-L.", "-lf", "-o", "main"});
  EXPECT_TRUE(linked.ok()) << said(linked);
  EXPECT_EQ(box.run({"./main"}).exit_status, 0);
}

TEST(Compilers, SayWhoTheyAre) {
  const Sandbox box;
  EXPECT_THAT(box.run({"swizzleperf-nvcc", "--version"}).out, HasSubstr("release 12.4, V12.4"));
  EXPECT_THAT(box.run({"swizzleperf-hipcc", "--version"}).out,
              AllOf(HasSubstr("HIP version: 5.2"), HasSubstr("clang version")));
  box.write("a.hip", kHip);
  const ChildResult dry = box.run({"swizzleperf-hipcc", "-###", "-c", "a.hip"});
  EXPECT_THAT(dry.err, AllOf(HasSubstr("--offload-device-only"), HasSubstr("--offload-host-only")));
  EXPECT_FALSE(box.has("a.o"));
  box.write("b.c", "#define A 1\nint b = A;\n");
  EXPECT_THAT(box.run({"swizzleperf-hipcc", "-E", "b.c"}).out, HasSubstr("int b = 1;"));
}

TEST(Refusals, TexturesByNameAndLine) {
  const Sandbox box;
  box.write("a.cu",
            "__global__ void k(cudaTextureObject_t t, float* p) {\n"
            "  p[0] = tex2D<float>(t, 0.5f, 0.5f);\n}\n"
            "int main() { k<<<1, 1>>>(0, 0); }\n");
  const ChildResult result = box.run({"swizzleperf-nvcc", "a.cu"});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("a.cu:2:10: error: 'tex2D<"),
                                HasSubstr("textures are not supported by the virtual GPU")));
}

TEST(Refusals, AssemblyByNameAndLine) {
  const Sandbox box;
  box.write("a.cu",
            "__global__ void k(float* p) {\n"
            "  float x;\n"
            "  asm(\"mov.f32 %0, 0f00000000;\" : \"=f\"(x));\n"
            "  *p = x;\n}\n"
            "int main() { k<<<1, 1>>>(0); }\n");
  EXPECT_THAT(box.run({"swizzleperf-nvcc", "a.cu"}).err,
              HasSubstr("a.cu:3: inline PTX assembly is not supported by the virtual GPU"));
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "a.cu"}).err,
              HasSubstr("a.cu:3: inline PTX assembly is not supported by the virtual GPU"));
  // With operands that any target takes it compiles, and the kernel is refused when it is wanted.
  box.write("b.cu",
            "__global__ void k(unsigned* p) {\n"
            "  unsigned x;\n"
            "  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));\n"
            "  p[x] = x;\n}\n"
            "int main() { unsigned* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); }\n");
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "b.cu"}).err,
              AllOf(HasSubstr("b.cu:3"), HasSubstr("inline assembly \"mov.u32 $0, %laneid;\"")));
}

TEST(Refusals, LibrariesByName) {
  const Sandbox box;
  box.write("a.cu", std::string("__global__ void k(int* p) {}\n") + kCudaMain);
  const ChildResult result = box.run({"swizzleperf-nvcc", "a.cu", "-lcublas", "-o", "a"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.err, HasSubstr("swizzleperf-nvcc: error: -lcublas is not here"));
  box.write("b.hip", "#include <hip/hip_runtime.h>\n#include <rocprim/rocprim.hpp>\n");
  const char* const sentence =
      "b.hip:2: <rocprim/rocprim.hpp> belongs to rocPRIM, which is not here";
  EXPECT_THAT(box.run({"swizzleperf-hipcc", "-c", "b.hip"}).err, HasSubstr(sentence));
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "b.hip"}).err,
              AllOf(HasSubstr(sentence), HasSubstr("<hipcub/hipcub.hpp>")));
}

/// A toolkit among the system's own headers: ours come first, and what ours lack is not mistaken
/// for ours.
TEST(Toolkits, AmongTheSystemsHeaders) {
  const Sandbox box;
  ASSERT_TRUE(box.shell("mkdir -p toolkit/crt toolkit/lib").ok());
  for (const char* name :
       {"cuda_runtime.h", "cuda_runtime_api.h", "vector_types.h", "cuda_fp16.h"}) {
    box.write(std::string("toolkit/") + name, "struct char1 { int other; };\n");
  }
  box.write("toolkit/cublas_v2.h", "#include \"vector_types.h\"\n");
  box.write("a.cu", std::string("#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n"
                                "__global__ void k(int* p) {}\n") +
                        kCudaMain);
  const std::string with = "CPATH=$PWD/toolkit swizzleperf-nvcc ";
  const ChildResult made =
      box.shell(with + "-Itoolkit -isystem toolkit -Ltoolkit/lib -lcudart a.cu -o a && ./a");
  EXPECT_TRUE(made.ok()) << said(made);
  box.write("b.cu", "\n#include <cublas_v2.h>\nint main() {}\n");
  EXPECT_THAT(box.shell(with + "b.cu").err,
              HasSubstr("b.cu:2: <cublas_v2.h> belongs to cuBLAS, which is not here"));
  EXPECT_THAT(box.shell(with + "-Itoolkit b.cu").err,
              HasSubstr("b.cu:2: <cublas_v2.h> belongs to cuBLAS, which is not here"));
}

/// A CUDA program hears of its device what CUDA's runtime says, in CUDA's words.
TEST(Words, OfCudaForCudaPrograms) {
  const Sandbox box;
  box.write("a.cu",
            "#include <cstdio>\n"
            "__global__ void k(int* p) {\n  p[threadIdx.x + 64 * blockIdx.x] = 1;\n}\n"
            "int main(int argc, char**) {\n"
            "  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);\n"
            "  int most = 0, usual = 0;\n"
            "  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);\n"
            "  cudaDeviceGetAttribute(&usual, cudaDevAttrMaxSharedMemoryPerBlock, 0);\n"
            "  fprintf(stderr, \"%zu %zu %zu %d %d\", p.sharedMemPerBlock,\n"
            "          p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, usual, most);\n"
            "  int* q; cudaMalloc(&q, 512); k<<<argc, 64, 227 << 10>>>(q);\n"
            "  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;\n}\n");
  ASSERT_TRUE(box.run({"swizzleperf-nvcc", "a.cu", "-o", "a"}).ok());
  const ChildResult ran = box.run({"swizzleperf", "trace", "./a", "-m", "h200", "--run-to-end"});
  EXPECT_TRUE(ran.ok()) << said(ran);
  EXPECT_THAT(said(ran), HasSubstr("49152 232448 233472 49152 232448"));
  const ChildResult outside =
      box.run({"swizzleperf", "trace", "./a", "-m", "h200", "--run-to-end", "--", "x", "y"});
  EXPECT_THAT(outside.err, HasSubstr("0 bytes past the end of cudaMalloc #1 (512 bytes)"));
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "./a", "-m", "h200"}).out,
              HasSubstr("1 an SM (limited by shared memory)"));
  EXPECT_THAT(box.run({"swizzleperf", "trace", "./a", "-m", "h200"}).out,
              Not(AnyOf(HasSubstr("gfx942"), HasSubstr("LDS"), HasSubstr("hipMalloc"))));
}

/// What HIP 5.2 lacks is ours, unless the program brings its own.
TEST(Toolkits, AProgramsOwnHeadersComeFirst) {
  const Sandbox box;
  ASSERT_TRUE(box.shell("mkdir -p mine/hip").ok());
  box.write("mine/hip/hip_bf16.h", "#define MINE 1\n");
  box.write("a.hip", "#include <hip/hip_bf16.h>\n#ifndef MINE\n#error ours\n#endif\n");
  EXPECT_TRUE(box.run({"swizzleperf-hipcc", "-Imine", "-c", "a.hip"}).ok());
  EXPECT_THAT(box.run({"swizzleperf-hipcc", "-c", "a.hip"}).err, HasSubstr("error: ours"));
}

TEST(Toolkits, ObjectsOfOtherCompilersAreNamed) {
  const Sandbox box;
  box.write("a.cu", std::string("__global__ void k(int* p) {}\n") + kCudaMain);
  box.write("b.c", "int cudaMalloc(void**, long); int f(void) { return cudaMalloc(0, 0); }\n");
  ASSERT_TRUE(box.shell("clang-22 -c b.c").ok());
  EXPECT_THAT(box.run({"swizzleperf-nvcc", "a.cu", "b.o"}).err,
              HasSubstr("cudaMalloc is called by an object of another compiler"));
}

/// CUB's collectives are here, its algorithms for the whole device are not.
TEST(Refusals, DeviceWideAlgorithmsByNameAndLine) {
  const Sandbox box;
  const std::string use =
      "::DeviceReduce::Sum(nullptr, bytes, (int*)nullptr, (int*)nullptr, 1);\n}\n";
  box.write("a.cu",
            "#include <cub/device/device_reduce.cuh>\nint main() {\n  size_t bytes;\n  cub" + use);
  EXPECT_THAT(
      box.run({"swizzleperf-nvcc", "a.cu"}).err,
      AllOf(HasSubstr("a.cu:4:20: error: 'DeviceReduce' is unavailable: not supported by the "
                      "virtual GPU"),
            HasSubstr("reductions, scans, BlockLoad")));
  box.write("b.hip", "#include <hipcub/hipcub.hpp>\nint main() {\n  size_t bytes;\n  hipcub" + use);
  EXPECT_THAT(box.run({"swizzleperf", "simulate", "b.hip"}).err,
              HasSubstr("b.hip:4:23: 'DeviceReduce' is unavailable: not supported"));
  box.write("c.cu",
            "#include <cub/cub.cuh>\n__global__ void k(int* p) {\n"
            "  cub::BlockMergeSort<int, 64, 1>* sort;\n}\nint main() {}\n");
  EXPECT_THAT(box.run({"swizzleperf-nvcc", "c.cu"}).err,
              HasSubstr("c.cu:3:8: error: 'BlockMergeSort"));
}

}  // namespace
}  // namespace swizzleperf
