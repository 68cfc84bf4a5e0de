// Formulas printed as Triton compute, compiled by Triton, what the formula says: every family of
// swizzles, on ragged grids of one to three axes, in one kernel that writes down where each of them
// sends its programs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "swizzleperf/print.h"
#include "swizzleperf/swizzles.h"
#include "vgpu/run.h"

namespace swizzleperf {
namespace {

constexpr std::uint32_t kDies = 8;
constexpr std::uint32_t kCus = 38;

/// Every family with its default parameters, the usual composition, and a formula that has a loop,
/// a branch and all operators whose spelling or meaning differs between C and Python.
std::vector<Swizzle> all_swizzles() {
  std::vector<Swizzle> all;
  for (const SwizzleFamily& family : swizzle_families()) all.push_back(make_swizzle(family.name));
  all.push_back(make_swizzle("chunked:chunk=4+grouped:height=3"));
  all.push_back(
      make_swizzle("x = pid; i = 0; while (i < 3) { if (x % 2 == 1 && !(x < 5)) x = x / 2 - 7; "
                   "else x = (x ^ 1) + "
                   "abs(x - 9); i = i + 1; } pid = max(min(x, num_blocks - 1), 0) + (x > 3 ? "
                   "cdiv(x, 4) : ilog2(x * "
                   "x + 1)) * 0;"));
  return all;
}

std::string kernel_text(const std::vector<Swizzle>& swizzles) {
  std::string text = "import triton\nimport triton.language as tl\n";
  std::string body;
  for (std::size_t i = 0; i < swizzles.size(); ++i) {
    PrintOptions options;
    options.function = fmt::format("f{}", i);
    options.num_xcds = kDies;
    options.cus_per_xcd = kCus;
    text += "\n\n" + print_triton(swizzles[i].formula, options);
    body += fmt::format(
        "    x, y, z = f{0}(px, py, pz, nx, ny, nz)\n"
        "    tl.store(out_ptr + {0} * count + dispatched, x + nx * (y + ny * z))\n",
        i);
  }
  return text +
         "\n\n@triton.jit\ndef where(out_ptr):\n"
         "    px = tl.program_id(0)\n    py = tl.program_id(1)\n    pz = tl.program_id(2)\n"
         "    nx = tl.num_programs(0)\n    ny = tl.num_programs(1)\n    nz = tl.num_programs(2)\n"
         "    count = nx * ny * nz\n    dispatched = px + nx * (py + ny * pz)\n" +
         body;
}

TEST(PrintedTriton, ComputesTheFormulas) {
  const ScratchDirectory scratch;
  const std::vector<Swizzle> swizzles = all_swizzles();
  write_file(scratch.path() / "where.py", kernel_text(swizzles));
  write_file(scratch.path() / "where.toml", fmt::format(R"(kernel = "where.py"
function = "where"
grid = ["nx", "ny", "nz"]
num_warps = 1
sizes = {{ nx = 1, ny = 1, nz = 1 }}
arguments = [ {{ name = "out_ptr", dtype = "int32", shape = "{} * nx * ny * nz", output = true }} ]
)",
                                                        swizzles.size()));
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
    std::vector<std::int32_t> got(bytes.size() / sizeof(std::int32_t));
    std::memcpy(got.data(), bytes.data(), bytes.size());
    ASSERT_EQ(got.size(), swizzles.size() * grid.count());
    for (std::size_t i = 0; i < swizzles.size(); ++i) {
      const std::vector<std::int64_t> expected = swizzles[i].formula.evaluate({grid, kDies, kCus});
      for (std::size_t p = 0; p < expected.size(); ++p) {
        // A target outside of the grid is none that can be told in three coordinates.
        if (expected[p] < 0 || expected[p] >= static_cast<std::int64_t>(grid.count())) continue;
        ASSERT_EQ(got[i * grid.count() + p], expected[p])
            << swizzles[i].spec << " at " << p << " of " << grid.x << " x " << grid.y;
      }
    }
  }
}

}  // namespace
}  // namespace swizzleperf
