// What a kernel does wrong, and what we cannot do, in one sentence that names the place.
#include <gmock/gmock.h>

#include <functional>

#include "harness.h"

namespace swizzleperf::vgpu::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string sentence(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.exit(), Exit::kInput);
    return e.what();
  }
  return "no error";
}

template <class... Args>
std::string run(Device& device, const std::string& name, Dim3 grid, Dim3 block, Mode mode,
                std::uint64_t limit, const Args&... args) {
  const KernelInfo& info = device.kernel(name);
  const auto kernargs = device.pack(info, args...);
  const Launch launch{grid, block, 0, kernargs, nullptr, limit};
  return sentence([&] {
    if (mode == Mode::kFunctional)
      device.module().run_grid(info, launch, device.memory(), 2);
    else
      for (std::uint64_t b = 0; b < grid.count(); ++b)
        device.module().run_block(info, launch, unlinear(b, grid), mode, device.memory(), nullptr);
  });
}

class Faults : public ::testing::TestWithParam<Mode> {};

TEST_P(Faults, OutOfBounds) {
  Device device(R"(
__global__ void shift(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 3];
})");
  float* in = device.buffer(std::vector<float>(256), "the input");
  float* out = device.buffer(std::vector<float>(256), "the output");
  EXPECT_THAT(run(device, "shift", {2}, {128}, GetParam(), 0, in, out),
              AllOf(HasSubstr("kernel shift(float const*, float*) at kernel.hip:4"),
                    HasSubstr("block (1,0,0), thread (125,0,0) reads 4 bytes at 0x"),
                    HasSubstr("0 bytes past the end of the input (1024 bytes)")));
  EXPECT_THAT(run(device, "shift", {1}, {64}, GetParam(), 0, in, out + 250),
              AllOf(HasSubstr("thread (6,0,0) writes 4 bytes"), HasSubstr("the output")));
}

TEST_P(Faults, NullPointer) {
  Device device("__global__ void set(float* out) {\n\n  out[threadIdx.x] = 1; }");
  EXPECT_THAT(run(device, "set", {1}, {64}, GetParam(), 0, static_cast<float*>(nullptr)),
              AllOf(HasSubstr("at kernel.hip:3"), HasSubstr("thread (0,0,0)"),
                    HasSubstr("a null pointer")));
}

TEST_P(Faults, EndlessLoop) {
  Device device(
      "__global__ void spin(volatile int* flag) {\n while (*flag == 0) {} }\n"
      "__global__ void count(volatile int* flag) {\n for (;;) *flag = *flag + 1; }");
  int* flag = device.buffer(std::vector<int>(1));
  EXPECT_THAT(run(device, "spin", {1}, {64}, GetParam(), 100000, flag),
              AllOf(HasSubstr("at kernel.hip:2"),
                    HasSubstr("block (0,0,0) waits for what no block of the launch does")));
  EXPECT_THAT(run(device, "count", {1}, {64}, GetParam(), 100000, flag),
              AllOf(HasSubstr("at kernel.hip:4"),
                    HasSubstr("block (0,0,0) executed more than 100000 wave instructions"),
                    HasSubstr("raise the limit with --step-limit")));
}

TEST_P(Faults, TrapsAndAssertions) {
  Device device("__global__ void stop(int n) {\n if (threadIdx.x == n) __builtin_trap(); }");
  EXPECT_EQ(run(device, "stop", {1}, {64}, GetParam(), 0, 99), "no error");
  EXPECT_THAT(run(device, "stop", {1}, {64}, GetParam(), 0, 9),
              AllOf(HasSubstr("kernel.hip:2"), HasSubstr("thread (9,0,0) stops itself")));
}

INSTANTIATE_TEST_SUITE_P(BothModes, Faults, ::testing::Values(Mode::kFunctional, Mode::kAddress));

TEST(Refusals, NameWhatIsNotSupported) {
  Device device(R"(
__global__ void assembly(int* x) {
  int v; asm volatile("v_mov_b32 %0, 7" : "=v"(v)); x[threadIdx.x] = v; }
__global__ void unknown(float* x) {
  x[0] = __builtin_amdgcn_cubeid(x[1], x[2], x[3]); }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) * (n & 1); }
__global__ void recursive(int* x) { x[0] = fib(x[1]); }
__global__ void fine(int* x) { x[threadIdx.x] = 5; }
)");
  int* x = device.buffer(std::vector<int>(64));
  EXPECT_THAT(
      run(device, "assembly", {1}, {64}, Mode::kFunctional, 0, x),
      AllOf(HasSubstr("kernel assembly(int*) at kernel.hip:3"), HasSubstr("inline assembly"),
            HasSubstr("is not supported by the virtual GPU")));
  EXPECT_THAT(run(device, "unknown", {1}, {64}, Mode::kFunctional, 0, reinterpret_cast<float*>(x)),
              AllOf(HasSubstr("kernel.hip:5"), HasSubstr("the intrinsic 'llvm.amdgcn.cubeid'")));
  EXPECT_THAT(run(device, "recursive", {1}, {64}, Mode::kFunctional, 0, x),
              HasSubstr("recursive function"));
  // The others of the module are not affected.
  EXPECT_EQ(run(device, "fine", {1}, {64}, Mode::kFunctional, 0, x), "no error");
  EXPECT_EQ(x[63], 5);
}

TEST(Refusals, WorkThatACounterHandsOutIsNotTraced) {
  Device device(R"(
__global__ void take(int* counter, int* x) {
  const int i = atomicAdd(counter, 1); x[i] = i; }
__global__ void count(int* counter, int* x) {
  x[threadIdx.x] = atomicAdd(counter, 1); }
)");
  int* counter = device.buffer(std::vector<int>(1));
  int* x = device.buffer(std::vector<int>(64));
  EXPECT_THAT(run(device, "take", {1}, {64}, Mode::kAddress, 0, counter, x),
              AllOf(HasSubstr("kernel.hip:3"), HasSubstr("depend on the result of an atomic")));
  EXPECT_EQ(run(device, "take", {1}, {64}, Mode::kFunctional, 0, counter, x), "no error");
  // A result that is only stored decides nothing.
  EXPECT_EQ(run(device, "count", {1}, {64}, Mode::kAddress, 0, counter, x), "no error");
}

TEST(Accesses, NeighbouringHalvesOfAVectorAreOneAccess) {
  // HIP's float4 is two loads of 8 bytes in the IR; hardware sees one of 16.
  Device device(R"(
__global__ void copy(const float4* in, float4* out) {
  out[threadIdx.x] = in[threadIdx.x] * 2.0f; }
)");
  auto* in = device.buffer(std::vector<float>(256));
  auto* out = device.buffer(std::vector<float>(256));
  const KernelInfo& info = device.kernel("copy");
  const auto kernargs = device.pack(info, in, out);
  const Recorded r = test::record(device.module(), info, Launch{{1}, {64}, 0, kernargs, 0},
                                  {0, 0, 0}, Mode::kAddress, device.memory());
  ASSERT_EQ(r.events.size(), 2U);
  EXPECT_EQ(r.patterns[r.events[0].pattern], (Pattern{{0, 1024}}));
}

TEST(Refusals, BadModulesAndLaunches) {
  const std::vector<std::byte> nonsense(100, std::byte{0x42});
  EXPECT_THAT(sentence([&] { Module::load(nonsense, "program.hip"); }), HasSubstr("program.hip"));
  std::vector<std::byte> cut = compile("__global__ void f() {}");
  cut.resize(cut.size() / 2);
  EXPECT_THAT(sentence([&] { Module::load(cut, "program.hip"); }), HasSubstr("program.hip"));
  Device device("__global__ void f(int* x) { x[threadIdx.x] = 1; }");
  int* x = device.buffer(std::vector<int>(64));
  EXPECT_THAT(run(device, "f", {1}, {2000}, Mode::kFunctional, 0, x), HasSubstr("1 to 1024"));
}

TEST(Codegen, CountsRegistersAndLds) {
  const std::string source = R"(
__global__ void small(float* x) { x[threadIdx.x] *= 2; }
__global__ void large(const float* x, float* y) {
  __shared__ float tile[64 * 8];
  float acc[64];
  for (int k = 0; k < 64; ++k) acc[k] = x[k * 64 + threadIdx.x];
  for (int n = 0; n < 8; ++n) {
    tile[n * 64 + threadIdx.x] = sinf(x[n]);
    __syncthreads();
    for (int k = 0; k < 64; ++k) acc[k] += tile[n * 64 + (k ^ threadIdx.x)] * acc[(k + 1) % 64];
  }
  for (int k = 0; k < 64; ++k) y[k * 64 + threadIdx.x] = acc[k];
})";
  const auto& bitcode = compile(source);
  for (const std::string arch : {"gfx90a", "gfx942", "gfx950"}) {
    const CodegenResources small = codegen_resources(bitcode, "_Z5smallPf", arch);
    const CodegenResources large = codegen_resources(bitcode, "_Z5largePKfPf", arch);
    EXPECT_GT(small.vgprs, 0U);
    EXPECT_LE(small.vgprs, 16U);
    EXPECT_GE(large.vgprs, 64U);
    EXPECT_LE(large.vgprs, 256U);
    EXPECT_GT(large.sgprs, 0U);
    EXPECT_EQ(small.lds_bytes, 0U);
    EXPECT_EQ(large.lds_bytes, 64U * 8 * 4);
    EXPECT_EQ(small.scratch_bytes, 0U);
  }
  EXPECT_THAT(sentence([&] { codegen_resources(bitcode, "_Z5smallPf", "gfx000"); }),
              HasSubstr("gfx000"));
  EXPECT_THAT(sentence([&] { codegen_resources(bitcode, "nothing", "gfx942"); }),
              HasSubstr("no kernel named nothing"));
}

}  // namespace
}  // namespace swizzleperf::vgpu::test
