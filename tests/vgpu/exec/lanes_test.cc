// Operations across lanes, and matrix instructions against a naive product.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "harness.h"

namespace swizzleperf::vgpu::test {
namespace {

TEST(Lanes, ShufflesVotesAndBallots) {
  Device device(R"(
__global__ void lanes(const int* x, int* o, unsigned long* m, double* d) {
  int t = threadIdx.x, v = x[t];
  o[t * 10 + 0] = __shfl(v, 5); o[t * 10 + 1] = __shfl_up(v, 3); o[t * 10 + 2] = __shfl_down(v, 9);
  o[t * 10 + 3] = __shfl_xor(v, 12, 16); o[t * 10 + 4] = __any(v > 90); o[t * 10 + 5] = __all(v > -101);
  o[t * 10 + 6] = __lane_id();
  o[t * 10 + 7] = __builtin_amdgcn_readfirstlane(v); o[t * 10 + 8] = __builtin_amdgcn_readlane(v, 17);
  m[t * 2] = __ballot(v > 0);
  d[t] = __shfl(v * 0.5, (t + 1) & 63);
  if (v > 10) { m[t * 2 + 1] = __ballot(v < 50); o[t * 10 + 9] = __builtin_amdgcn_readfirstlane(v); }
})");
  std::mt19937 engine(1);
  std::vector<int> x(128);
  for (int& v : x) v = static_cast<int>(engine() % 200) - 100;
  int* o = device.buffer(std::vector<int>(1280, -7));
  auto* m = device.buffer(std::vector<std::uint64_t>(256));
  auto* d = device.buffer(std::vector<double>(128));
  device.launch("lanes", {1}, {128}, 0, device.buffer(x), o, m, d);
  for (int t = 0; t < 128; ++t) {
    const int wave = t / 64 * 64;
    const int l = t % 64;
    const auto at = [&](int lane) { return x[static_cast<std::size_t>(wave + lane)]; };
    std::uint64_t positive = 0;
    std::uint64_t middle = 0;
    bool any = false;
    int first = -1;
    for (int k = 0; k < 64; ++k) {
      positive |= static_cast<std::uint64_t>(at(k) > 0) << k;
      middle |= static_cast<std::uint64_t>(at(k) > 10 && at(k) < 50) << k;
      any |= at(k) > 90;
      if (first < 0 && at(k) > 10) first = k;
    }
    EXPECT_EQ(o[t * 10 + 0], at(5));
    EXPECT_EQ(o[t * 10 + 1], l >= 3 ? at(l - 3) : at(l));
    EXPECT_EQ(o[t * 10 + 2], l + 9 < 64 ? at(l + 9) : at(l));
    EXPECT_EQ(o[t * 10 + 3], at(l ^ 12));
    EXPECT_EQ(o[t * 10 + 4], any);
    EXPECT_EQ(o[t * 10 + 5], 1);
    EXPECT_EQ(o[t * 10 + 6], l);
    EXPECT_EQ(o[t * 10 + 7], at(0));
    EXPECT_EQ(o[t * 10 + 8], at(17));
    EXPECT_EQ(m[t * 2], positive);
    EXPECT_EQ(d[t], at((l + 1) & 63) * 0.5);
    EXPECT_EQ(o[t * 10 + 9], at(l) > 10 ? at(first) : -7);
    EXPECT_EQ(m[t * 2 + 1], at(l) > 10 ? middle : 0);
  }
}

TEST(Lanes, DppAndSwizzle) {
  Device device(R"(
__global__ void dpp(const int* x, int* o) {
  int t = threadIdx.x, v = x[t];
  o[t * 6 + 0] = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, false);   // row_shr:1
  o[t * 6 + 1] = __builtin_amdgcn_update_dpp(-1, v, 0x103, 0xf, 0xf, true);    // row_shl:3
  o[t * 6 + 2] = __builtin_amdgcn_mov_dpp(v, 0x4e, 0xf, 0xf, true);            // quad_perm 2,3,0,1
  o[t * 6 + 3] = __builtin_amdgcn_update_dpp(-2, v, 0x142, 0xa, 0xf, false);   // row_bcast:15
  o[t * 6 + 4] = __builtin_amdgcn_ds_swizzle(v, 0x041f);                       // xor 1
  o[t * 6 + 5] = __builtin_amdgcn_update_dpp(-3, v, 0x140, 0xf, 0x5, false);   // row_mirror
})");
  std::vector<int> x(64);
  for (int i = 0; i < 64; ++i) x[i] = 100 + i;
  int* o = device.buffer(std::vector<int>(64 * 6));
  device.launch("dpp", {1}, {64}, 0, device.buffer(x), o);
  for (int t = 0; t < 64; ++t) {
    const int row = t / 16 * 16;
    const int in = t % 16;
    EXPECT_EQ(o[t * 6 + 0], in >= 1 ? x[t - 1] : -1);
    EXPECT_EQ(o[t * 6 + 1], in + 3 < 16 ? x[t + 3] : 0);
    EXPECT_EQ(o[t * 6 + 2], x[t ^ 2]);
    EXPECT_EQ(o[t * 6 + 3], row / 16 % 2 == 1 ? x[row - 1] : -2);
    EXPECT_EQ(o[t * 6 + 4], x[t ^ 1]);
    EXPECT_EQ(o[t * 6 + 5], in / 4 % 2 == 0 ? x[row + 15 - in] : -3);
  }
}

/// One matrix instruction: a kernel in which each lane loads its elements of A, B and C by the
/// documented layout and stores its elements of D.
struct Case {
  const char* builtin;
  const char* arch;
  const char* element;  // of A and B in memory
  const char* operand;  // type of the operand
  const char* result;   // element of C and D
  int m, n, k, blocks, per_lane;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.builtin; }

class Matrix : public ::testing::TestWithParam<Case> {};

// A is blocks x M x K, B is blocks x K x N, C and D are blocks x M x N, row by row.
TEST_P(Matrix, EqualsTheNaiveProduct) {
  const Case& c = GetParam();
  const int outputs = c.m * c.n * c.blocks / 64;
  const bool f64 = std::string(c.result) == "double";
  const std::string source = fmt::format(
      R"(
typedef {element} E;
typedef {result} R;
typedef R V __attribute__((ext_vector_type({outputs})));
typedef {operand} O;
__global__ void product(const E* a, const E* b, const R* c, R* d) {{
  const int M = {m}, N = {n}, K = {k}, B = {blocks}, P = {per_lane}, L = threadIdx.x;
  const int row = L % M, group = L / M;
  E ea[P], eb[P];
  for (int p = 0; p < P; ++p) {{
    int block = B > 1 ? group : 0, k = B > 1 ? p : group * P + p;
    ea[p] = a[(block * M + row) * K + k];
    eb[p] = b[(block * K + k) * N + row];
  }}
  O oa, ob;
  __builtin_memcpy(&oa, ea, sizeof oa);
  __builtin_memcpy(&ob, eb, sizeof ob);
  V acc;
  int where[{outputs}];
  for (int e = 0; e < {outputs}; ++e) {{
    int block, r, col;
    if ({f64}) {{ block = 0; r = 4 * e + L / 16; col = L % 16; }}
    else if (M == 4) {{ block = L / 4; r = e; col = L % 4; }}
    else {{
      int per = M * N / 64;
      block = e / per; int q = e % per;
      r = q / 4 * (256 / N) + L / N * 4 + q % 4; col = L % N;
    }}
    where[e] = (block * M + r) * N + col;
    acc[e] = c[where[e]];
  }}
  acc = __builtin_amdgcn_mfma_{builtin}(oa, ob, acc, 0, 0, 0);
  for (int e = 0; e < {outputs}; ++e) d[where[e]] = acc[e];
}})",
      fmt::arg("element", c.element), fmt::arg("result", c.result), fmt::arg("outputs", outputs),
      fmt::arg("operand", c.operand), fmt::arg("m", c.m), fmt::arg("n", c.n), fmt::arg("k", c.k),
      fmt::arg("blocks", c.blocks), fmt::arg("per_lane", c.per_lane), fmt::arg("f64", f64 ? 1 : 0),
      fmt::arg("builtin", c.builtin));
  Device device(source, c.arch);
  std::mt19937 engine(3);
  // Small integers: every product and sum is exact, whatever the order.
  const auto numbers = [&](int n) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (double& x : v) x = static_cast<double>(engine() % 17) - 8;
    return v;
  };
  const auto a = numbers(c.blocks * c.m * c.k);
  const auto b = numbers(c.blocks * c.k * c.n);
  const auto in = numbers(c.blocks * c.m * c.n);
  const std::string element = c.element;
  const auto upload = [&](const std::vector<double>& v, const std::string& type) -> void* {
    const auto as = [&](auto zero) -> void* {
      using T = decltype(zero);
      std::vector<T> t;
      for (const double x : v) t.push_back(static_cast<T>(x));
      return device.buffer(t);
    };
    if (type == "_Float16") return as(_Float16{});
    if (type == "__bf16") {
      std::vector<std::uint16_t> t;
      for (const double x : v) {
        const auto f = static_cast<float>(x);
        std::uint32_t u;
        std::memcpy(&u, &f, 4);
        t.push_back(static_cast<std::uint16_t>(u >> 16));
      }
      return device.buffer(t);
    }
    if (type == "float") return as(0.0F);
    if (type == "double") return as(0.0);
    if (type == "int") return as(0);
    return as(std::int8_t{});
  };
  void* d = upload(std::vector<double>(in.size()), c.result);
  device.launch("product", {1}, {64}, 0, upload(a, element), upload(b, element),
                upload(in, c.result), d);
  for (int block = 0; block < c.blocks; ++block)
    for (int row = 0; row < c.m; ++row)
      for (int col = 0; col < c.n; ++col) {
        const auto at = static_cast<std::size_t>((block * c.m + row) * c.n + col);
        double sum = in[at];
        for (int k = 0; k < c.k; ++k)
          sum += a[static_cast<std::size_t>((block * c.m + row) * c.k + k)] *
                 b[static_cast<std::size_t>((block * c.k + k) * c.n + col)];
        const double got = std::string(c.result) == "int" ? static_cast<int*>(d)[at]
                           : f64                          ? static_cast<double*>(d)[at]
                                                          : static_cast<float*>(d)[at];
        ASSERT_EQ(got, sum) << block << ": " << row << ", " << col;
      }
}

constexpr const char* kHalf4 = "_Float16 __attribute__((ext_vector_type(4)))";
constexpr const char* kHalf8 = "_Float16 __attribute__((ext_vector_type(8)))";
constexpr const char* kBf8 = "__bf16 __attribute__((ext_vector_type(8)))";
constexpr const char* kShort4 = "short __attribute__((ext_vector_type(4)))";
constexpr const char* kFloat2 = "float __attribute__((ext_vector_type(2)))";

INSTANTIATE_TEST_SUITE_P(
    Instructions, Matrix,
    ::testing::Values(
        Case{"f32_32x32x8f16", "gfx942", "_Float16", kHalf4, "float", 32, 32, 8, 1, 4},
        Case{"f32_16x16x16f16", "gfx942", "_Float16", kHalf4, "float", 16, 16, 16, 1, 4},
        Case{"f32_32x32x4f16", "gfx942", "_Float16", kHalf4, "float", 32, 32, 4, 2, 4},
        Case{"f32_16x16x4f16", "gfx942", "_Float16", kHalf4, "float", 16, 16, 4, 4, 4},
        Case{"f32_4x4x4f16", "gfx942", "_Float16", kHalf4, "float", 4, 4, 4, 16, 4},
        Case{"f32_32x32x8bf16_1k", "gfx942", "__bf16", kShort4, "float", 32, 32, 8, 1, 4},
        Case{"f32_16x16x16bf16_1k", "gfx942", "__bf16", kShort4, "float", 16, 16, 16, 1, 4},
        Case{"f32_32x32x2f32", "gfx942", "float", "float", "float", 32, 32, 2, 1, 1},
        Case{"f32_16x16x4f32", "gfx942", "float", "float", "float", 16, 16, 4, 1, 1},
        Case{"f32_32x32x1f32", "gfx942", "float", "float", "float", 32, 32, 1, 2, 1},
        Case{"f32_16x16x8_xf32", "gfx942", "float", kFloat2, "float", 16, 16, 8, 1, 2},
        Case{"f32_32x32x4_xf32", "gfx942", "float", kFloat2, "float", 32, 32, 4, 1, 2},
        Case{"i32_16x16x32_i8", "gfx942", "signed char", "long", "int", 16, 16, 32, 1, 8},
        Case{"i32_32x32x16_i8", "gfx942", "signed char", "long", "int", 32, 32, 16, 1, 8},
        Case{"i32_32x32x8i8", "gfx90a", "signed char", "int", "int", 32, 32, 8, 1, 4},
        Case{"f64_16x16x4f64", "gfx942", "double", "double", "double", 16, 16, 4, 1, 1},
        Case{"f32_16x16x32_f16", "gfx950", "_Float16", kHalf8, "float", 16, 16, 32, 1, 8},
        Case{"f32_32x32x16_f16", "gfx950", "_Float16", kHalf8, "float", 32, 32, 16, 1, 8},
        Case{"f32_16x16x32_bf16", "gfx950", "__bf16", kBf8, "float", 16, 16, 32, 1, 8},
        Case{"f32_32x32x16_bf16", "gfx950", "__bf16", kBf8, "float", 32, 32, 16, 1, 8}));

}  // namespace
}  // namespace swizzleperf::vgpu::test
