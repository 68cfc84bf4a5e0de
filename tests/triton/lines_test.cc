// Where a kernel is written in HIP and in Triton with the same tile, both touch the same lines:
// block for block, as sets, whatever instructions the two compilers chose.
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "vgpu/run.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;

/// (buffer, line within it, whether it is written)
using Lines = std::set<std::tuple<std::size_t, std::int64_t, bool>>;

Lines lines_of(const Trace& trace, std::size_t block) {
  constexpr std::int64_t kLine = 128;
  const BlockTrace& b = trace.blocks[block];
  const Template& t = trace.templates[b.template_index];
  Lines lines;
  for (const Event& event : t.events) {
    const std::size_t buffer = t.slot_buffer[event.slot];
    const std::int64_t start = trace.anchors[b.first_anchor + event.slot] + event.offset -
                               static_cast<std::int64_t>(trace.buffers[buffer].base);
    for (const ByteRange& range : trace.patterns[event.pattern]) {
      const std::int64_t first = start + range.begin;
      for (std::int64_t line = first / kLine; line <= (first + range.size - 1) / kLine; ++line)
        lines.insert({buffer, line, event.kind != AccessKind::kLoad});
    }
  }
  return lines;
}

struct Pair {
  const char* name;
  std::vector<std::string> hip;
  std::vector<std::string> triton;
};

void PrintTo(const Pair& p, std::ostream* out) { *out << p.name; }

class BothLanguages : public testing::TestWithParam<Pair> {};

TEST_P(BothLanguages, TouchTheSameLines) {
  const ScratchDirectory scratch;
  const auto trace = [&](const std::string& ending, const std::vector<std::string>& arguments) {
    vgpu::ProgramSpec spec;
    spec.program =
        fs::path(SWIZZLEPERF_SOURCE) / "kernels" / GetParam().name / (GetParam().name + ending);
    spec.arguments = arguments;
    spec.extrapolate = false;
    return vgpu::trace_program(spec, vgpu::build_program(spec, scratch.path()));
  };
  const Trace hip = trace(".hip", GetParam().hip);
  const Trace triton = trace(".toml", GetParam().triton);
  ASSERT_EQ(hip.grid, triton.grid);
  ASSERT_EQ(hip.buffers.size(), triton.buffers.size());
  for (std::size_t b = 0; b < hip.blocks.size(); ++b) {
    const Lines expected = lines_of(hip, b);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(expected, lines_of(triton, b)) << "block " << b;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, BothLanguages,
    testing::Values(Pair{"elementwise", {"33336"}, {"count=33336"}},
                    Pair{"transpose", {"328", "408"}, {"rows=328", "columns=408"}},
                    Pair{"stencil2d", {"328", "408"}, {"rows=328", "columns=408"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace swizzleperf
