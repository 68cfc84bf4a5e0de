// Gains that only a hash explains are told from gains of reuse.
#include "optimize/second_opinion.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "support/synthetic.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

/// Softmax-like: each block reads its row of 16 KiB again and again. Rows of one die are a multiple
/// of 128 KiB apart in the identity's order, so its resident rows meet in few sets.
struct Rows {
  static constexpr std::uint64_t kBase = 1ULL << 40;
  static constexpr std::uint64_t kRowBytes = 16384;
  std::uint32_t rows;

  [[nodiscard]] Trace launch() const {
    Trace t;
    t.kernel = "rows";
    t.grid = {rows, 1, 1};
    t.block = {64, 1, 1};
    t.buffers = {{"in", kBase, rows * kRowBytes}};
    return t;
  }
  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(1);
    std::array<std::uint64_t, 64> lanes{};
    for (int pass = 0; pass < 4; ++pass) {
      for (std::uint64_t at = 0; at < kRowBytes; at += 1024) {
        for (std::uint64_t lane = 0; lane < 64; ++lane) {
          lanes[lane] = kBase + index.x * kRowBytes + at + lane * 16;
        }
        if (!r.access(AccessKind::kLoad, 0, ~0ULL, lanes.data(), 16)) return;
      }
      if (!r.barrier()) return;
    }
  }
};

Launch launch_of(Trace trace, std::uint32_t blocks_per_cu) {
  Launch l;
  l.machine = synthetic::mi300x();
  l.machine.error_time = 0.05;
  l.occupancy.blocks_per_cu = blocks_per_cu;
  l.shape = {trace.grid, l.machine.dies, l.machine.cus_per_die};
  l.trace = std::move(trace);
  return l;
}

/// What the model's own sets say, as the caller of second_opinion knows it.
struct Claim {
  double speedup;
  double points;
};

std::vector<std::uint32_t> order_of(const Swizzle& swizzle, const Launch& l) {
  return verify_grid(swizzle.formula, l.shape).permutation;
}

Claim claim_of(const Launch& l, const Swizzle& swizzle) {
  const Replayer replayer(l.trace, l.machine, l.occupancy.blocks_per_cu);
  std::vector<std::uint32_t> order(replayer.num_blocks());
  for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
  const SimResult before = replayer.exact(order);
  const SimResult after = replayer.exact(order_of(swizzle, l));
  return {before.time_ms / after.time_ms, 100 * (after.l2.hit_rate() - before.l2.hit_rate())};
}

TEST(SecondOpinion, AnEscapeFromConflictsIsNamed) {
  const Launch l = launch_of(synthetic::build(Rows{8192}, 1), 4);
  const Swizzle s = make_swizzle("die-contiguous");
  const Claim claim = claim_of(l, s);
  ASSERT_GT(claim.points, 5) << "the rows no longer meet in few sets: choose another case";
  auto opinion = second_opinion(l, order_of(s, l), 1, 1);
  ASSERT_TRUE(opinion.has_value());
  doubt(*opinion, l.machine, claim.speedup, claim.points);
  EXPECT_NE(opinion->caveat.find("conflict"), std::string::npos);
  EXPECT_LT(100 * (opinion->best_hit_rate - opinion->identity_hit_rate), claim.points / 2);
}

TEST(SecondOpinion, ReuseSurvivesAnotherHash) {
  const Launch l = launch_of(synthetic::build(synthetic::Gemm{8192, 8192, 1024, 128, 8}, 1), 2);
  const Swizzle s = make_swizzle("die-contiguous+y-fastest");
  const Claim claim = claim_of(l, s);
  ASSERT_GT(claim.points, 10);
  auto opinion = second_opinion(l, order_of(s, l), 1, 1);
  ASSERT_TRUE(opinion.has_value());
  doubt(*opinion, l.machine, claim.speedup, claim.points);
  EXPECT_EQ(opinion->caveat, "");
}

TEST(SecondOpinion, HashedSetsNeedNone) {
  Launch l = launch_of(synthetic::build(synthetic::Transpose{1024}, 1), 8);
  l.machine.l2.index = SetIndex::kHashed;
  EXPECT_FALSE(second_opinion(l, order_of(make_swizzle("die-contiguous"), l), 1, 1).has_value());
}

}  // namespace
}  // namespace swizzleperf
