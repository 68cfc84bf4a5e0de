// Launch specs without Triton: what is wrong is said with file and line, and what is right runs.
#include "vgpu/toolchain/launch_spec.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "programs.h"
#include "vgpu/launcher/element.h"
#include "vgpu/toolchain/expression.h"

namespace swizzleperf::vgpu {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kScale = R"(
  target triple = "amdgcn-amd-amdhsa"
  define amdgpu_kernel void @scale(ptr addrspace(1) %in, ptr addrspace(1) %out, float %factor, i32 %n) {
    %group = call i32 @llvm.amdgcn.workgroup.id.x()
    %item = call i32 @llvm.amdgcn.workitem.id.x()
    %first = mul i32 %group, 64
    %i = add i32 %first, %item
    %inside = icmp slt i32 %i, %n
    br i1 %inside, label %work, label %done
  work:
    %from = getelementptr float, ptr addrspace(1) %in, i32 %i
    %x = load float, ptr addrspace(1) %from
    %y = fmul float %x, %factor
    %to = getelementptr float, ptr addrspace(1) %out, i32 %i
    store float %y, ptr addrspace(1) %to
    br label %done
  done:
    ret void
  }
  declare i32 @llvm.amdgcn.workgroup.id.x()
  declare i32 @llvm.amdgcn.workitem.id.x()
)";

constexpr const char* kScaleSpec = R"toml(kernel = "scale.ll"
function = "scale"
grid = "cdiv(n, 64)"
block = 64

[[arguments]]
name = "in"
dtype = "float32"
shape = "n"
init = "arange"

[[arguments]]
name = "out"
dtype = "float32"
shape = ["n"]
output = true

[[arguments]]
name = "factor"
value = 2.5

[[arguments]]
name = "n"
value = 100
)toml";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class Specs : public testing::Test {
 protected:
  void SetUp() override { write("scale.ll", kScale); }

  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file(scratch.path() / name, text);
    return scratch.path() / name;
  }

  ProgramSpec spec(const std::string& text, std::vector<std::string> settings = {}) {
    ProgramSpec program;
    program.program = write("launch.toml", text);
    program.arguments = std::move(settings);
    return program;
  }

  /// The sentence that running the spec ends in, without the folder.
  std::string fault(const std::string& text, std::vector<std::string> settings = {},
                    Exit exit = Exit::kInput) {
    std::string words = sentence(
        [&] {
          const ProgramSpec program = spec(text, std::move(settings));
          trace_program(program, build_program(program, scratch.path()));
        },
        exit);
    const std::string folder = scratch.path().string() + "/";
    for (std::size_t at = words.find(folder); at != std::string::npos; at = words.find(folder))
      words.erase(at, folder.size());
    return words;
  }

  std::vector<float> result(const ProgramSpec& program, const std::string& array) {
    const FunctionalRun run = run_functional(program, build_program(program, scratch.path()));
    EXPECT_EQ(run.exit_status, 0) << run.captured_stderr;
    const std::string bytes = read_file(scratch.path() / (array + ".after"));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  ScratchDirectory scratch;
};

TEST_F(Specs, RunAKernelOfLlvmIr) {
  ProgramSpec program = spec(kScaleSpec, {"n=130", "factor=0.5"});
  program.save_directory = scratch.path();
  const std::vector<float> out = result(program, "out");
  ASSERT_EQ(out.size(), 130);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 0.5F * static_cast<float>(i));
}

TEST_F(Specs, AreTracedWithTheNamesOfTheirArguments) {
  const ProgramSpec program = spec(kScaleSpec);
  const Trace trace = trace_program(program, build_program(program, scratch.path()));
  EXPECT_EQ(trace.kernel, "scale");
  EXPECT_EQ(trace.grid, (Dim3{2, 1, 1}));
  ASSERT_EQ(trace.buffers.size(), 2);
  EXPECT_EQ(trace.buffers[0].name, "arg 0 'in'");
  EXPECT_EQ(trace.buffers[1].bytes, 400);
}

// gfx950: sixteen lanes read a matrix of 4 x 16 and each gets a column.
TEST_F(Specs, RunATransposingReadOfLds) {
  write("transpose.ll", R"(
    target triple = "amdgpu9.50-amd-amdhsa"
    @tile = internal addrspace(3) global [64 x <4 x i16>] poison, align 16
    define amdgpu_kernel void @transpose(ptr addrspace(1) %in, ptr addrspace(1) %out) {
      %lane = call i32 @llvm.amdgcn.workitem.id.x()
      %from = getelementptr <4 x i16>, ptr addrspace(1) %in, i32 %lane
      %row = load <4 x i16>, ptr addrspace(1) %from
      %place = getelementptr <4 x i16>, ptr addrspace(3) @tile, i32 %lane
      store <4 x i16> %row, ptr addrspace(3) %place
      call void @llvm.amdgcn.s.barrier()
      %column = call <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr addrspace(3) %place)
      %to = getelementptr <4 x i16>, ptr addrspace(1) %out, i32 %lane
      store <4 x i16> %column, ptr addrspace(1) %to
      ret void
    }
    declare i32 @llvm.amdgcn.workitem.id.x()
    declare void @llvm.amdgcn.s.barrier()
    declare <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr addrspace(3))
  )");
  ProgramSpec program = spec(R"(kernel = "transpose.ll"
function = "transpose"
grid = 1
block = 64
arguments = [ { name = "in", dtype = "int16", shape = 256, init = "arange" },
              { name = "out", dtype = "int16", shape = 256 } ]
)");
  program.save_directory = scratch.path();
  run_functional(program, build_program(program, scratch.path()));
  const std::string bytes = read_file(scratch.path() / "out.after");
  std::vector<std::int16_t> out(bytes.size() / 2);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  ASSERT_EQ(out.size(), 256);
  for (int group = 0; group < 4; ++group) {
    for (int lane = 0; lane < 16; ++lane) {
      for (int row = 0; row < 4; ++row) {
        EXPECT_EQ(out[4 * (16 * group + lane) + row], 64 * group + 16 * row + lane);
      }
    }
  }
}

TEST_F(Specs, RunAHipKernelWithoutAMain) {
  write("add.hip", R"(#include <hip/hip_runtime.h>
    template <int kStep> __device__ int step(int i) { return i * kStep; }
    __global__ void add(float* data, int n, double amount) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) data[i] += amount + step<STEP>(i);
    })");
  ProgramSpec program = spec(R"(kernel = "add.hip"
function = "add"
grid = 2
block = [128]
compile_options = ["-DSTEP=3"]
arguments = [ { name = "data", dtype = "float32", shape = 200, init = "ones" },
              { name = "n", value = 200 },
              { name = "amount", dtype = "float64", value = 4 } ]
)");
  program.save_directory = scratch.path();
  const std::vector<float> data = result(program, "data");
  ASSERT_EQ(data.size(), 200);
  for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], 5 + 3 * static_cast<float>(i));
}

TEST_F(Specs, SayWhatIsWrongAndWhere) {
  const std::string good = kScaleSpec;
  const auto with = [&](const char* from, const char* to) {
    return fault(replaced(good, from, to));
  };
  EXPECT_THAT(with("scale.ll", "gone.ll"),
              HasSubstr("launch.toml:1: the kernel's file gone.ll does not exist"));
  EXPECT_THAT(with("scale.ll", "scale.c"), HasSubstr("launch.toml:1: 'kernel' must be a .py"));
  EXPECT_THAT(with("block = 64", "blocks = 64"),
              HasSubstr("launch.toml:4: unknown key 'blocks'; did you mean 'block'?"));
  EXPECT_THAT(with("block = 64", ""), HasSubstr("the key 'block' is missing"));
  EXPECT_THAT(with("block = 64", "block = 64\nnum_warps = 4"),
              HasSubstr("launch.toml:5: 'num_warps' is for Triton kernels"));
  EXPECT_THAT(with("\"float32\"", "\"float23\""),
              HasSubstr("launch.toml:8: unknown dtype 'float23'; did you mean 'float32'?"));
  EXPECT_THAT(with("cdiv(n, 64)", "cdiv(m, 64)"),
              HasSubstr("launch.toml:3: in the expression \"cdiv(m, 64)\": there is no 'm'"));
  EXPECT_THAT(with("cdiv(n, 64)", "cdiv(n, 0)"),
              HasSubstr("launch.toml:3: in the expression \"cdiv(n, 0)\": division by zero"));
  EXPECT_THAT(with("cdiv(n, 64)", "n - 100"),
              HasSubstr("launch.toml:3: the grid cannot have an extent of 0 (n - 100)"));
  EXPECT_THAT(with("init = \"arange\"", "init = \"random\""),
              HasSubstr("launch.toml:10: unknown initial contents 'random'"));
  EXPECT_THAT(with("init = \"arange\"", "init = { kind = \"file\", path = \"x.bin\" }"),
              HasSubstr("launch.toml:10: the file x.bin does not exist"));
  EXPECT_THAT(
      with("value = 2.5", ""),
      HasSubstr("launch.toml:18: argument 'factor' needs either a shape (an array) or a value"));
  EXPECT_THAT(with("name = \"n\"", "name = \"in\""),
              HasSubstr("launch.toml:22: argument 'in' is given twice (first on line 6)"));
  EXPECT_THAT(with("shape = \"n\"", "shape = \"-n\""),
              HasSubstr("launch.toml:9: array 'in' cannot have an extent of -100"));
  EXPECT_THAT(with("value = 100", "value = \"2 * n\""),
              HasSubstr("launch.toml:22: in the expression \"2 * n\": there is no 'n'"));
  EXPECT_THAT(with("grid =", "grid = = "), HasSubstr("launch.toml:3: not valid TOML"));
}

TEST_F(Specs, SayWhenTheyDoNotFitTheKernel) {
  const std::string good = kScaleSpec;
  EXPECT_THAT(fault(replaced(good, "\"scale\"", "\"scales\"")),
              EndsWith("launch.toml: there is no kernel 'scales'; there are: scale"));
  EXPECT_THAT(
      fault(replaced(good, "[[arguments]]\nname = \"n\"\nvalue = 100", "sizes = { n = 1 }")),
      HasSubstr("launch.toml"));
  EXPECT_THAT(fault(good + "\n[[arguments]]\nname = \"more\"\nvalue = 1\n"),
              EndsWith("launch.toml: scale takes 4 arguments, but the spec gives 5"));
  EXPECT_THAT(fault(replaced(good, "value = 2.5", "dtype = \"float64\"\nvalue = 2.5")),
              EndsWith("argument 2 of scale ('factor') is a value of 4 bytes, but the spec gives a "
                       "value of 8 bytes"));
  EXPECT_THAT(
      fault(replaced(good, "value = 2.5", "dtype = \"int8\"\nshape = 5")),
      EndsWith(
          "argument 2 of scale ('factor') is a value of 4 bytes, but the spec gives a pointer"));
}

TEST_F(Specs, TakeSettingsFromTheCommandLine) {
  EXPECT_THAT(fault(kScaleSpec, {"m=3"}, Exit::kUsage),
              HasSubstr("launch.toml has no size, value or constexpr 'm'"));
  EXPECT_THAT(fault(kScaleSpec, {"n"}, Exit::kUsage), HasSubstr("'n' behind -- is not NAME=VALUE"));
  EXPECT_THAT(fault(kScaleSpec, {"n=big"}, Exit::kUsage),
              HasSubstr("a number is expected behind the ="));
}

TEST(Expression, IsPythonsArithmetic) {
  const Names names = {{"M", 1000}, {"BLOCK_M", 128}};
  EXPECT_EQ(evaluate("cdiv(M, BLOCK_M) * 3 - 2 * (1 + 1)", names), 20);
  EXPECT_EQ(evaluate("-7 // 2", names), -4);
  EXPECT_EQ(evaluate("-7 % 3", names), 2);
  EXPECT_EQ(evaluate("7 // -2", names), -4);
  EXPECT_EQ(evaluate("triton.next_power_of_2(M) + min(3, 2, 5) + max(1, -1)", names), 1027);
  EXPECT_EQ(evaluate("1_000 - 10 - 1", names), 989);
  for (const char* wrong : {"", "1 +", "(1", "1)", "M M", "M / 2", "f(1)", "cdiv(1)", "1 // 0",
                            "9223372036854775807 + 1", "99999999999999999999", "m", "2 ** 3"}) {
    EXPECT_NE(sentence([&] { evaluate(wrong, names); }), "") << wrong;
  }
  EXPECT_THAT(sentence([&] { evaluate(std::string(1000, '(') + "1", names); }),
              HasSubstr("nested"));
}

std::uint64_t bits_of(const char* type, double value) {
  std::uint64_t bits = 0;
  encode(*find_element_type(type), value, reinterpret_cast<std::byte*>(&bits));
  return bits;
}

/// Every finite value of a format, decoded by its definition, is its own encoding.
TEST(Element, EncodesEveryValueOfANarrowFormat) {
  struct Format {
    const char* name;
    int mantissa;
    int bias;
    std::uint32_t largest;
  };
  for (const Format& f :
       {Format{"float8_e4m3fn", 3, 7, 0x7e}, Format{"float8_e4m3fnuz", 3, 8, 0x7f},
        Format{"float8_e5m2", 2, 15, 0x7b}, Format{"float8_e5m2fnuz", 2, 16, 0x7f},
        Format{"float16", 10, 15, 0x7bff}, Format{"bfloat16", 7, 127, 0x7f7f}}) {
    double last = -1;
    for (std::uint32_t code = 0; code <= f.largest; ++code) {
      const auto fraction = static_cast<double>(code & ((1U << f.mantissa) - 1));
      const int exponent = static_cast<int>(code >> f.mantissa);
      const double one = exponent == 0 ? 0 : std::ldexp(1.0, f.mantissa);
      const double value = std::ldexp(one + fraction, std::max(exponent, 1) - f.bias - f.mantissa);
      ASSERT_EQ(bits_of(f.name, value), code) << f.name;
      if (code > 0) {
        // Just above the middle between two values is the upper, the middle itself the even one.
        const double middle = (last + value) / 2;
        ASSERT_EQ(bits_of(f.name, middle), code % 2 == 0 ? code : code - 1) << f.name << code;
        ASSERT_EQ(bits_of(f.name, std::nextafter(middle, 1e300)), code) << f.name;
      }
      last = value;
    }
    EXPECT_EQ(bits_of(f.name, 1e30 * last), f.largest) << f.name;
  }
  EXPECT_EQ(bits_of("float32", -1.5), 0xbfc00000);
  EXPECT_EQ(bits_of("float8_e4m3fnuz", -0.0), 0);
  EXPECT_EQ(bits_of("int8", -3), 0xfd);
  EXPECT_EQ(bits_of("bool", 7), 1);
}

TEST_F(Specs, FillArraysAsTheySay) {
  const auto filled = [&](const std::string& init, std::size_t count, const char* dtype = "int32") {
    ProgramSpec program = spec(fmt::format(R"(kernel = "scale.ll"
function = "scale"
grid = 1
block = 64
sizes = {{ count = {} }}
arguments = [ {{ name = "in", dtype = "float32", shape = 1 }}, {{ name = "out", dtype = "{}", shape = "count", init = {} }},
              {{ name = "factor", value = 0.0 }}, {{ name = "n", value = 0 }} ]
)",
                                           count, dtype, init));
    program.save_directory = scratch.path();
    run_functional(program, build_program(program, scratch.path()));
    const std::string bytes = read_file(scratch.path() / "out.before");
    std::vector<std::int32_t> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  EXPECT_THAT(filled("\"arange\"", 4), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(filled("-7", 3), testing::Each(-7));
  const auto integers = filled("{ kind = \"integers\", low = 5, high = \"count\" }", 1000);
  EXPECT_THAT(integers, testing::Each(testing::AllOf(testing::Ge(5), testing::Lt(1000))));
  EXPECT_GT(std::set<std::int32_t>(integers.begin(), integers.end()).size(), 500);
  const auto starts = filled("{ kind = \"row_starts\", total = \"7 * count\" }", 500);
  EXPECT_EQ(starts.front(), 0);
  EXPECT_EQ(starts.back(), 3500);
  EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end()));
  // A period of the random kinds is 8191 pages; it goes on behind it as it began.
  const std::size_t period = std::size_t{8191} * 1024;
  const auto normal = filled("\"normal\"", period + 2000, "float32");
  EXPECT_TRUE(std::equal(normal.begin(), normal.begin() + 2000, normal.begin() + period));
  EXPECT_FALSE(std::equal(normal.begin(), normal.begin() + 1000, normal.begin() + 1000));
}

}  // namespace
}  // namespace swizzleperf::vgpu
