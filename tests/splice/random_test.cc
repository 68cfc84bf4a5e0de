// Kernels put together at random from the ways in which kernels read their block index: whatever
// the mixture, the patch must apply, compile, and compute the permuted blocks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "cases.h"

namespace swizzleperf::splice {
namespace {

/// A kernel whose output depends on all that it read.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Case make(const std::string& name) {
    Case one;
    one.name = name;
    one.grid = {pick(1, 7), pick(1, 5), pick(1, 3)};
    templated_ = pick(0, 1) == 0;
    const std::string outer = pick(0, 2) == 0 ? "outer" : "";
    const unsigned functions = pick(0, 3);
    std::string text = "#include <hip/hip_runtime.h>\n\n";
    if (pick(0, 1) == 0) macros(text);
    if (!outer.empty()) text += "namespace outer {\n";
    for (unsigned i = 0; i < functions; ++i) text += function(i);
    if (pick(0, 3) == 0) text += "__global__ void kernel2(float* out) { out[blockIdx.x] = 1; }\n\n";
    text += kernel();
    if (!outer.empty()) text += "}  // namespace outer\n";
    if (pick(0, 3) == 0) text = with_crlf(text);
    if (pick(0, 3) == 0) text.erase(text.find_last_not_of("\r\n") + 1);
    one.source = text;
    one.kernel = outer.empty() || pick(0, 1) == 0 ? "kernel" : "outer::kernel";
    one.call = fmt::format("{}{}kernel{}(out, 3.f)", outer,
                           outer.empty() ? "" : "::", templated_ ? "<float>" : "");
    return one;
  }

 private:
  unsigned pick(unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random_);
  }
  std::string axis() { return std::string(1, "xyz"[pick(0, 2)]); }

  static std::string with_crlf(const std::string& text) {
    std::string lines;
    for (const char c : text) lines += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return lines;
  }

  void macros(std::string& text) {
    text += fmt::format("#define BLOCK_ROW (blockIdx.{} * 3)\n", axis());
    text += fmt::format("#define PLACE(i) \\\n  (BLOCK_ROW + (i) * hipBlockIdx_{})\n\n", axis());
    expressions_.insert(expressions_.end(), {"BLOCK_ROW", "PLACE(2)"});
  }

  /// An unsigned expression that reads the block index, or a call of an earlier function.
  std::string expression() {
    switch (pick(0, 6)) {
      case 0:
      case 1:
        return fmt::format("blockIdx.{}", axis());
      case 2:
        return fmt::format("unsigned(hipBlockIdx_{})", axis());
      case 3:
        return fmt::format("__builtin_amdgcn_workgroup_id_{}()", axis());
      case 4:
        return fmt::format("(blockIdx.{} * gridDim.{} + {})", axis(), axis(), expression());
      default:
        return expressions_.empty() ? fmt::format("(blockIdx.{} + 1)", axis())
                                    : expressions_[pick(0, unsigned(expressions_.size()) - 1)];
    }
  }

  std::string statement(unsigned i, const std::string& indent) {
    const std::string value = expression();
    switch (pick(0, 6)) {
      case 0:
        return fmt::format("{}sum += {};\n", indent, value);
      case 1:
        return fmt::format("{0}const unsigned v{1} = {2};\n{0}sum = sum * 3 + v{1};\n", indent, i,
                           value);
      case 2:
        return fmt::format(
            "{0}for (unsigned i = 0; i < {1} % 4; ++i) {{\n{0}  sum += {2};\n{0}}}\n", indent,
            value, expression());
      case 3:
        return fmt::format(
            "{0}const auto f{1} = [&](unsigned i) {{ return i + {2}; }};\n{0}sum += f{1}(2);\n",
            indent, i, value);
      case 4:
        return fmt::format(
            "{0}const auto g{1} = [](unsigned i) {{\n{0}  return i * {2};\n{0}}};\n{0}sum += "
            "g{1}(5);\n",
            indent, i, value);
      case 5:
        return fmt::format("{0}const dim3 b{1} = blockIdx;\n{0}sum += b{1}.x + 7 * b{1}.{2};\n",
                           indent, i, axis());
      default:
        return fmt::format("{0}if ({1} & 1) sum += 11; else sum ^= {2};\n", indent, value,
                           expression());
    }
  }

  std::string function(unsigned i) {
    std::string text;
    const std::string name = fmt::format("part{}", i);
    if (pick(0, 2) == 0) {
      text = fmt::format("__device__ unsigned {}(unsigned i = {}) {{ return i * 5 + {}; }}\n\n",
                         name, plain(), expression());
      calls_.push_back(name + "()");
    } else {
      const bool is_template = pick(0, 1) == 0;
      text = fmt::format("// Part {}.\n{}static __device__ unsigned {}(unsigned seed)\n{{\n", i,
                         is_template ? "template <int N>\n" : "", name);
      text += "\tunsigned sum = seed;\n" + statement(i, "\t") + "\treturn sum;\n}\n\n";
      calls_.push_back(name + (is_template ? "<4>(2)" : "(1)"));
    }
    expressions_.push_back(calls_.back());
    return text;
  }

  /// Where macros may not stand.
  std::string plain() { return fmt::format("blockIdx.{}", axis()); }

  std::string kernel() {
    const std::string type = templated_ ? "T" : "float";
    std::string text = templated_ ? "template <typename T>\n" : "";
    text += fmt::format("__global__ void kernel({0}* out, {0} w) {{\n  unsigned sum = 1;\n", type);
    for (const std::string& call : calls_) text += fmt::format("  sum = sum * 5 + {};\n", call);
    const unsigned statements = pick(1, 4);
    for (unsigned i = 0; i < statements; ++i) text += statement(i + 10, "  ");
    // All that was read, and who the block is.
    text += "  out[0] = w * (sum % 4093);\n";
    text +=
        "  out[1 + blockIdx.x] = 1;\n  out[100 + blockIdx.y] = 1;\n  out[200 + blockIdx.z] = "
        "1;\n}\n";
    return text;
  }

  std::mt19937_64 random_;
  std::vector<std::string> expressions_;
  std::vector<std::string> calls_;  ///< one of each function: a macro must not be used outside
  bool templated_ = false;
};

class Random : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Random, KernelsComputeThePermutedBlocks) {
  std::vector<Case> cases;
  cases.reserve(40);
  for (std::uint64_t i = 0; i < 40; ++i)
    cases.push_back(Generator(GetParam() * 1000 + i).make(fmt::format("random{}", i)));
  expect_right(cases, small_hip_arguments());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace swizzleperf::splice
