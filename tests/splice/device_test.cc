// What the device compilers make of a patched text.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "cases.h"
#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {
namespace fs = std::filesystem;

/// The instructions of every function, registers and all, without labels, directives and comments.
std::string instructions(const fs::path& folder, const std::string& source) {
  write_file(folder / "d.hip", source);
  std::vector<std::string> argv = {SWIZZLEPERF_CLANG};
  for (const std::string& argument : hip_arguments()) argv.push_back(argument);
  argv.insert(argv.end(),
              {"-std=c++20", "-O3", "--offload-device-only", "-S", "d.hip", "-o", "d.s"});
  std::string output;
  EXPECT_TRUE(run_program(argv, folder, output)) << output;
  std::string code;
  std::istringstream lines(read_file(folder / "d.s"));
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find(';'));
    if (line.starts_with("\t") && !line.starts_with("\t.")) code += line + "\n";
  }
  return code;
}

/// The device library's words for indices and sizes, given their meaning so that they are
/// optimised.
std::string device_library() {
  const auto function = [](const std::string& name, const std::string& of) {
    return fmt::format(
        "extern \"C\" __device__ inline __attribute__((const)) size_t __ockl_get_{0}(uint i) {{\n"
        "  return i == 0 ? {1} : i == 1 ? {2} : {3};\n}}\n",
        name, fmt::format(fmt::runtime(of), 'x'), fmt::format(fmt::runtime(of), 'y'),
        fmt::format(fmt::runtime(of), 'z'));
  };
  return "#include <hip/hip_runtime.h>\n" +
         function("group_id", "__builtin_amdgcn_workgroup_id_{}()") +
         function("local_id", "__builtin_amdgcn_workitem_id_{}()") +
         function("local_size", "__builtin_amdgcn_workgroup_size_{}()") +
         function("num_groups",
                  "__builtin_amdgcn_grid_size_{0}() / __builtin_amdgcn_workgroup_size_{0}()");
}

TEST(Device, TheIdentityCompilesToTheSameInstructions) {
  const ScratchDirectory scratch;
  const std::pair<const char*, const char*> sources[] = {{"gemm_grouped.hip", "gemm_grouped"},
                                                         {"attention.hip", "attention_forward"}};
  for (const auto& [file, kernel] : sources) {
    const std::string source = read_data(file);
    SpliceRequest request = request_for(scratch.path(), "a", source, kernel, hip_arguments());
    request.helper_code = identity_helper(request.function);
    const std::string before = instructions(scratch.path(), device_library() + source);
    const std::string same =
        instructions(scratch.path(), device_library() + splice(request).patched);
    EXPECT_GT(before.size(), 1000u);
    EXPECT_TRUE(before == same) << file;
    request.helper_code = reversing_helper(request.function);
    EXPECT_NE(before, instructions(scratch.path(), device_library() + splice(request).patched))
        << file;
  }
}

constexpr const char* kCuda =
    "namespace n {\n"
    "__device__ unsigned row(dim3 b) { return b.y; }\n"
    "template <class T>\n__global__ void k(T* out, unsigned pitch) {\n"
    "  const uint3 b = blockIdx;\n  const auto& r = blockIdx;\n"
    "  auto f = [](unsigned i) { return i + blockIdx.z; };\n"
    "  out[row(blockIdx) * pitch + blockIdx.x * blockDim.x + threadIdx.x] = b.x + r.y + f(2);\n}\n"
    "}  // namespace n\n"
    "void run(float* out) { n::k<<<dim3(4, 3, 2), 32>>>(out, 128u); }\n";

/// The folder of the CUDA toolkit's nvcc, if there is one.
fs::path cuda_toolkit() {
  const auto nvcc = find_program("nvcc");
  return nvcc ? fs::canonical(*nvcc).parent_path().parent_path() : fs::path();
}

TEST(Device, CudaSourcesCompileWithClangAndNvcc) {
  const fs::path toolkit = cuda_toolkit();
  if (toolkit.empty()) GTEST_SKIP() << "no CUDA toolkit";
  const ScratchDirectory scratch;
  SpliceRequest request;
  request.source = scratch.path() / "a.cu";
  request.compile_arguments = {"-x", "cuda", "--cuda-gpu-arch=sm_90",
                               "--cuda-path=" + toolkit.string()};
  request.kernel = "n::k";
  request.function = "block_of";
  request.helper_code = reversing_helper("block_of");
  write_file(request.source, kCuda);
  const SpliceResult result = splice(request);
  EXPECT_EQ(result.changed.size(), 5u);
  write_file(request.source, result.patched);
  std::string output;
  std::vector<std::string> clang = {SWIZZLEPERF_CLANG};
  clang.insert(clang.end(), request.compile_arguments.begin(), request.compile_arguments.end());
  clang.insert(clang.end(), {"-fsyntax-only", "-Wno-unknown-cuda-version", "a.cu"});
  EXPECT_TRUE(run_program(clang, scratch.path(), output)) << output << result.patched;
  EXPECT_TRUE(run_program({(toolkit / "bin" / "nvcc").string(), "-arch=sm_90", "-std=c++17",
                           "-cubin", "a.cu", "-o", "a.cubin"},
                          scratch.path(), output))
      << output << result.patched;
}

TEST(Device, CudaAssemblyThatReadsTheBlockIndexIsRefused) {
  const fs::path toolkit = cuda_toolkit();
  if (toolkit.empty()) GTEST_SKIP() << "no CUDA toolkit";
  const ScratchDirectory scratch;
  SpliceRequest request;
  request.source = scratch.path() / "a.cu";
  request.compile_arguments = {"-x", "cuda", "--cuda-gpu-arch=sm_90",
                               "--cuda-path=" + toolkit.string()};
  request.kernel = "k";
  request.function = "block_of";
  request.helper_code = reversing_helper("block_of");
  const std::string body =
      "__global__ void k(unsigned* a) {{\n  unsigned b;\n"
      "  asm(\"mov.u32 %0, %%{};\" : \"=r\"(b));\n  a[b] = blockIdx.x;\n}}\n";
  write_file(request.source, fmt::format(fmt::runtime(body), "nctaid.x"));
  EXPECT_NO_THROW(splice(request));
  write_file(request.source, fmt::format(fmt::runtime(body), "ctaid.x"));
  EXPECT_THROW(splice(request), Error);
}

}  // namespace
}  // namespace swizzleperf::splice
