// The recorder against sets of bytes, and its merging of waves against the words of recorder.h.
#include "trace/recorder.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "base/random.h"
#include "support/random_launch.h"

namespace swizzleperf {
namespace {

using Lanes = std::array<std::uint64_t, 64>;

/// Shapes of 64 lane addresses as kernels make them, and some that none would.
Lanes random_lanes(Random& random, std::uint32_t bytes) {
  Lanes lanes{};
  const std::uint64_t base = (1ULL << 40) + random.below(4096);
  const std::uint64_t shape = random.below(7);
  const std::uint64_t stride = 1 + random.below(4 * bytes);
  for (std::uint64_t i = 0; i < lanes.size(); ++i) {
    switch (shape) {
      case 0:  // dense or strided, ascending
        lanes[i] = base + i * stride;
        break;
      case 1:  // the same, descending
        lanes[i] = base + (lanes.size() - i) * stride;
        break;
      case 2:  // all at one place
        lanes[i] = base;
        break;
      case 3:  // rows far apart
        lanes[i] = base + i / 8 * 65536 + i % 8 * bytes;
        break;
      case 4:  // anywhere near, overlapping
        lanes[i] = base + random.below(512);
        break;
      case 5:  // anywhere within 40 GiB: several events
        lanes[i] = base + random.below(40ULL << 30);
        break;
      default:  // just below, at and above what one pattern can span
        lanes[i] = base + i % 3 * ((1ULL << 32) - 2 * bytes + random.below(4 * bytes));
        break;
    }
  }
  return lanes;
}

/// Maximal runs of the bytes that the lanes touch, as begin -> size.
std::map<std::uint64_t, std::uint64_t> runs_of(const std::set<std::uint64_t>& bytes) {
  std::map<std::uint64_t, std::uint64_t> runs;
  for (const std::uint64_t b : bytes) {
    if (!runs.empty() && runs.rbegin()->first + runs.rbegin()->second == b) {
      ++runs.rbegin()->second;
    } else {
      runs[b] = 1;
    }
  }
  return runs;
}

TEST(Recorder, AccessTouchesTheBytesOfItsLanes) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto bytes = synthetic::one_of(random, {1U, 2U, 4U, 8U, 12U, 16U});
    const Lanes lanes = random_lanes(random, bytes);
    std::uint64_t mask = random.next();
    if (synthetic::coin(random)) mask = ~0ULL >> random.below(64);
    PatternTable patterns;
    BlockRecorder recorder(patterns);
    recorder.begin(1);
    ASSERT_TRUE(recorder.access(AccessKind::kLoad, 0, mask, lanes.data(), bytes));
    const RawBlock& block = recorder.finish();

    std::set<std::uint64_t> wanted;
    for (std::uint32_t i = 0; i < 64; ++i) {
      for (std::uint32_t b = 0; b < bytes && (mask >> i & 1) != 0; ++b) wanted.insert(lanes[i] + b);
    }
    std::set<std::uint64_t> seen;
    for (const RawEvent& e : block.events) {
      const Pattern& p = patterns.patterns()[e.pattern];
      ASSERT_FALSE(p.empty());
      EXPECT_EQ(p.front().begin, 0U);
      for (std::size_t r = 0; r < p.size(); ++r) {
        EXPECT_GT(p[r].size, 0U);
        EXPECT_LE(std::uint64_t{p[r].begin} + p[r].size, 0xffffffffULL);
        if (r > 0) EXPECT_GT(p[r].begin, p[r - 1].begin + p[r - 1].size);
        for (std::uint64_t b = 0; b < p[r].size; ++b) seen.insert(e.address + p[r].begin + b);
      }
    }
    ASSERT_EQ(seen, wanted);
    if (!wanted.empty() && *wanted.rbegin() - *wanted.begin() < 0xffffffffULL) {
      ASSERT_EQ(block.events.size(), 1U);  // one instruction is one event where 4 GiB suffice
      EXPECT_EQ(patterns.patterns()[block.events[0].pattern].size(), runs_of(wanted).size());
    }
    EXPECT_EQ(block.events.empty(), wanted.empty());
  }
}

TEST(Recorder, EqualFootprintsShareAPattern) {
  PatternTable patterns;
  EXPECT_EQ(patterns.intern({{0, 16}}), 0U);
  EXPECT_EQ(patterns.intern({{0, 16}, {32, 16}}), 1U);
  EXPECT_EQ(patterns.intern({{0, 32}}), 2U);
  EXPECT_EQ(patterns.intern({{0, 16}}), 0U);
  EXPECT_EQ(patterns.intern({{0, 16}, {32, 16}}), 1U);
  EXPECT_EQ(patterns.patterns().size(), 3U);
}

bool load(BlockRecorder& recorder, std::uint32_t wave, std::uint64_t address) {
  const Lanes lanes = {address};
  return recorder.access(AccessKind::kLoad, wave, 1, lanes.data(), 4);
}

/// Random work of random waves between barriers; what must come out is worked out beside it: the
/// i-th events of all waves, in order of waves, before the i+1-th of any; intervals of at most 64
/// events; each stretch's cost spread over its intervals.
TEST(Recorder, MergesWavesRoundRobinAndCutsIntervals) {
  PatternTable patterns;
  BlockRecorder recorder(patterns);  // reused from block to block, as a thread does
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto waves = static_cast<std::uint32_t>(1 + random.below(16));
    recorder.begin(waves);
    std::vector<std::uint64_t> wanted;
    struct Stretch {
      std::size_t event_end;
      bool barrier;
      double instructions;
    };
    std::vector<Stretch> stretches;
    std::uint64_t address = 1 << 20;
    for (std::uint64_t left = random.below(5) + 1; left > 0; --left) {
      std::vector<std::vector<std::uint64_t>> by_wave(waves);
      double instructions = 0;
      for (std::uint32_t w = 0; w < waves; ++w) {  // one wave after the other, as interpreted
        for (std::uint64_t n = random.below(40); n > 0; --n) {
          ASSERT_TRUE(load(recorder, w, address));
          by_wave[w].push_back(address);
          address += 64;
          recorder.cost({.instructions = 4});
          instructions += 4;
        }
      }
      for (std::size_t i = 0; i < 40; ++i) {
        for (const auto& events : by_wave) {
          if (i < events.size()) wanted.push_back(events[i]);
        }
      }
      const bool barrier = left > 1 || synthetic::coin(random);
      if (barrier) ASSERT_TRUE(recorder.barrier());
      stretches.push_back({wanted.size(), barrier, instructions});
    }
    const RawBlock& block = recorder.finish();
    ASSERT_EQ(block.events.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(block.events[i].address, wanted[i]);

    std::size_t at = 0;
    std::uint32_t begin = 0;
    for (const Stretch& stretch : stretches) {
      const std::uint32_t first = begin;
      double instructions = 0;
      bool barrier = false;
      while (at < block.intervals.size() && !barrier &&
             (begin < stretch.event_end || stretch.barrier)) {
        const Interval& i = block.intervals[at++];
        EXPECT_LE(i.event_end - begin, 64U);
        if (i.event_end < stretch.event_end) EXPECT_EQ(i.event_end - begin, 64U);
        EXPECT_LE(i.event_end, stretch.event_end);
        begin = i.event_end;
        barrier = i.barrier;
        instructions += i.cost.instructions;
      }
      EXPECT_EQ(begin, stretch.event_end) << "from " << first;
      EXPECT_EQ(barrier, stretch.barrier);
      EXPECT_NEAR(instructions, stretch.instructions, 1e-9 * stretch.instructions);
    }
    EXPECT_EQ(at, block.intervals.size());
  }
}

TEST(Recorder, KeepsWorkAfterTheLastAccess) {
  PatternTable patterns;
  BlockRecorder recorder(patterns);
  recorder.begin(1);
  EXPECT_TRUE(recorder.finish().intervals.empty());
  recorder.begin(1);
  ASSERT_TRUE(load(recorder, 0, 4096));
  ASSERT_TRUE(recorder.barrier());
  recorder.cost({.vector_ops = 7});
  const RawBlock& block = recorder.finish();
  ASSERT_EQ(block.intervals.size(), 2U);
  EXPECT_EQ(block.intervals[1], (Interval{1, false, {.vector_ops = 7}}));
}

TEST(Recorder, StopsAtTheBarrierAfterEnoughOrAtFourTimesAsMuch) {
  PatternTable patterns;
  BlockRecorder recorder(patterns);
  recorder.stop_after(8);
  recorder.begin(1);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(load(recorder, 0, 4096));
  EXPECT_TRUE(recorder.barrier());  // seven are not enough
  ASSERT_TRUE(load(recorder, 0, 4096));
  EXPECT_FALSE(recorder.barrier());
  EXPECT_EQ(recorder.finish().events.size(), 8U);

  recorder.begin(1);  // no barrier comes
  for (int i = 1; i < 32; ++i) ASSERT_TRUE(load(recorder, 0, 4096)) << i;
  EXPECT_FALSE(load(recorder, 0, 4096));
  EXPECT_EQ(recorder.finish().events.size(), 32U);

  recorder.stop_after(0);  // never
  recorder.begin(1);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(load(recorder, 0, 4096));
  EXPECT_TRUE(recorder.barrier());
}

}  // namespace
}  // namespace swizzleperf
