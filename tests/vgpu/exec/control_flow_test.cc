// Random control flow: functions generated from a seed, compiled for the GPU and for this CPU, must
// agree for every thread. They nest branches and loops with different trip counts per thread, leave
// loops early, skip iterations, return from inside, and use values of a loop after it (which lanes
// left in different iterations).
#include <dlfcn.h>
#include <fmt/format.h>

#include <random>

#include "base/files.h"
#include "harness.h"

namespace swizzleperf::vgpu::test {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}

  std::string function(const std::string& name) {
    text_.clear();
    loops_ = 0;
    counters_ = 0;
    text_ += fmt::format("FUNCTION int {}(int tid, const int* in) {{\n", name);
    text_ +=
        "  unsigned a = in[tid & 255], b = tid * 2654435761u, c = 7, d = in[(tid * 5) & 255];\n";
    for (int k = 0; k < 4; ++k) statement(3);
    text_ += "  return (int)(a + 3 * b + 5 * c + 7 * d);\n}\n";
    return text_;
  }

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(engine_() % n); }
  std::string variable() { return std::string(1, "abcd"[pick(4)]); }

  std::string expression() {
    switch (pick(8)) {
      case 0:
        return fmt::format("{} + {}", variable(), variable());
      case 1:
        return fmt::format("{} * {}u", variable(), pick(1000) + 1);
      case 2:
        return fmt::format("{} ^ ({} >> {})", variable(), variable(), pick(31));
      case 3:
        return fmt::format("(unsigned)in[{} & 255]", variable());
      case 4:
        return fmt::format("{} - {}u", variable(), pick(100));
      case 5:
        return fmt::format("{} % {}u", variable(), pick(50) + 1);
      case 6:
        return fmt::format("({} ? {} : {})", condition(), variable(), variable());
      default:
        return fmt::format("(unsigned)tid + {}", variable());
    }
  }

  std::string condition() {
    switch (pick(6)) {
      case 0:
        return fmt::format("({} & {}u) == 0", variable(), 1U << pick(4));
      case 1:
        return fmt::format("{} < {}", variable(), variable());
      case 2:
        return fmt::format("(int){} > (int){}", variable(), variable());
      case 3:
        return fmt::format("({} % 7u) < {}u && {} != 3u", variable(), pick(7), variable());
      case 4:
        return fmt::format("({} & 3u) || ({} & 4u)", variable(), variable());
      default:
        return fmt::format("(tid & {}) == {}", pick(64), pick(8));
    }
  }

  void line(const std::string& s) { text_ += "  " + s + "\n"; }

  void block(int depth) {
    const unsigned n = 1 + pick(3);
    for (unsigned k = 0; k < n; ++k) statement(depth);
  }

  void loop(int depth) {
    const std::string i = fmt::format("i{}", counters_++);
    ++loops_;
    switch (pick(3)) {
      case 0:
        line(fmt::format("for (unsigned {0} = 0; {0} < ({1} & 7u) + 1; ++{0}) {{", i, variable()));
        break;
      case 1:
        // A uniform trip count.
        line(fmt::format("for (unsigned {0} = 0; {0} < {1}u; ++{0}) {{", i, pick(5) + 1));
        break;
      default:
        line(fmt::format("for (unsigned {0} = 0; {0} < 6 && ({1}); ++{0}) {{", i, condition()));
    }
    block(depth - 1);
    line(fmt::format("{} += {};", variable(), i));
    line("}");
    --loops_;
  }

  void statement(int depth) {
    const unsigned kind = depth == 0 ? 0 : pick(10);
    switch (kind) {
      case 4:
      case 5:
        line(fmt::format("if ({}) {{", condition()));
        block(depth - 1);
        line("} else {");
        block(depth - 1);
        line("}");
        return;
      case 6:
        line(fmt::format("if ({}) {{", condition()));
        block(depth - 1);
        if (loops_ > 0 && pick(2) == 0)
          line(pick(2) == 0 ? "break;" : "continue;");
        else if (pick(6) == 0)
          line(fmt::format("return (int)({});", expression()));
        line("}");
        return;
      case 7:
      case 8:
        loop(depth);
        return;
      case 9:
        line(fmt::format("switch ({} % 5u) {{", variable()));
        for (unsigned k = 0; k < 4; ++k) {
          line(fmt::format("case {}: {{", k));
          block(depth - 1 > 0 ? 1 : 0);
          line(pick(3) != 0 ? "} break;" : "}");
        }
        line("}");
        return;
      default:
        line(fmt::format("{} = {};", variable(), expression()));
    }
  }

  std::mt19937 engine_;
  std::string text_;
  int loops_ = 0;  // in a switch a break leaves the switch; a continue needs a loop
  int counters_ = 0;
};

class ControlFlow : public ::testing::TestWithParam<unsigned> {};

TEST_P(ControlFlow, AgreesWithTheCpu) {
  constexpr unsigned kFunctions = 40;
  std::string functions;
  std::string kernels;
  for (unsigned k = 0; k < kFunctions; ++k) {
    functions += Generator(GetParam() * 1000 + k).function(fmt::format("f{}", k));
    kernels += fmt::format(
        "__global__ void k{0}(const int* in, int* out) {{ int i = blockIdx.x * blockDim.x + "
        "threadIdx.x; out[i] = f{0}(i, in); }}\n",
        k);
  }
  const HostLibrary host("#define FUNCTION extern \"C\"\n" + functions);
  Device device("#define FUNCTION static __device__\n" + functions + kernels);
  std::mt19937 engine(GetParam());
  std::vector<int> in(256);
  for (int& v : in) v = static_cast<int>(engine());
  const int* device_in = device.buffer(in);
  constexpr int kThreads = 3 * 150;
  for (unsigned k = 0; k < kFunctions; ++k) {
    int* out = device.buffer(std::vector<int>(kThreads));
    device.launch(fmt::format("k{}", k), {3}, {150}, 0, device_in, out);
    const auto f = host.function<int(int, const int*)>(fmt::format("f{}", k));
    for (int i = 0; i < kThreads; ++i)
      ASSERT_EQ(out[i], f(i, in.data())) << "function " << k << ", thread " << i << "\n"
                                         << Generator(GetParam() * 1000 + k).function("f");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ControlFlow, ::testing::Range(1U, 6U));

}  // namespace
}  // namespace swizzleperf::vgpu::test
