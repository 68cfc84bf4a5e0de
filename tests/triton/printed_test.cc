// Formulas printed as Triton compute, compiled by Triton, what the formula says: for every family
// of swizzles, on ragged grids of one to three axes, by a kernel that writes down where it was
// sent.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "swizzleperf/print.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"
#include "vgpu/run.h"

namespace swizzleperf {
namespace {

constexpr const char* kKernel = R"(

@triton.jit
def where(out_ptr):
    nx = tl.num_programs(0)
    ny = tl.num_programs(1)
    dispatched = tl.program_id(0) + nx * (tl.program_id(1) + ny * tl.program_id(2))
    x, y, z = swizzleperf_block(tl.program_id(0), tl.program_id(1), tl.program_id(2),
                                tl.num_programs(0), tl.num_programs(1), tl.num_programs(2))
    tl.store(out_ptr + dispatched, x + nx * (y + ny * z))
)";

class Printed : public testing::TestWithParam<std::string> {};

TEST_P(Printed, ComputesTheFormula) {
  const ScratchDirectory scratch;
  const Swizzle swizzle = make_swizzle(GetParam());
  PrintOptions options;
  options.num_xcds = 8;
  write_file(scratch.path() / "where.py", "import triton\nimport triton.language as tl\n\n\n" +
                                              print_triton(swizzle.formula, options) + kKernel);
  write_file(scratch.path() / "where.toml", R"(kernel = "where.py"
function = "where"
grid = ["nx", "ny", "nz"]
num_warps = 1
sizes = { nx = 1, ny = 1, nz = 1 }
arguments = [ { name = "out_ptr", dtype = "int32", shape = "nx * ny * nz", output = true } ]
)");
  for (const Dim3 grid : {Dim3{97, 1, 1}, Dim3{13, 11, 1}, Dim3{5, 7, 3}}) {
    vgpu::ProgramSpec spec;
    spec.program = scratch.path() / "where.toml";
    spec.save_directory = scratch.path();
    spec.arguments = {fmt::format("nx={}", grid.x), fmt::format("ny={}", grid.y),
                      fmt::format("nz={}", grid.z)};
    const vgpu::FunctionalRun run =
        vgpu::run_functional(spec, vgpu::build_program(spec, scratch.path()));
    ASSERT_EQ(run.exit_status, 0) << run.captured_stderr;
    const std::string bytes = read_file(scratch.path() / "out_ptr.after");
    std::vector<std::int32_t> got(bytes.size() / 4);
    std::memcpy(got.data(), bytes.data(), bytes.size());
    const std::vector<std::int64_t> expected = swizzle.formula.evaluate({grid, 8, 38});
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t p = 0; p < got.size(); ++p) ASSERT_EQ(got[p], expected[p]) << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Printed,
                         testing::Values("die-contiguous", "chunked:chunk=4+morton",
                                         "die-contiguous+grouped:height=3", "hilbert",
                                         "boustrophedon", "aiter", "pid = num_blocks - 1 - pid;"));

}  // namespace
}  // namespace swizzleperf
