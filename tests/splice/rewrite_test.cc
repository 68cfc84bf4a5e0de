// Each case is one way in which a kernel reads its block index; every one must still compute, in
// block p, what the original computes in block swizzle(p).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "cases.h"
#include "splice/splice.h"

namespace swizzleperf::splice {
namespace {

constexpr const char* kInclude = "#include <hip/hip_runtime.h>\n\n";

// The number of a block, written to its own place and to one that all blocks share.
std::vector<Case> shapes() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, const std::string& text, const std::string& kernel,
                       const std::string& call, Dim3 grid = {5, 3, 2}) {
    all.push_back({name, kInclude + text, kernel, call, grid});
  };
  add("one_dimension",
      "__global__ void k(float* out) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  out[i] = 1.f + i;\n}\n",
      "k", "k(out)", {37, 1, 1});
  add("two_dimensions",
      "__global__ void k(float* out, int pitch) {\n"
      "  int row = blockIdx.y, col = blockIdx.x;\n"
      "  out[row * pitch + col] = 1 + row + 50 * col;\n}\n",
      "k", "k(out, 32)", {9, 7, 1});
  add("three_dimensions",
      "__global__ void __launch_bounds__(64) k(float* out)\n{\n"
      "\tconst unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
      "\tout[b] = 1.f;\n\tfor (unsigned i = 0; i < blockIdx.z + 1; ++i) out[64 + b] += "
      "blockIdx.y;\n}\n",
      "k", "k(out)");
  add("two_levels",
      "static __device__ unsigned column() { return blockIdx.x; }\n"
      "// Which tile this is.\n"
      "__device__ __forceinline__ unsigned tile(unsigned n) {\n  return column() + n * "
      "blockIdx.y;\n}\n"
      "__device__ float not_reached() { return blockIdx.x; }\n"
      "__global__ void k(float* out) { out[tile(8) + 100 * hipBlockIdx_z] = 3; }\n",
      "k", "k(out)");
  add("template_kernel",
      "template <typename T>\n__device__ T scaled(T v) {\n  return v * T(blockIdx.y + 1);\n}\n\n"
      "template <typename T, int N>\n__global__ void k(T* out, T w) {\n"
      "  out[blockIdx.x + N * blockIdx.z] = scaled(w);\n"
      "  if constexpr (N == 2) out[blockIdx.y] = -1;\n}\n\n"
      "void use(float* f, double* d) {\n#ifdef __HIP__\n"
      "  k<float, 16><<<1, 1>>>(f, 1.f);\n  k<double, 2><<<1, 1>>>(d, 1.0);\n#endif\n}\n",
      "void k<float, 16>(float*, float)", "k<float, 16>(out, 2.f)");
  add("dependent_member",
      "template <class T>\nstruct Tile {\n  T scale;\n"
      "  __device__ T at(T v) const { return v + scale * blockIdx.x; }\n};\n"
      "template <class T>\n__global__ void k(T* out, T w) {\n  Tile<T> tile{w};\n"
      "  out[blockIdx.y * 8 + blockIdx.z] = tile.at(w) / (w + blockIdx.x);\n}\n",
      "k", "k<float>(out, 2.f)");
  add("namespaces",
      "namespace a {\n__device__ unsigned row() { return blockIdx.y; }\n}  // namespace a\n\n"
      "namespace {\nnamespace b {\n\n__global__ void k(float* out) {\n"
      "  out[a::row() * 8 + blockIdx.x] = 1.f + blockIdx.z;\n}\n}\n}\n",
      "(anonymous namespace)::b::k(float*)", "b::k(out)");
  add("one_namespace",
      "namespace a {\ninline namespace v1 {\n/* Doubles. */\n__global__ void k(float* out) {\n"
      "  out[blockIdx.x] = 1 + 2.f * blockIdx.y + blockIdx.z * 100;\n}\n}\n}\n",
      "a::v1::k", "a::k(out)");
  add("extern_c",
      "extern \"C\" __global__ void k(float* out) { out[blockIdx.x] = 1 + blockIdx.y + 10 * "
      "blockIdx.z; }\n",
      "k", "k(out)");
  add("extern_c_block",
      "extern \"C\" {\n__global__ void k(float* out) {\n"
      "  out[blockIdx.x] = 1 + blockIdx.y + 10 * blockIdx.z;\n}\n}\n",
      "k", "k(out)");
  add("macros",
      "#define ROW (blockIdx.y * 2)\n#define PLACE(i) \\\n  (ROW + (i) * hipBlockIdx_x)\n"
      "#define TWICE(v) ((v) + (v))\n#define WG() __builtin_amdgcn_workgroup_id_z()\n"
      "__global__ void k(float* out) {\n  out[PLACE(8)] = TWICE(blockIdx.z) + 1;\n"
      "  out[200 + WG()] = ROW;\n}\n",
      "k", "k(out)");
  add("whole_object",
      "__device__ float sum(dim3 b) { return b.x + 10 * b.y + 100 * b.z; }\n"
      "template <class B>\n__device__ float any(const B& b) { return b.x - b.y; }\n"
      "__global__ void k(float* out) {\n  dim3 b = blockIdx;\n  const auto& r = blockIdx;\n"
      "  auto& q = blockIdx;\n"
      "  out[b.x + 8 * r.y + 32 * q.z] = sum(blockIdx) + any(blockIdx) + (blockIdx).x;\n}\n",
      "k", "k(out)");
  add("lambdas",
      "__global__ void k(float* out) {\n"
      "  auto by_reference = [&](int i) { return i + blockIdx.x; };\n"
      "  auto by_value = [=] { return blockIdx.y; };\n"
      "  auto closed = [](unsigned i) { return i * blockIdx.z; };\n"
      "  auto start = [b = blockIdx.x, &out](auto i) { return b + i + [] { return blockIdx.y; }(); "
      "};\n"
      "  out[by_reference(1) + 8 * by_value()] = closed(5) + start(2) + 1;\n}\n",
      "k", "k(out)");
  add("defaults_and_members",
      "struct Place {\n  unsigned m = blockIdx.x;\n  unsigned n;\n"
      "  __device__ Place() : n(blockIdx.y) {}\n};\n"
      "struct Plain { unsigned z = blockIdx.z; };\n"
      "__device__ unsigned shifted(unsigned by, unsigned b = blockIdx.x) { return b + by; }\n"
      "__global__ void k(float* out) {\n  Place p;\n  Plain q{};\n"
      "  struct Local { unsigned a = blockIdx.y; __device__ unsigned b() { return a + blockIdx.x; "
      "} };\n"
      "  out[p.m + 8 * p.n] = q.z + shifted(3) + Local{}.b();\n}\n",
      "k", "k(out)");
  add("host_and_device",
      "__host__ __device__ inline unsigned here() {\n#ifdef __HIP_DEVICE_COMPILE__\n"
      "  return blockIdx.x;\n#else\n  return 0;\n#endif\n}\n"
      "__global__ void k(float* out) { out[here()] = 1 + blockIdx.y + 9 * blockIdx.z; }\n",
      "k", "k(out)");
  add("prefix_of_another",
      "__global__ void k2(float* out) { out[blockIdx.x] = 5; }\n"
      "__global__ void k(float* out) { out[blockIdx.x] = 1 + blockIdx.y + 10 * blockIdx.z; }\n"
      "namespace other { __global__ void kk(float* out) { out[blockIdx.x] = 5; } }\n",
      "k", "k(out)");
  add("overloads",
      "__global__ void k(float* out, int n) { out[n] = blockIdx.x; }\n"
      "__global__ void k(float* out, float w) { out[blockIdx.x] = 1 + w * blockIdx.y + 10 * "
      "blockIdx.z; }\n",
      "k(float*, float)", "k(out, 1.f)");
  add("names_taken",
      "__device__ int test_block_at = 7;\n"
      "__global__ void k(float* out) { int test_block_at2 = 3; out[blockIdx.x] = "
      "test_block_at2 + blockIdx.y + 10 * blockIdx.z; }\n",
      "k", "k(out)");
  add("conditional_compilation",
      "#ifndef NO_FAST\n__device__ unsigned fast() { return blockIdx.x; }\n#else\n"
      "__device__ unsigned fast() { return blockIdx.x + 1; }\n#endif\n\n"
      "__global__ void k(float* out) {\n#ifdef OLD\n  out[blockIdx.x] = 2;\n#else\n"
      "  out[fast()] = 1 + blockIdx.y + 10 * blockIdx.z;\n#endif\n}\n",
      "k", "k(out)");
  add("cooperative_groups",
      "#include <hip/hip_cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
      "__global__ void k(float* out) {\n  cg::thread_block block = cg::this_thread_block();\n"
      "  block.sync();\n  dim3 b = block.group_index();\n"
      "  out[b.x] = cg::this_thread_block().group_index().y + 1 + 10 * blockIdx.z;\n}\n",
      "k", "k(out)");
  add("attributes_and_comment_above",
      "int unrelated;\n\n/// Writes.\n/// Twice.\n[[maybe_unused]] __attribute__((used)) static "
      "__global__\n"
      "void k(float* out)  // trailing\n{ // opens\n  // first\n"
      "  out[blockIdx.x] = 1 + blockIdx.y + 10 * blockIdx.z;\n}\n",
      "k", "k(out)");
  add("no_instantiation_in_sight",
      "template <class T>\nstruct Tile {\n  T m;\n  __device__ Tile() : m(T(blockIdx.y)) {}\n"
      "  __device__ ~Tile() { m = blockIdx.z; }\n};\n"
      "struct Scale {\n  __device__ float operator()(float v) const { return v * (1 + blockIdx.z); "
      "}\n};\n"
      "template <class T, class F>\n__global__ void k(T* out, F f) {\n  Tile<T> tile;\n"
      "  out[blockIdx.x] = f(2.f) + 100 * tile.m;\n}\n"
      "template __global__ void k<float, Scale>(float*, Scale);\n",
      "k", "k<float, Scale>(out, {})");
  add("specialisation",
      "template <class T> __device__ T row(T v);\n"
      "template <class T> __global__ void k(T* out) { out[blockIdx.x] = row(T(1)) + 10 * "
      "blockIdx.z; }\n"
      "template <class T> __device__ T row(T v) { return v + blockIdx.y; }\n"
      "template <> __device__ inline float row<float>(float v) {\n  return v + 2 * blockIdx.y;\n}\n"
      "#ifdef __HIP__\nvoid run(float* f, int* i) {\n  k<<<1, 1>>>(f);\n  k<<<1, "
      "1>>>(i);\n}\n#endif\n",
      "k", "k<float>(out)");
  add("lambda_from_the_host",
      "template <class F>\n__global__ void apply(F f) { f(1); }\n"
      "void launch(float* out) {\n  auto f = [=] __device__(int i) {\n"
      "    out[blockIdx.x] = i + blockIdx.y + 10 * blockIdx.z;\n  };\n"
      "#ifdef __HIP__\n  apply<<<1, 1>>>(f);\n#else\n  apply(f);\n#endif\n}\n",
      "apply", "launch(out)");
  add("types_only",
      "__device__ auto low(unsigned v) -> decltype(blockIdx.x + v) { return v & 3; }\n"
      "__global__ void k(float* out) {\n  decltype(blockIdx.x + 0u) v = low(blockIdx.x);\n"
      "  static_assert(sizeof(blockIdx.x + 0u) == 4, \"unsigned\");\n"
      "  const int shifted = static_cast<int>(blockIdx.y) - 2;\n"
      "  switch (blockIdx.z) {\n    case 0: out[v] = 1 + shifted; break;\n"
      "    default: out[8 + v] = 9 + shifted + (blockIdx.x > 3u ? blockIdx.z * 20 : 0);\n  }\n"
      "  out[100 + blockIdx.x] = 1;\n}\n",
      "k", "k(out)");
  Case crlf{"crlf", "", "k", "k(out)"};
  for (const char c : std::string(kInclude) +
                          "__device__ unsigned y() {\n  return blockIdx.y;\n}\n\n"
                          "__global__ void k(float* out) {\n  out[blockIdx.x] =\n"
                          "      y() + 1 + 10 * blockIdx.z;\n}")
    crlf.source += c == '\n' ? "\r\n" : std::string(1, c);
  all.push_back(crlf);
  all.push_back({"byte_order_mark",
                 std::string("\xEF\xBB\xBF") + kInclude +
                     "/* \xC3\xA9 */ __global__ void k(float* out) {\n"
                     "  out[blockIdx.x] = 1 + blockIdx.y + 10 * blockIdx.z; }  // \xE2\x82\xAC",
                 "k", "k(out)"});
  return all;
}

/// Those whose meaning lies in the headers; the others parse the small one, for time.
bool needs_hip_headers(const Case& one) {
  const std::set<std::string> names = {
      "one_dimension",  "template_kernel",      "macros",
      "whole_object",   "types_only",           "cooperative_groups",
      "specialisation", "lambda_from_the_host", "crlf"};
  return names.contains(one.name);
}

TEST(Rewrite, EveryShapeComputesThePermutedBlocks) {
  std::vector<Case> cases = shapes();
  std::erase_if(cases, needs_hip_headers);
  expect_right(cases, small_hip_arguments());
}

TEST(Rewrite, EveryShapeOfTheHipHeadersDoes) {
  std::vector<Case> cases = shapes();
  std::erase_if(cases, [](const Case& one) { return !needs_hip_headers(one); });
  EXPECT_EQ(cases.size(), 9u);
  expect_right(cases, hip_arguments());
}

/// Ragged sizes, and inputs that differ everywhere.
std::vector<Case> larger_sources() {
  const std::string inputs =
      "static float in[3][4096]; "
      "if (threadIdx.x + threadIdx.y == 0) "
      "for (int i = 0; i < 3 * 4096; ++i) in[i / 4096][i % 4096] = float(i * 7919 % 1009) / 512.f; "
      "__syncthreads(); ";
  return {
      {"gemm",
       read_data("gemm_grouped.hip"),
       "gemm_grouped",
       inputs + "gemm_grouped<16, 16, 8, 4, 4>(in[0], in[1], out, 60, 45, 24, 3)",
       {12, 1, 1},
       4,
       4},
      {"attention",
       read_data("attention.hip"),
       "attention_forward",
       inputs + "attention_forward<true>(in[0], in[1], in[2], out, {2, 4, 2, 23, 31}, 0.3f)",
       {3, 4, 2},
       8,
       1},
      {"stencil",
       read_data("stencil_macros.hip"),
       "stencil::step",
       inputs + "stencil::step(in[0], out, 15, 9, 5, {0.4f, 0.1f})",
       {4, 5, 2},
       4,
       2},
  };
}

TEST(Rewrite, LargerSources) { expect_right(larger_sources(), hip_arguments()); }

}  // namespace
}  // namespace swizzleperf::splice
