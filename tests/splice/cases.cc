// The harness behind cases.h. All cases of a test go into one program (each text in a namespace of
// its own), because starting a compiler costs more than all that it does here.
#include "cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/files.h"
#include "base/subprocess.h"

namespace swizzleperf::splice {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFunction = "test_block";

std::string helper(const std::string& function, const std::string& body) {
  return fmt::format(
      "// Which block is computed here.\n"
      "struct {0}_index {{\n  unsigned x, y, z;\n}};\n"
      "static __device__ {0}_index {0}(unsigned x, unsigned y, unsigned z, unsigned nx,\n"
      "                                unsigned ny, unsigned nz) {{\n{1}}}\n",
      function, body);
}

/// The text in a namespace: names with C linkage would collide.
std::string without_c_linkage(std::string text) {
  const std::string linkage = "extern \"C\"";
  for (std::size_t at = text.find(linkage); at != std::string::npos; at = text.find(linkage))
    text.replace(at, linkage.size(),
                 at + 11 < text.size() && text[at + 11] == '{' ? "inline namespace c" : "");
  return text;
}

constexpr const char* kHarness = R"(
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
static std::vector<float> buffer(4096);
static void run_all(const char* name, void (*run)(float*), dim3 grid, dim3 threads) {
  gridDim = grid;
  blockDim = threads;
  std::barrier<> barrier(threads.x * threads.y);
  threads_of_block = threads.x * threads.y > 1 ? &barrier : nullptr;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = dim3(x, y, z);
        std::fill(buffer.begin(), buffer.end(), 0.f);
        if (threads_of_block == nullptr) {
          threadIdx = dim3(0, 0, 0);
          run(buffer.data());
        } else {
          std::vector<std::thread> all;
          for (unsigned i = 0; i < threads.x * threads.y; ++i)
            all.emplace_back([=] {
              threadIdx = dim3(i % threads.x, i / threads.x, 0);
              run(buffer.data());
            });
          for (std::thread& thread : all) thread.join();
        }
        std::string bytes(buffer.size() * 4, ' ');
        std::memcpy(bytes.data(), buffer.data(), bytes.size());
        std::printf("%s %zu\n", name, std::hash<std::string>{}(bytes));
      }
}
)";

void compile_for_gpu(const fs::path& folder, const std::vector<Case>& cases,
                     const std::vector<std::string>& arguments) {
  const bool small = arguments == small_hip_arguments();
  std::string all = "#include <hip/hip_runtime.h>\n";
  if (!small) all += "#include <hip/hip_cooperative_groups.h>\n";
  for (const Case& one : cases)
    all += fmt::format("namespace {0} {{\n#include \"{0}_after.inc\"\n}}\n", one.name);
  write_file(folder / "all.hip", all);
  std::vector<std::string> argv = {SWIZZLEPERF_CLANG};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  for (const char* argument : {"-std=c++20", "-Werror", "-Wno-macro-redefined", "all.hip"})
    argv.emplace_back(argument);
  std::string output;
  argv.insert(argv.end(), {"--offload-device-only", "-emit-llvm", "-c", "-o", "all.bc"});
  EXPECT_TRUE(run_program(argv, folder, output)) << output;
  if (small) return;  // that header has no host half
  argv.resize(argv.size() - 5);
  argv.insert(argv.end(), {"--offload-host-only", "-fsyntax-only"});
  EXPECT_TRUE(run_program(argv, folder, output)) << output;
}

void apply_patch(const fs::path& folder, const Case& one, const SpliceResult& result) {
  const std::string file = one.name + ".hip";
  write_file(folder / "a.patch", result.patch);
  std::string output;
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"git", "apply", "a.patch"},
        std::vector<std::string>{"patch", "--binary", "-s", "-p1", "-i", "a.patch"}}) {
    write_file(folder / file, one.source);
    EXPECT_TRUE(run_program(argv, folder, output)) << one.name << ": " << output << result.patch;
    EXPECT_EQ(read_file(folder / file), result.patched) << one.name << ": " << argv[0];
  }
}

}  // namespace

std::vector<std::string> hip_arguments() {
  return {"-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-D__AMDGCN_WAVEFRONT_SIZE=64"};
}

std::vector<std::string> small_hip_arguments() {
  std::vector<std::string> arguments = hip_arguments();
  arguments.emplace_back("-nogpuinc");
  arguments.emplace_back(std::string("-I") + SWIZZLEPERF_SPLICE_DATA + "/gpu");
  return arguments;
}

std::string reversing_helper(const std::string& function) {
  return helper(function,
                "  const unsigned n = nx * ny * nz;\n"
                "  const unsigned block = x + nx * (y + ny * z);\n"
                "  const unsigned target = (n - 1 - block + n / 3) % n;\n"
                "  return {target % nx, target / nx % ny, target / nx / ny};\n");
}

Dim3 reversed(std::uint64_t block, const Dim3& grid) {
  const std::uint64_t n = grid.count();
  return unlinear((n - 1 - block + n / 3) % n, grid);
}

std::string identity_helper(const std::string& function) {
  return helper(function, "  (void)nx;\n  (void)ny;\n  (void)nz;\n  return {x, y, z};\n");
}

SpliceRequest request_for(const fs::path& folder, const std::string& name,
                          const std::string& source, const std::string& kernel,
                          const std::vector<std::string>& arguments) {
  SpliceRequest request;
  request.source = folder / (name + ".hip");
  request.compile_arguments = arguments;
  request.compile_arguments.emplace_back("-std=c++20");
  request.kernel = kernel;
  request.function = kFunction;
  request.helper_code = reversing_helper(kFunction);
  write_file(request.source, source);
  return request;
}

bool run_program(const std::vector<std::string>& argv, const fs::path& folder,
                 std::string& output) {
  ChildSpec spec;
  spec.argv = argv;
  spec.directory = folder;
  const ChildResult result = run_child(spec);
  output = result.out + result.err;
  return result.ok();
}

std::vector<BlockHashes> run_on_cpu(const fs::path& folder, const std::vector<Case>& cases,
                                    const std::vector<std::string>& patched) {
  std::string program = kHarness;
  std::string body;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    write_file(folder / (one.name + "_before.inc"), without_c_linkage(one.source));
    write_file(folder / (one.name + "_after.inc"), without_c_linkage(patched[i]));
    for (const char* side : {"before", "after"}) {
      program += fmt::format(
          "namespace {0}_{1} {{\n#include \"{0}_{1}.inc\"\nstatic void run(float* out) {{ {2}; "
          "}}\n}}\n",
          one.name, side, one.call);
      body += fmt::format(
          "run_all(\"{0}_{1}\", {0}_{1}::run, dim3({2}, {3}, {4}), dim3({5}, {6}));\n", one.name,
          side, one.grid.x, one.grid.y, one.grid.z, one.threads_x, one.threads_y);
    }
  }
  write_file(folder / "cpu.cc", program + "int main() {\n" + body + "}\n");
  std::string output;
  const std::string include = std::string("-I") + SWIZZLEPERF_SPLICE_DATA + "/cpu";
  EXPECT_TRUE(run_program(
      {SWIZZLEPERF_CLANG, "-std=c++20", "-O1", "-w", "-pthread", include, "cpu.cc", "-o", "cpu"},
      folder, output))
      << output;
  EXPECT_TRUE(run_program({(folder / "cpu").string()}, folder, output)) << output;

  std::vector<BlockHashes> hashes(cases.size());
  std::istringstream lines(output);
  std::string name;
  std::string hash;
  while (lines >> name >> hash)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (name == cases[i].name + "_before") hashes[i].before.push_back(hash);
      if (name == cases[i].name + "_after") hashes[i].after.push_back(hash);
    }
  return hashes;
}

void expect_right(const std::vector<Case>& cases, const std::vector<std::string>& arguments) {
  const ScratchDirectory scratch;
  std::vector<std::string> patched;
  for (const Case& one : cases) {
    SpliceResult result;
    ASSERT_NO_THROW(
        result = splice(request_for(scratch.path(), one.name, one.source, one.kernel, arguments)))
        << one.source;
    EXPECT_EQ(read_file(scratch.path() / (one.name + ".hip")), one.source)
        << "the source was written";
    EXPECT_FALSE(result.changed.empty());
    apply_patch(scratch.path(), one, result);
    patched.push_back(result.patched);
  }
  const std::vector<BlockHashes> hashes = run_on_cpu(scratch.path(), cases, patched);
  compile_for_gpu(scratch.path(), cases, arguments);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    ASSERT_EQ(hashes[i].before.size(), one.grid.count());
    ASSERT_EQ(hashes[i].after.size(), one.grid.count());
    const std::set<std::string> distinct(hashes[i].before.begin(), hashes[i].before.end());
    EXPECT_EQ(distinct.size(), one.grid.count()) << one.name << ": blocks cannot be told apart";
    for (std::uint64_t block = 0; block < one.grid.count(); ++block)
      EXPECT_EQ(hashes[i].after[block],
                hashes[i].before[linear(reversed(block, one.grid), one.grid)])
          << one.name << " block " << block << "\n"
          << patched[i];
  }
}

std::string read_data(const std::string& file) {
  return read_file(fs::path(SWIZZLEPERF_SPLICE_DATA) / file);
}

}  // namespace swizzleperf::splice
