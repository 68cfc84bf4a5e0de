// Printed code computes what evaluate() computes: it is compiled (C++) or executed (Python) and
// compared, for every named swizzle and for random formulas, on whole small launches and on sampled
// blocks of launches near 2^31 blocks, where a wrong width would show.
//
// Triton itself is not needed: the text runs in Python over a stand-in for Triton's integers, which
// keeps what matters: 32- and 64-bit scalars that wrap, whose // and % round towards zero as
// Triton's do on tensors, while two plain Python numbers (Triton's compile-time constants) divide
// as Python does.
#include "swizzleperf/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "formula/interpret.h"
#include "random_formula.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Sample {
  Dim3 grid;
  std::uint64_t pid;
  std::int64_t target;
};

struct Case {
  std::string title;
  Formula formula;
  PrintOptions options;
  std::vector<Sample> samples;
};

/// Samples whose evaluation does not fault and stays in the grid; empty if there are none.
void sample_launch(Case& c, const LaunchShape& shape, std::uint64_t step) {
  Interpreter interpreter(c.formula.program(), shape);
  const std::uint64_t count = shape.grid.count();
  for (std::uint64_t pid = 0; pid < count; pid += step) {
    try {
      const std::int64_t target = interpreter.block(pid);
      if (target < 0 || target >= static_cast<std::int64_t>(count)) continue;
      c.samples.push_back({shape.grid, pid, target});
    } catch (const FormulaError&) {
    }
  }
}

Case make_case(const std::string& title, const Formula& formula, std::size_t number,
               std::uint32_t xcds, testing::RandomFormula& random) {
  Case c{title, formula, {}, {}};
  c.options.function = fmt::format("swizzle_{}", number);
  c.options.num_xcds = xcds;
  c.options.comment = title;
  // Most are told one of the grids, on which other code is chosen.
  const Dim3 told = number % 4 == 3 ? Dim3{46341, 46340, 1} : random.grid(60);
  if (number % 4 != 0) c.options.grid = told;
  sample_launch(c, {told, xcds, 38}, told.count() / 100000 * 1000 + 1);
  sample_launch(c, {random.grid(60), xcds, 38}, 1);
  for (const Dim3& grid : {Dim3{2147483647, 1, 1}, Dim3{46341, 46340, 1}, Dim3{1, 2147483640, 1},
                           Dim3{1 << 10, 1 << 10, 2047}, Dim3{65537, 32767, 1}}) {
    const std::uint64_t count = grid.count();
    sample_launch(c, {grid, xcds, 38}, count / 5 - 3);
  }
  return c;
}

std::vector<Case> swizzle_cases() {
  testing::RandomFormula random(11);
  std::vector<std::string> specs = {"die-contiguous+grouped:height=4",
                                    "chunked:chunk=16+grouped:axis=x+snake",
                                    "head-first:blocks=5+morton:cols=7", "hilbert:bits=3"};
  for (const SwizzleFamily& family : swizzle_families()) {
    specs.push_back(family.name);
    for (const std::string& axis : family.axes) specs.push_back(family.name + ":axis=" + axis);
  }
  std::vector<Case> cases;
  for (const std::string& spec : specs) {
    for (const std::uint32_t xcds : {8U, 6U}) {
      cases.push_back(make_case(spec, make_swizzle(spec).formula, cases.size(), xcds, random));
    }
  }
  return cases;
}

std::vector<Case> random_cases(std::size_t count, std::uint64_t seed) {
  testing::RandomFormula random(seed);
  std::vector<Case> cases;
  while (cases.size() < count) {
    const std::string text = random.text(true);
    Case c = make_case(text, Formula::parse(text), cases.size(), random.die_count(), random);
    if (!c.samples.empty()) cases.push_back(std::move(c));
  }
  return cases;
}

class Workspace {
 public:
  Workspace() {
    std::string pattern = (std::filesystem::temp_directory_path() / "print_test.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Workspace() { std::filesystem::remove_all(path_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Writes the text, runs the command on it ({0} = the file) and returns what it printed.
  std::string run(const std::string& name, const std::string& text, const std::string& command) {
    const std::string file = (path_ / name).string();
    const std::string log = (path_ / "log").string();
    std::ofstream(file) << text;
    const int status =
        std::system((fmt::format(fmt::runtime(command), file) + " >" + log + " 2>&1").c_str());
    std::ostringstream printed;
    printed << std::ifstream(log).rdbuf();
    return status == 0 ? printed.str() : "failed:\n" + printed.str().substr(0, 3000);
  }

 private:
  std::filesystem::path path_;
};

std::uint64_t number_of_samples(const std::vector<Case>& cases) {
  std::uint64_t count = 0;
  for (const Case& c : cases) count += c.samples.size();
  return count;
}

// --- C++ ---

constexpr const char* kStrict = "-std=c++17 -Wall -Wextra -Werror";
// Random text compares and shifts without sense, and shifts negative numbers to the left, which
// only C++20 has a word for (compilers always did the same).
constexpr const char* kLax = "-std=c++20 -w";

std::string compile_and_run(const char* warnings) {
  return fmt::format(
      "{} -O1 {} -fsanitize=undefined -fno-sanitize-recover=all {{0}} "
      "-o {{0}}.out && {{0}}.out",
      SWIZZLEPERF_CLANG, warnings);
}

std::string cpp_program(const std::vector<Case>& cases) {
  std::string text =
      "#include <cstdio>\n#define __device__\n"
      "#define __forceinline__ inline __attribute__((always_inline))\n";
  std::string main = "int main() {\n  long bad = 0, good = 0;\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    text += print_cpp(c.formula, c.options);
    std::string rows;
    for (const Sample& s : c.samples) {
      const Dim3 from = unlinear(s.pid, s.grid);
      const Dim3 to = unlinear(static_cast<std::uint64_t>(s.target), s.grid);
      rows += fmt::format("{{{},{},{},{},{},{},{},{},{}}},", from.x, from.y, from.z, s.grid.x,
                          s.grid.y, s.grid.z, to.x, to.y, to.z);
    }
    text += fmt::format("static const unsigned samples_{}[][9] = {{{}}};\n", i, rows);
    main += fmt::format(
        "  for (const auto& s : samples_{0}) {{\n"
        "    const auto at = swizzle_{0}(s[0], s[1], s[2], s[3], s[4], s[5]);\n"
        "    const bool same = at.x == s[6] && at.y == s[7] && at.z == s[8];\n"
        "    if (!same && !bad++) std::printf(\"case {0} from %u %u %u on %u %u %u: %u %u %u for "
        "%u "
        "%u %u\\n\", s[0], s[1], s[2], s[3], s[4], s[5], at.x, at.y, at.z, s[6], s[7], s[8]);\n"
        "    good += same;\n  }}\n",
        i);
  }
  return text + main + "  std::printf(\"good %ld bad %ld\\n\", good, bad);\n}\n";
}

void expect_cpp_agrees(const std::vector<Case>& cases, const char* warnings) {
  const std::string program = cpp_program(cases);
  const std::string printed = Workspace().run("printed.cpp", program, compile_and_run(warnings));
  EXPECT_EQ(printed, fmt::format("good {} bad 0\n", number_of_samples(cases)));
  if (printed.rfind("case ", 0) == 0) {
    const Case& c = cases[std::strtoul(printed.c_str() + 5, nullptr, 10)];
    ADD_FAILURE() << c.title << "\n" << print_cpp(c.formula, c.options);
  }
}

TEST(PrintCpp, NamedSwizzlesAgree) { expect_cpp_agrees(swizzle_cases(), kStrict); }

TEST(PrintCpp, RandomFormulasAgree) { expect_cpp_agrees(random_cases(60, 5), kLax); }

TEST(PrintCpp, CompilesAsHipAndAsCuda) {
  std::string text =
      "#define __device__ __attribute__((device))\n"
      "#define __forceinline__ inline __attribute__((always_inline))\n"
      "#define __global__ __attribute__((global))\n";
  std::string calls;
  std::size_t number = 0;
  for (const SwizzleFamily& family : swizzle_families()) {
    PrintOptions options;
    options.function = fmt::format("f{}", number++);
    options.guard.condition = "num_blocks % num_xcds == 0 && num_pid_x >= 2";
    if (number % 2 == 0) options.grid = Dim3{8, 8, 8};
    text += print_cpp(make_swizzle(family.name).formula, options);
    calls += fmt::format("  out[{}] = {}(out[0], 0, 0, 8, 8, 8).x;\n", number, options.function);
  }
  text += "__global__ void kernel(unsigned* out) {\n" + calls + "}\n";
  Workspace workspace;
  EXPECT_EQ(workspace.run("a.hip", text,
                          SWIZZLEPERF_CLANG " -x hip --offload-arch=gfx942 -nogpulib -nogpuinc "
                                            "--cuda-device-only -Wall -Werror -S {0} -o {0}.s"),
            "");
  EXPECT_EQ(workspace.run(
                "a.cu", text,
                SWIZZLEPERF_CLANG
                " -x cuda -Wno-unknown-cuda-version --cuda-gpu-arch=sm_90 -nocudalib -nocudainc "
                "--cuda-device-only -Wall -Werror -S {0} -o {0}.s"),
            "");
}

// --- Triton ---

constexpr const char* kStandIn = R"(
class Int:
    def __init__(self, value, bits):
        value &= (1 << bits) - 1
        self.v = value - (1 << bits) if value >> (bits - 1) else value
        self.bits = bits
    def both(self, other, f):
        if not isinstance(other, Int):
            other = Int(int(other), 32 if -2**31 <= int(other) < 2**31 else 64)
        return Int(f(self.v, other.v), max(self.bits, other.bits))
    def value(x): return x.v if isinstance(x, Int) else int(x)
    def div(a, b):
        if b == 0: return 0
        q = abs(a) // abs(b)
        return q if (a < 0) == (b < 0) else -q
    def shift(b): return min(max(b, 0), 63)
    def __add__(s, o): return s.both(o, lambda a, b: a + b)
    def __radd__(s, o): return s.both(o, lambda a, b: b + a)
    def __sub__(s, o): return s.both(o, lambda a, b: a - b)
    def __rsub__(s, o): return s.both(o, lambda a, b: b - a)
    def __mul__(s, o): return s.both(o, lambda a, b: a * b)
    def __rmul__(s, o): return s.both(o, lambda a, b: b * a)
    def __floordiv__(s, o): return s.both(o, Int.div)
    def __rfloordiv__(s, o): return s.both(o, lambda a, b: Int.div(b, a))
    def __mod__(s, o): return s.both(o, lambda a, b: a - b * Int.div(a, b))
    def __rmod__(s, o): return s.both(o, lambda a, b: b - a * Int.div(b, a))
    def __lshift__(s, o): return s.both(o, lambda a, b: a << Int.shift(b))
    def __rlshift__(s, o): return s.both(o, lambda a, b: b << Int.shift(a))
    def __rshift__(s, o): return s.both(o, lambda a, b: a >> Int.shift(b))
    def __rrshift__(s, o): return s.both(o, lambda a, b: b >> Int.shift(a))
    def __and__(s, o): return s.both(o, lambda a, b: a & b)
    def __rand__(s, o): return s.both(o, lambda a, b: a & b)
    def __or__(s, o): return s.both(o, lambda a, b: a | b)
    def __ror__(s, o): return s.both(o, lambda a, b: a | b)
    def __xor__(s, o): return s.both(o, lambda a, b: a ^ b)
    def __rxor__(s, o): return s.both(o, lambda a, b: a ^ b)
    def __neg__(s): return Int(-s.v, s.bits)
    def __invert__(s): return Int(~s.v, s.bits)
    def __lt__(s, o): return s.v < Int.value(o)
    def __le__(s, o): return s.v <= Int.value(o)
    def __gt__(s, o): return s.v > Int.value(o)
    def __ge__(s, o): return s.v >= Int.value(o)
    def __eq__(s, o): return s.v == Int.value(o)
    def __ne__(s, o): return s.v != Int.value(o)
    def __bool__(s): return s.v != 0

class tl:
    int32, int64, constexpr = 32, 64, None
    def cast(x, bits): return Int(Int.value(x), bits)
    def abs(x): return Int(abs(x.v), x.bits)
    def minimum(a, b): return a.both(b, min)
    def maximum(a, b): return a.both(b, max)
    def where(c, a, b): return Int.both(Int(0, 32) * a, b, lambda x, y: Int.value(a) if c else y)

class triton:
    def jit(f): return f

)";

std::string python_program(const std::vector<Case>& cases) {
  std::string text = kStandIn;
  std::string checks;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    text += print_triton(c.formula, c.options) + "\n";
    checks += fmt::format("check({}, swizzle_{}, [", i, i);
    for (const Sample& s : c.samples) {
      const Dim3 from = unlinear(s.pid, s.grid);
      const Dim3 to = unlinear(static_cast<std::uint64_t>(s.target), s.grid);
      checks += fmt::format("({},{},{},{},{},{},{},{},{}),", from.x, from.y, from.z, s.grid.x,
                            s.grid.y, s.grid.z, to.x, to.y, to.z);
    }
    checks += "])\n";
  }
  return text + R"(
good = bad = 0
def check(number, function, samples):
    global good, bad
    for s in samples:
        try: at = [Int.value(x) for x in function(*[Int(x, 32) for x in s[:6]])]
        except Exception as e: at = repr(e)
        if at == list(s[6:]): good += 1
        else:
            if bad == 0: print("case", number, "from", s, "gave", at)
            bad += 1
)" + checks +
         "print('good', good, 'bad', bad)\n";
}

void expect_triton_agrees(const std::vector<Case>& cases) {
  const std::string printed = Workspace().run("printed.py", python_program(cases), "python3 {0}");
  EXPECT_EQ(printed, fmt::format("good {} bad 0\n", number_of_samples(cases)));
  if (printed.rfind("case ", 0) == 0) {
    const Case& c = cases[std::strtoul(printed.c_str() + 5, nullptr, 10)];
    ADD_FAILURE() << c.title << "\n" << print_triton(c.formula, c.options);
  }
}

TEST(PrintTriton, NamedSwizzlesAgree) { expect_triton_agrees(swizzle_cases()); }

TEST(PrintTriton, RandomFormulasAgree) {
  std::vector<Case> printable;
  for (Case& c : random_cases(250, 6)) {
    const std::string& text = c.formula.text();
    const bool jumps = text.find("break") != text.npos || text.find("continue") != text.npos;
    if (jumps) {
      EXPECT_THROW((void)print_triton(c.formula, c.options), Error);
    } else {
      c.options.function = fmt::format("swizzle_{}", printable.size());
      printable.push_back(std::move(c));
    }
  }
  EXPECT_GT(printable.size(), 100U);
  expect_triton_agrees(printable);
}

// --- form ---

TEST(Print, TypicalCodeIsNarrowAndKeepsNames) {
  const std::string cpp = print_cpp(make_swizzle("die-contiguous").formula, {});
  EXPECT_THAT(cpp, HasSubstr("const int die = pid % num_xcds;"));
  EXPECT_THAT(cpp, Not(HasSubstr("long")));
  EXPECT_THAT(print_triton(make_swizzle("die-contiguous").formula, {}), Not(HasSubstr("int64")));
}

TEST(PrintCpp, OnItsGridACurveIsNarrow) {
  const auto code = [](const Dim3& grid) {
    PrintOptions options;
    options.grid = grid;
    return print_cpp(make_swizzle("hilbert").formula, options);
  };
  EXPECT_THAT(code({512, 512, 1}), HasSubstr("swizzleperf_block_on<int>(x, y, z, 512, 512, 1)"));
  // Rows times columns of a partial band may be up to twice the blocks.
  EXPECT_THAT(code({46341, 46340, 1}), Not(HasSubstr("_on<int>")));
  EXPECT_THAT(code({512, 512, 1}), Not(HasSubstr("(long long)")));
}

TEST(Print, CommentsCannotEscape) {
  const Formula formula = Formula::parse("// one \\\npid = 5;\n/* two\r\n three\r x */ pid = pid;");
  PrintOptions options;
  options.comment = "bad \\\nint evil; \xE2\x80\xA8 */";
  for (const std::string& text : {print_cpp(formula, options), print_triton(formula, options)}) {
    EXPECT_THAT(text, Not(HasSubstr("\\")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool evil = line.find("evil") != line.npos || line.find("three") != line.npos;
      const std::size_t start = line.find_first_not_of(' ');
      if (evil) EXPECT_TRUE(line[start] == '/' || line[start] == '#') << line;
    }
  }
}

TEST(Print, ForeignNamesAreRenamed) {
  const std::string text =
      print_cpp(Formula::parse("N = 3; x = 4; class = N; __q = class; pid = x + N + __q"), {});
  for (const char* renamed : {"v_N", "v_x", "v_class", "v__q"}) {
    EXPECT_THAT(text, HasSubstr(renamed));
  }
}

/// A source file's macros would replace variables of ours.
TEST(Print, NamesThatAreTakenAreLeftAlone) {
  PrintOptions options;
  options.taken = {"rows", "half"};
  const std::string code = print_cpp(
      Formula::parse("rows = num_blocks; half = rows / 2; pid = rows - 1 - pid + half - half;"),
      options);
  EXPECT_FALSE(std::regex_search(code, std::regex(R"(\b(rows|half)\b)"))) << code;
  EXPECT_TRUE(std::regex_search(code, std::regex(R"(\brows_\b)"))) << code;
}

TEST(Print, AGuardMakesTheIdentityElsewhere) {
  Case c{"guarded", Formula::parse("pid = pid % 8 * (num_blocks / 8) + pid / 8"), {}, {}};
  c.options.function = "swizzle_0";
  c.options.guard.condition = "num_blocks % num_xcds == 0";
  for (const std::uint32_t n : {8U, 64U, 63U, 1U, 100U}) {
    const LaunchShape shape{{n, 1, 1}, 8, 38};
    const auto targets = c.formula.evaluate(shape);
    for (std::uint64_t p = 0; p < n; ++p) {
      c.samples.push_back({shape.grid, p, n % 8 == 0 ? targets[p] : std::int64_t(p)});
    }
  }
  expect_cpp_agrees({c}, kStrict);
  expect_triton_agrees({c});
}

}  // namespace
}  // namespace swizzleperf
