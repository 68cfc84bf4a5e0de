// What must hold of any replay: nothing is lost, samples agree with the whole, and the orders that
// are known to be equal or better are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cachesim/core.h"
#include "support/random_launch.h"
#include "support/synthetic.h"
#include "swizzleperf/simulate.h"

namespace swizzleperf {
namespace {

using Order = std::vector<std::uint32_t>;
using synthetic::identity;

/// Contiguous stretches of blocks to each die: the undoing of round-robin dispatch.
Order die_contiguous(std::uint64_t blocks, std::uint32_t dies) {
  Order order(blocks);
  for (std::uint64_t p = 0; p < blocks; ++p) {
    order[p] = static_cast<std::uint32_t>(p % dies * (blocks / dies) + p / dies);
  }
  return order;
}

/// Rows in groups of `height`, column by column inside.
Order grouped(const Dim3& grid, std::uint32_t height) {
  Order order;
  for (std::uint32_t first = 0; first < grid.y; first += height) {
    for (std::uint32_t x = 0; x < grid.x; ++x) {
      for (std::uint32_t y = first; y < std::min(grid.y, first + height); ++y) {
        order.push_back(static_cast<std::uint32_t>(linear({x, y, 0}, grid)));
      }
    }
  }
  return order;
}

Order then(const Order& first, const Order& second) {
  Order order(first.size());
  for (std::size_t p = 0; p < order.size(); ++p) order[p] = second[first[p]];
  return order;
}

void expect_equal(const SimResult& a, const SimResult& b) {
  EXPECT_EQ(a.l2.requests, b.l2.requests);
  EXPECT_EQ(a.l2.hits, b.l2.hits);
  EXPECT_EQ(a.llc.has_value(), b.llc.has_value());
  if (a.llc && b.llc) EXPECT_EQ(a.llc->hits, b.llc->hits);
  EXPECT_EQ(a.hbm_bytes(), b.hbm_bytes());
  EXPECT_EQ(a.time_ms, b.time_ms);
}

/// A launch of the GEMM that fits a test: its L2s are cut down with it.
Machine small_mi300x() {
  Machine m = synthetic::mi300x();
  m.cus_per_die = 4;
  m.l2.bytes = 512 << 10;
  m.llc->bytes = 8 << 20;
  m.jitter = 0.1;
  return m;
}

// ---- conservation -------------------------------------------------------------------------------

TEST(Replay, NothingIsLost) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const LineTrace lines = make_lines(trace, machine, 2);
    const cachesim::RequestUnits units(machine.l2);
    double requests = 0;
    std::uint64_t written_bytes = 0;
    for (const BlockLines& b : lines.blocks) {
      for (const LineRequest& r : lines.templates[b.template_index].requests) {
        requests += units.of(r.kind, r.sectors);
        if (r.kind != AccessKind::kLoad) written_bytes += units.bytes[r.sectors];
      }
    }
    const Replayer replayer(trace, machine, 2);
    EXPECT_EQ(replayer.num_requests(), lines.num_requests);
    const SimResult r = replayer.exact(synthetic::random_permutation(random, trace.blocks.size()));
    EXPECT_EQ(r.l2.requests + r.merged_requests, requests);
    double domain_requests = 0;
    double domain_hits = 0;
    double blocks = 0;
    double latest = 0;
    for (const DomainCounts& d : r.per_domain) {
      EXPECT_LE(d.l2.hits, d.l2.requests);
      EXPECT_GE(d.l2.hits, 0);
      domain_requests += d.l2.requests;
      domain_hits += d.l2.hits;
      blocks += d.blocks;
      latest = std::max(latest, d.finish_ms);
    }
    EXPECT_EQ(domain_requests, r.l2.requests);
    EXPECT_EQ(domain_hits, r.l2.hits);
    EXPECT_EQ(blocks, static_cast<double>(trace.blocks.size()));
    // The last block's end, unless memory is still busy with what was left dirty.
    EXPECT_GE(r.time_ms, latest);
    if (r.time_ms > latest) EXPECT_NEAR(r.utilisation[4], 1, 1e-9);
    double misses = 0;
    for (const double m : r.misses_by_buffer) misses += m;
    EXPECT_EQ(misses, r.l2_misses());
    EXPECT_LE(r.hbm_write_bytes, static_cast<double>(written_bytes));
    EXPECT_EQ(r.hbm_write_bytes > 0, written_bytes > 0);
    for (const double share : r.utilisation) {
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1 + 1e-9);
    }
  }
}

/// Every byte of a result is written once, whatever the order.
TEST(Replay, StoresReachMemoryOnce) {
  const synthetic::Transpose transpose{512};
  const Replayer replayer(synthetic::build(transpose), small_mi300x(), 4);
  Random random(1);
  for (int i = 0; i < 3; ++i) {
    const SimResult r = replayer.exact(synthetic::random_permutation(random, 256));
    EXPECT_EQ(r.hbm_write_bytes, 512.0 * 512 * 2);
    EXPECT_GE(r.hbm_read_bytes, 512.0 * 512 * 2);
  }
}

// ---- samples ------------------------------------------------------------------------------------

TEST(Replay, ASampleOfAllSetsIsTheWhole) {
  const synthetic::Gemm gemm{1024, 1024, 256};
  for (const Machine& machine : {small_mi300x(), synthetic::mi300x()}) {
    Replayer replayer(synthetic::build(gemm), machine, 2);
    const std::size_t all = replayer.add_sample(1.0, 7, 2);
    for (const Order& order : {identity(64), die_contiguous(64, 8), grouped(gemm.grid(), 4)}) {
      const SimResult exact = replayer.exact(order);
      const SimResult sampled = replayer.sampled(all, order);
      EXPECT_TRUE(exact.exact);
      EXPECT_FALSE(sampled.exact);
      EXPECT_EQ(sampled.sampled_share, 1);
      expect_equal(exact, sampled);
    }
  }
}

TEST(Replay, SamplesAreNested) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    cachesim::Prepared prepared(machine, make_lines(synthetic::random_trace(random), machine, 1),
                                1);
    for (const LineTemplate& t : prepared.lines.templates) {
      prepared.work.push_back(cachesim::interval_work(t, machine, prepared.units));
    }
    cachesim::count_units(prepared);
    cachesim::Sample larger = cachesim::make_sample(prepared, 1.0, seed, 1);
    EXPECT_EQ(larger.sets, machine.l2.sets());
    for (const double share : {0.7, 0.5, 0.25, 0.1, 0.01}) {
      cachesim::Sample smaller = cachesim::make_sample(prepared, share, seed, 2);
      const double together =
          machine.lines_have_home != 0 ? prepared.l2_set.page_sets() : 1;  // a page's
      EXPECT_NEAR(smaller.sets, std::max(together, share * machine.l2.sets()), together / 2);
      for (std::size_t set = 0; set < smaller.compact.size(); ++set) {
        EXPECT_TRUE(smaller.compact[set] < 0 || larger.compact[set] >= 0) << "set " << set;
      }
      larger = std::move(smaller);
    }
  }
}

/// Rows that lie a power of two apart visit few residues of the set's number at a time; a sample
/// that had more of some residues than of others would charge their steps too much.
TEST(Replay, SamplesHoldEveryResidueEqually) {
  const Machine machine = synthetic::mi300x();
  cachesim::Prepared prepared(
      machine, make_lines(synthetic::build(synthetic::Gemm{64, 64, 32}), machine, 1), 1);
  cachesim::count_units(prepared);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::uint32_t sets = 8; sets <= machine.l2.sets() / 2; sets *= 2) {
      const double share = static_cast<double>(sets) / machine.l2.sets();
      const cachesim::Sample sample = cachesim::make_sample(prepared, share, seed, 1);
      std::vector<int> of_residue(sets, 0);
      for (std::size_t set = 0; set < sample.compact.size(); ++set) {
        if (sample.compact[set] >= 0) ++of_residue[set % sets];
      }
      EXPECT_EQ(of_residue, std::vector<int>(sets, 1)) << sets << " sets, seed " << seed;
    }
  }
}

TEST(Replay, SamplesDoNotDependOnThreads) {
  Replayer replayer(synthetic::build(synthetic::Gemm{1024, 1024, 128}), small_mi300x(), 2);
  const std::size_t one = replayer.add_sample(0.1, 3, 1);
  const std::size_t four = replayer.add_sample(0.1, 3, 4);
  expect_equal(replayer.sampled(one, identity(64)), replayer.sampled(four, identity(64)));
}

/// Within half a point of the exact L2 hit rate, and time near it, on orders good and bad.
TEST(Replay, SamplesAgreeWithTheWhole) {
  const synthetic::Gemm gemm{3072, 3072, 1024};
  Machine machine = synthetic::mi300x();
  machine.jitter = 0.1;
  Replayer replayer(synthetic::build(gemm), machine, 1);
  const Order contiguous = die_contiguous(gemm.grid().count(), 8);
  for (const double share : {1.0 / 16, 1.0 / 64}) {
    const std::size_t sample = replayer.add_sample(share, 1, 2);
    for (const Order& order :
         {identity(gemm.grid().count()), contiguous, then(contiguous, grouped(gemm.grid(), 6))}) {
      const SimResult exact = replayer.exact(order);
      const SimResult sampled = replayer.sampled(sample, order);
      EXPECT_NEAR(100 * sampled.l2.hit_rate(), 100 * exact.l2.hit_rate(), 0.5) << "share " << share;
      EXPECT_NEAR(sampled.time_ms / exact.time_ms, 1, 0.05) << "share " << share;
      EXPECT_NEAR(sampled.l2.requests / exact.l2.requests, 1, 1e-9);
    }
  }
}

/// A vector that all blocks share lies in few sets, of which a sample has too many or too few; what
/// the others' misses stand for must not depend on it.
TEST(Replay, AFewHotLinesDoNotSkewASample) {
  constexpr std::uint32_t kBlocks = 2048;
  constexpr std::uint32_t kLines = 16;
  constexpr std::uint64_t kX = 1 << 20;
  constexpr std::uint64_t kGamma = 1 << 30;
  Trace t;
  t.grid = {kBlocks, 1, 1};
  t.buffers = {{"x", kX, std::uint64_t{kBlocks} * kLines * 128}, {"gamma", kGamma, 512}};
  t.patterns = {{{0, 128}}};
  Template block{{}, {}, {0, 1}};
  for (std::uint32_t i = 0; i < kLines; ++i) {
    block.events.push_back({i * 128, 0, 0, AccessKind::kLoad});
    block.events.push_back({i % 4 * 128, 0, 1, AccessKind::kLoad});
  }
  block.intervals = {{2 * kLines, false, {}}};
  t.templates = {block};
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    t.blocks.push_back({0, t.anchors.size()});
    t.anchors.push_back(static_cast<std::int64_t>(kX + std::uint64_t{b} * kLines * 128));
    t.anchors.push_back(kGamma);
  }
  Machine machine = synthetic::mi300x();
  machine.l1.bytes = 128;  // which would keep the vector from L2
  machine.l1.ways = 1;
  Replayer replayer(t, machine, 1);
  const SimResult exact = replayer.exact(identity(kBlocks));
  ASSERT_GT(exact.l2.hit_rate(), 0.2);
  ASSERT_LT(exact.l2.hit_rate(), 0.8);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const SimResult r = replayer.sampled(replayer.add_sample(0.1, seed, 1), identity(kBlocks));
    EXPECT_NEAR(r.hbm_read_bytes / exact.hbm_read_bytes, 1, 0.02) << "seed " << seed;
    EXPECT_NEAR(r.l2.hit_rate(), exact.l2.hit_rate(), 0.02) << "seed " << seed;
  }
}

/// A sample of sets that a launch never uses knows nothing: no requests, and no numbers made of it.
TEST(Replay, ASampleThatCatchesNothing) {
  Trace t;
  t.grid = {1, 1, 1};
  t.buffers = {{"a", 1 << 20, 256}};
  t.patterns = {{{0, 4}}};
  t.templates = {{{{0, 0, 0, AccessKind::kLoad}}, {{1, false, {}}}, {0}}, {}};
  t.anchors = {1 << 20};
  t.blocks = {{0, 0}};
  Replayer replayer(t, synthetic::mi300x(), 1);
  bool caught_nothing = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::size_t sample = replayer.add_sample(0.001, seed, 0);
    const SimResult r = replayer.sampled(sample, identity(1));
    caught_nothing = caught_nothing || r.l2.requests == 0;
    EXPECT_TRUE(std::isfinite(r.l2.requests));
    EXPECT_TRUE(std::isfinite(r.time_ms));
    EXPECT_TRUE(std::isfinite(r.hbm_bytes()));
    EXPECT_TRUE(std::isfinite(r.l2.hit_rate()));
  }
  EXPECT_TRUE(caught_nothing);
  t.blocks = {{1, 0}};  // nor has a launch without any access
  Replayer nothing(t, synthetic::mi300x(), 1);
  const SimResult r = nothing.sampled(nothing.add_sample(0.1, 1, 1), identity(1));
  EXPECT_EQ(r.l2.requests, 0);
  EXPECT_EQ(r.time_ms, 0);
}

// ---- orders -------------------------------------------------------------------------------------

TEST(Replay, EqualInputsGiveEqualResults) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const Order order = synthetic::random_permutation(random, trace.blocks.size());
    expect_equal(Replayer(trace, machine, 2).exact(order),
                 Replayer(trace, machine, 2).exact(order));
  }
}

/// What block is computed where is all that counts: a relabelled launch under the relabelled order
/// is the same launch.
TEST(Replay, LabelsDoNotMatter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const Order order = synthetic::random_permutation(random, trace.blocks.size());
    Trace relabelled = trace;
    for (std::size_t p = 0; p < order.size(); ++p) relabelled.blocks[p] = trace.blocks[order[p]];
    expect_equal(Replayer(trace, machine, 2).exact(order),
                 Replayer(relabelled, machine, 2).exact(identity(order.size())));
  }
}

/// With one die, round robin over dies is a queue.
TEST(Replay, OneDieHasOneQueue) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine machine = synthetic::random_machine(random);
    machine.dies = 1;
    machine.lines_have_home = 0;  // which goes with a single queue only
    const Trace trace = synthetic::random_trace(random);
    const Order order = synthetic::random_permutation(random, trace.blocks.size());
    machine.dispatch = Dispatch::kRoundRobinPerDie;
    const SimResult per_die = Replayer(trace, machine, 2).exact(order);
    machine.dispatch = Dispatch::kSingleQueue;
    expect_equal(per_die, Replayer(trace, machine, 2).exact(order));
  }
}

/// Dies without a last level behind share nothing but memory: with memory out of the way, each does
/// with its blocks what a machine of one such die does.
TEST(Replay, DiesAreIndependent) {
  const synthetic::Gemm gemm{1024, 1024, 128};
  Machine machine = small_mi300x();
  machine.llc.reset();
  machine.hbm_bytes_per_ns = 1e12;
  machine.jitter = 0;
  const Trace trace = synthetic::build(gemm);
  const Order order = die_contiguous(64, 8);
  const SimResult all = Replayer(trace, machine, 1).exact(order);
  machine.dies = 1;
  for (std::uint32_t die = 0; die < 8; ++die) {
    Trace part = trace;
    part.grid = {8, 1, 1};
    part.blocks.clear();
    for (std::size_t p = die; p < 64; p += 8) part.blocks.push_back(trace.blocks[order[p]]);
    const SimResult one = Replayer(part, machine, 1).exact(identity(8));
    EXPECT_EQ(one.l2.hits, all.per_domain[die].l2.hits);
    EXPECT_NEAR(one.time_ms, all.per_domain[die].finish_ms, 1e-9);
  }
}

/// LRU of more ways contains LRU of fewer. Time is taken out: one slot, so one order of requests.
TEST(Replay, MoreWaysNeverLoseAHit) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Machine machine = synthetic::random_machine(random);
    machine.dies = machine.cus_per_die = 1;
    machine.llc.reset();
    machine.l2.index = SetIndex::kBits;
    const Trace trace = synthetic::random_trace(random);
    const Order order = synthetic::random_permutation(random, trace.blocks.size());
    double hits = -1;
    for (std::uint32_t ways = 1; ways <= 64; ways += ways < 20 ? 1 : 11) {
      machine.l2.ways = ways;
      machine.l2.bytes = std::uint64_t{machine.l2.line_bytes} * ways;
      const SimResult r = Replayer(trace, machine, 1).exact(order);
      EXPECT_GE(r.l2.hits, hits) << ways << " ways";
      hits = r.l2.hits;
    }
  }
}

/// The reason for all this: blocks in flight on one die that form a square share the most. 33
/// columns dealt to 8 dies one by one scatter each die's blocks over all of them.
TEST(Replay, DieContiguousOrderHelpsGemm) {
  const synthetic::Gemm gemm{128 * 32, 128 * 33, 256};
  const std::uint64_t blocks = gemm.grid().count();
  const Replayer replayer(synthetic::build(gemm), synthetic::mi300x(), 1);
  const SimResult plain = replayer.exact(identity(blocks));
  const SimResult better = replayer.exact(then(die_contiguous(blocks, 8), grouped(gemm.grid(), 6)));
  EXPECT_LT(better.l2_misses(), 0.75 * plain.l2_misses());
}

TEST(Replay, BoundIsTheBusiestLevel) {
  const Trace trace = synthetic::build(synthetic::Gemm{1024, 1024, 256});
  const auto bound = [&](const Machine& machine) {
    return Replayer(trace, machine, 2).exact(identity(64)).bound;
  };
  Machine slow_compute = small_mi300x();
  slow_compute.matrix_flops_per_clk = 16;
  EXPECT_EQ(bound(slow_compute), Bound::kCompute);
  Machine slow_l2 = small_mi300x();
  slow_l2.l2.bytes_per_clk = 1;
  EXPECT_EQ(bound(slow_l2), Bound::kL2);
  Machine slow_fabric = small_mi300x();
  slow_fabric.fabric_bytes_per_clk = 0.5;
  EXPECT_EQ(bound(slow_fabric), Bound::kFabric);
  Machine slow_llc = small_mi300x();
  slow_llc.llc->bytes_per_clk = 0.5;
  EXPECT_EQ(bound(slow_llc), Bound::kLastLevel);
  Machine slow_memory = small_mi300x();
  slow_memory.hbm_bytes_per_ns = 0.5;
  EXPECT_EQ(bound(slow_memory), Bound::kMemory);
  Machine slow_dispatch = small_mi300x();
  slow_dispatch.dispatch_interval_ns = 1e6;
  EXPECT_EQ(bound(slow_dispatch), Bound::kDispatch);
  const SimResult handed_out = Replayer(trace, slow_dispatch, 2).exact(identity(64));
  EXPECT_NEAR(handed_out.time_ms * 1e6, least_dispatch_ns(slow_dispatch, 64),
              2 * slow_dispatch.dispatch_interval_ns);
  Machine far_memory = small_mi300x();
  far_memory.l2.latency_ns = far_memory.llc->latency_ns = far_memory.hbm_latency_ns = 1e6;
  EXPECT_EQ(bound(far_memory), Bound::kLatency);
}

}  // namespace
}  // namespace swizzleperf
