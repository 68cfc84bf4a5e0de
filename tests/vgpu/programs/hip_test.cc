// Each program of hip/ is compiled once, run for its values (it checks itself) and traced.
#include <gmock/gmock.h>

#include <string>

#include "programs.h"

namespace swizzleperf::vgpu {
namespace {

class HipProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(HipProgram, ComputesTheRightValuesAndIsTraced) {
  const ScratchDirectory scratch;
  const ProgramSpec spec = program_file(std::string(GetParam()) + ".hip");
  const BuiltProgram built = build_program(spec, scratch.path());
  const FunctionalRun run = run_functional(spec, built);
  EXPECT_EQ(run.exit_status, 0) << run.captured_stdout;
  EXPECT_THAT(run.captured_stdout, ::testing::EndsWith("PASS\n"));
  const Trace trace = trace_program(spec, built);
  EXPECT_EQ(trace.blocks.size(), trace.grid.count());
  EXPECT_FALSE(trace.templates.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, HipProgram,
    ::testing::Values("shuffles", "lane_moves", "cooperative_groups", "grid_sync", "waiting_blocks",
                      "atomics_integer", "atomics_float", "dynamic_lds", "half_math",
                      "narrow_floats", "math_functions", "integer_intrinsics", "copies_in_kernels",
                      "function_pointers", "printing", "device_malloc", "matrix", "matrix_narrow",
                      "buffers", "graphs", "memory_kinds", "modules", "scans_and_sorts",
                      "stencils_and_transforms", "graph_traversal", "particles_and_chance",
                      "text_and_images", "many_kernels", "hipcub", "rounding", "small_floats",
                      "repeats"),
    [](const auto& test) { return std::string(test.param); });

TEST(Gfx950, ScaledMatrixInstructions) {
  const ScratchDirectory scratch;
  ProgramSpec spec = program_file("matrix_scaled.hip");
  spec.arch = "gfx950";
  const FunctionalRun run = run_functional(spec, build_program(spec, scratch.path()));
  EXPECT_EQ(run.exit_status, 0) << run.captured_stdout;
}

TEST(Repeats, StillPrintEachTime) {
  const ScratchDirectory scratch;
  const ProgramSpec spec = program_file("repeats.hip");
  const FunctionalRun run = run_functional(spec, build_program(spec, scratch.path()));
  EXPECT_EQ(run.captured_stdout, "said 7\nsaid 7\nsaid 7\nsaid 7\nsaid 7\nPASS\n");
}

TEST(Printing, ArrivesInTheOrderOfBlocks) {
  const ScratchDirectory scratch;
  const ProgramSpec spec = program_file("printing.hip");
  const FunctionalRun run = run_functional(spec, build_program(spec, scratch.path()));
  std::string wanted = "before\n";
  for (int block = 0; block < 3; ++block)
    for (int thread = 0; thread < 2; ++thread)
      wanted += "block " + std::to_string(block) + " thread " + std::to_string(thread) +
                " says hello to world:  1.50|" + std::to_string(thread - 5) + "    |0000ff|" +
                (thread == 0 ? "A" : "B") + "|%\n";
  wanted +=
      "-5000000000 18446744068709551616 4000000000 1.000000e-03 0.001 0x1234 literal\n"
      "44 4464 123456789012     42 3.14|   ab|cd   |\n"
      "no arguments\n"
      "PASS\n";
  EXPECT_EQ(run.captured_stdout, wanted);
}

/// What a scan's blocks ask of memory depends on those before: the trace has what each really did.
TEST(Ordered, BlocksThatTakeTheirWorkFromACounterAreTraced) {
  const ScratchDirectory scratch;
  ProgramSpec spec = program_file("waiting_blocks.hip");
  spec.kernel_regex = "look_back_scan";
  const Trace trace = trace_program(spec, build_program(spec, scratch.path()));
  ASSERT_EQ(trace.blocks.size(), 40U);
  EXPECT_EQ(trace.method.blocks_run, 40U);
  EXPECT_EQ(trace.method.blocks_extrapolated, 0U);
  // Every tile is read once: the loads of the input add up to its bytes.
  std::uint64_t bytes = 0;
  for (const BlockTrace& block : trace.blocks) {
    const Template& t = trace.templates[block.template_index];
    for (const Event& e : t.events) {
      if (trace.buffers[t.slot_buffer[e.slot]].name.find("'in'") == std::string::npos) continue;
      for (const ByteRange& range : trace.patterns[e.pattern]) bytes += range.size;
    }
  }
  EXPECT_EQ(bytes, 10000U * sizeof(int));
}

}  // namespace
}  // namespace swizzleperf::vgpu
