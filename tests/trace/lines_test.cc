// Lines, sectors and L1 against bytes, maps and lists, block by block.
#include "trace/lines.h"

#include <gtest/gtest.h>

#include "support/naive.h"
#include "support/random_launch.h"
#include "support/synthetic.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

void expect_same(const Trace& trace, const Machine& machine, std::uint32_t blocks_per_cu) {
  const LineTrace lines = make_lines(trace, machine, blocks_per_cu);
  std::uint64_t lowest = ~0ULL;
  for (const Buffer& b : trace.buffers) lowest = std::min(lowest, b.base);
  const std::uint64_t first_line = lowest / machine.l2.line_bytes;
  std::uint64_t requests = 0;
  std::uint64_t l1_requests = 0;
  std::uint64_t l1_hits = 0;
  ASSERT_EQ(lines.blocks.size(), trace.blocks.size());
  EXPECT_EQ(lines.line_bytes, machine.l2.line_bytes);
  for (std::size_t b = 0; b < trace.blocks.size(); ++b) {
    const naive::Block wanted = naive::lines_of_block(trace, machine, blocks_per_cu, b);
    const LineTemplate& t = lines.templates[lines.blocks[b].template_index];
    ASSERT_EQ(t.intervals.size(), wanted.steps.size()) << "block " << b;
    std::uint32_t at = 0;
    for (std::size_t s = 0; s < wanted.steps.size(); ++s) {
      ASSERT_EQ(t.intervals[s].request_end - at, wanted.steps[s].requests.size()) << "block " << b;
      EXPECT_EQ(t.intervals[s].cost, wanted.steps[s].cost);
      for (const naive::Request& r : wanted.steps[s].requests) {
        const LineRequest& seen = t.requests[at++];
        const std::uint32_t line =
            lines.anchors[lines.blocks[b].first_anchor + seen.slot] + seen.line;
        ASSERT_EQ(
            (naive::Request{first_line + line, t.slot_buffer[seen.slot], seen.kind, seen.sectors}),
            r)
            << "block " << b << ", request " << at - 1;
      }
    }
    EXPECT_EQ(t.requests.size(), at);
    EXPECT_EQ(t.l1_requests, wanted.l1_requests) << "block " << b;
    EXPECT_EQ(t.l1_hits, wanted.l1_hits) << "block " << b;
    requests += at;
    l1_requests += wanted.l1_requests;
    l1_hits += wanted.l1_hits;
  }
  EXPECT_EQ(lines.num_requests, requests);
  EXPECT_EQ(lines.l1_requests, l1_requests);
  EXPECT_EQ(lines.l1_hits, l1_hits);
}

TEST(Lines, AgreeWithBytesAndLists) {
  for (std::uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    expect_same(synthetic::random_trace(random), machine,
                static_cast<std::uint32_t>(1 + random.below(8)));
  }
}

TEST(Lines, AgreeOnKernelsOfEachVendor) {
  Machine nvidia = synthetic::mi300x();
  nvidia.l1 = {.bytes = 128 << 10, .line_bytes = 128, .ways = 256};
  nvidia.l2.read_request_bytes = nvidia.l2.write_request_bytes = 32;
  Machine small_l1 = synthetic::mi300x();
  small_l1.l1 = {.bytes = 16384, .line_bytes = 64, .ways = 16, .index = SetIndex::kHashed};
  for (const Machine& machine : {synthetic::mi300x(), nvidia, small_l1}) {
    for (const std::uint32_t blocks_per_cu : {1U, 2U, 100U}) {
      expect_same(synthetic::build(synthetic::Gemm{512, 384, 128}), machine, blocks_per_cu);
      expect_same(synthetic::build(synthetic::Transpose{512}), machine, blocks_per_cu);
    }
  }
}

/// One template, two slots of one array: blocks in which the slots meet hit L1, others do not,
/// though all lie at the same place inside lines and sets.
TEST(Lines, SlotsThatMeetAreToldApart) {
  Trace t;
  t.grid = {8, 1, 1};
  t.buffers = {{"A", 1 << 20, 1 << 20}};
  t.patterns = {{{0, 128}}};
  t.templates = {
      {{{0, 0, 0, AccessKind::kLoad}, {0, 0, 1, AccessKind::kLoad}}, {{2, false, {}}}, {0, 0}}};
  for (std::int64_t b = 0; b < 8; ++b) {
    t.blocks.push_back({0, t.anchors.size()});
    t.anchors.push_back(1 << 20);
    t.anchors.push_back((1 << 20) + b % 2 * 65536);
  }
  const Machine machine = synthetic::mi300x();
  expect_same(t, machine, 1);
  const LineTrace lines = make_lines(t, machine, 1);
  EXPECT_EQ(lines.l1_hits, 4U);
  EXPECT_EQ(lines.templates.size(), 2U);
}

/// Sharing saves memory: all inner blocks of a GEMM are one line template.
TEST(Lines, BlocksOfAGemmShareATemplate) {
  const LineTrace lines =
      make_lines(synthetic::build(synthetic::Gemm{2048, 2048, 128}), synthetic::mi300x(), 1);
  EXPECT_LE(lines.templates.size(), 9U);
  EXPECT_EQ(lines.blocks.size(), 256U);
}

TEST(Lines, RefuseWhatALineNumberCannotHold) {
  Trace t = synthetic::build(synthetic::Transpose{64});
  const Machine machine = synthetic::mi300x();
  t.buffers.push_back({"far", t.buffers[0].base + (std::uint64_t{128} << 32), 4});
  EXPECT_THROW((void)make_lines(t, machine, 1), Error);
  t.buffers.back().base -= 256;  // the last line but one: representable
  EXPECT_NO_THROW((void)make_lines(t, machine, 1));
  t.buffers.pop_back();
  t.anchors[0] += std::int64_t{1} << 30;  // an access outside all arrays
  EXPECT_THROW((void)make_lines(t, machine, 1), Error);
}

}  // namespace
}  // namespace swizzleperf
