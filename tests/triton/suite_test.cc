// Every Triton kernel of the suite: it traces at full size, and a swizzle put into its source
// compiles for both architectures and computes the same bits on a ragged grid.
#include <gtest/gtest.h>

#include "base/files.h"
#include "optimize/apply.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* spec;                   ///< below kernels/
  std::vector<std::string> settings;  ///< a small ragged size
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.spec; }

vgpu::ProgramSpec program(const Case& c) {
  vgpu::ProgramSpec spec;
  spec.program = fs::path(SWIZZLEPERF_SOURCE) / "kernels" / c.spec;
  return spec;
}

class SuiteKernel : public testing::TestWithParam<Case> {};

TEST_P(SuiteKernel, TracesAtFullSize) {
  const ScratchDirectory scratch;
  const vgpu::ProgramSpec spec = program(GetParam());
  const Trace trace = vgpu::trace_program(spec, vgpu::build_program(spec, scratch.path()));
  EXPECT_EQ(trace.blocks.size(), trace.grid.count());
  EXPECT_GT(trace.vgprs, 0);
  for (const Buffer& b : trace.buffers) EXPECT_TRUE(b.name.starts_with("arg ")) << b.name;
}

TEST_P(SuiteKernel, PatchedComputesTheSameBits) {
  const ScratchDirectory scratch;
  vgpu::ProgramSpec spec = program(GetParam());
  spec.arguments = GetParam().settings;
  const vgpu::BuiltProgram built = vgpu::build_program(spec, scratch.path());
  const Launch launch = place(vgpu::trace_program(spec, built), load_machine("mi300x"));
  // One that needs a guard, loops, and both steps of the usual composition.
  const Swizzle swizzle = make_swizzle("die-contiguous+grouped:height=3");
  const Proof proof = prove(swizzle, launch.shape, 2);
  const Applied applied = apply(swizzle, launch, proof, spec, built, scratch.path());
  EXPECT_EQ(applied.comparison.first_difference, "");
  EXPECT_EQ(applied.comparison.blocks_compared,
            std::min<std::uint64_t>(launch.shape.grid.count(), 64));
  EXPECT_GT(applied.comparison.bytes_compared, 0);
  EXPECT_FALSE(applied.splice.changed.empty());

  spec.kernel_source = scratch.path() / vgpu::spliced_source(spec).filename();
  write_file(spec.kernel_source, applied.splice.patched);
  for (const char* const arch : {"gfx950", "sm_90"}) {
    SCOPED_TRACE(arch);
    spec.arch = arch;
    EXPECT_TRUE(fs::exists(vgpu::build_device(spec, scratch.path())));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Triton, SuiteKernel,
    testing::Values(
        Case{"attention/attention.toml", {"heads=3", "kv_heads=3", "length=333", "CAUSAL=1"}},
        Case{"black_scholes/black_scholes.toml", {"count=20001"}},
        Case{"elementwise/elementwise.toml", {"count=33333"}},
        Case{"fdtd2d/fdtd2d.toml", {"rows=170", "columns=210"}},
        Case{"fdtd2d/fdtd2d_h.toml", {"rows=170", "columns=210"}},
        Case{"gemm/gemm.toml", {"M=700", "N=600", "K=100"}},
        Case{"gemm_persistent/gemm_persistent.toml", {"M=1000", "N=700", "K=72", "programs=7"}},
        Case{"layernorm/layernorm.toml", {"rows=13", "columns=333"}},
        Case{"smith_waterman/smith_waterman.toml", {"length_a=777", "length_b=900"}},
        Case{"softmax/softmax.toml", {"rows=19", "columns=333"}},
        Case{"spmv/spmv.toml", {"rows=45", "columns=400", "per_row=50"}},
        Case{"stencil2d/stencil2d.toml", {"rows=170", "columns=210"}},
        Case{"transpose/transpose.toml", {"rows=170", "columns=210"}}),
    [](const auto& info) { return fs::path(info.param.spec).stem().string(); });

}  // namespace
}  // namespace swizzleperf
