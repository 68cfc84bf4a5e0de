// Misses are classified as swizzleperf/classify.h defines it: against sets and lists, on the
// look-ups of the reference replay.
#include "swizzleperf/classify.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <set>

#include "cachesim/associative.h"
#include "cachesim/reference.h"
#include "support/random_launch.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

using Sectors = std::map<std::uint64_t, std::uint32_t>;  // line -> sectors

/// Units of a request that miss a cache with these sectors of its line.
double missed(const Machine& m, const naive::Request& r, std::uint32_t present) {
  const std::uint32_t missing = r.sectors & ~present;
  if (r.kind == AccessKind::kLoad) return naive::pieces(missing, m.l2.read_request_bytes);
  if (r.kind == AccessKind::kStore) return present == 0 ? m.l2.store_misses : 0;
  return missing == 0 ? 0 : naive::pieces(r.sectors, m.l2.write_request_bytes);
}

/// Bytes that come; where lines have a home, whole pieces.
double fetched(const Machine& m, const naive::Request& r, std::uint32_t present) {
  const std::uint32_t missing = r.sectors & ~present;
  if (r.kind == AccessKind::kStore) return 0;
  if (m.lines_have_home == 0) return naive::sector_bytes(missing);
  return naive::pieces(missing, m.l2.fill_bytes) * std::min(m.l2.fill_bytes, m.l2.line_bytes);
}

struct Wanted {
  std::vector<ArrayMisses> arrays;
  double associative_misses = 0;
  double written_bytes = 0;
};

Wanted classify_naively(const Trace& trace, const Machine& m,
                        const std::vector<naive::LookUp>& look_ups) {
  Wanted wanted;
  wanted.arrays.resize(trace.buffers.size());
  Sectors by_any;
  Sectors written;
  std::vector<Sectors> by_die(m.dies);
  std::vector<naive::LruCache> associative(m.dies, {std::size_t{m.l2.sets()} * m.l2.ways, {}});
  for (const naive::LookUp& l : look_ups) {
    const naive::Request& r = l.request;
    naive::Line out;
    const std::uint32_t held =
        associative[l.die].access(0, static_cast<std::uint32_t>(r.line), r.sectors, false, out);
    const std::uint32_t present[] = {by_any[r.line], by_die[l.die][r.line], held, 0};
    by_any[r.line] |= r.sectors;
    by_die[l.die][r.line] |= r.sectors;
    if (!l.counts) continue;
    if (r.kind != AccessKind::kLoad) written[r.line] |= r.sectors;
    ArrayMisses& array = wanted.arrays[r.buffer];
    array.requests +=
        naive::pieces(r.sectors, r.kind == AccessKind::kLoad ? m.l2.read_request_bytes
                                                             : m.l2.write_request_bytes);
    wanted.associative_misses += missed(m, r, held);
    MissTally before;
    for (std::size_t c = 0; c < kMissClasses; ++c) {
      const MissTally all = {missed(m, r, l.before | present[c]),
                             fetched(m, r, l.before | present[c])};
      array.by_class[c] += {all.requests - before.requests, all.bytes - before.bytes};
      before = all;
    }
  }
  for (const auto& [line, sectors] : written) wanted.written_bytes += naive::sector_bytes(sectors);
  return wanted;
}

/// Sums, too: they are the replay's own counts, which the reference test checks.
void expect_adds_up(const Classified& seen) {
  const SimResult& r = seen.result;
  EXPECT_EQ(seen.total().requests, r.l2.requests);
  EXPECT_EQ(seen.total().misses().requests, r.l2_misses());
  for (std::size_t a = 0; a < seen.arrays.size(); ++a) {
    EXPECT_EQ(seen.arrays[a].misses().requests, r.misses_by_buffer[a]);
    for (const MissTally& t : seen.arrays[a].by_class) {
      EXPECT_GE(t.requests, 0);
      EXPECT_GE(t.bytes, 0);
    }
  }
}

TEST(Classify, AgreesWithTheDefinitionOnRandomLaunches) {
  std::array<double, kMissClasses> met{};
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const auto blocks_per_cu = static_cast<std::uint32_t>(1 + random.below(3));
    const auto order = synthetic::random_permutation(random, trace.blocks.size());
    const Replayer replayer(trace, machine, blocks_per_cu);
    const Classified seen = classify(replayer, order);
    naive::Reference reference(trace, machine, blocks_per_cu);
    reference.run(order);
    const Wanted wanted = classify_naively(trace, machine, reference.look_ups());
    for (std::size_t a = 0; a < trace.buffers.size(); ++a) {
      EXPECT_EQ(seen.arrays[a].requests, wanted.arrays[a].requests) << "array " << a;
      for (std::size_t c = 0; c < kMissClasses; ++c) {
        const MissTally& tally = wanted.arrays[a].by_class[c];
        EXPECT_EQ(seen.arrays[a].by_class[c].requests, tally.requests) << a << ' ' << c;
        EXPECT_EQ(seen.arrays[a].by_class[c].bytes, tally.bytes) << a << ' ' << c;
        met[c] += tally.requests;
      }
    }
    EXPECT_EQ(seen.associative_misses, wanted.associative_misses);
    EXPECT_EQ(seen.written_bytes, wanted.written_bytes);
    expect_adds_up(seen);
    EXPECT_EQ(seen.result.time_ms, replayer.exact(order).time_ms);
    if (HasFailure()) return;
  }
  for (const double requests : met) EXPECT_GT(requests, 0);  // every class was met
}

/// The log is compacted, lines come back, slots move up: long streams over few and many lines.
TEST(Classify, AssociativeCacheIsLru) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto lines = static_cast<std::uint32_t>(1 + random.below(seed % 2 == 0 ? 8 : 200));
    cachesim::AssociativeCache cache(lines);
    naive::LruCache reference{lines, {}};
    const std::uint64_t range = 1 + random.below(3 * lines);
    const std::uint32_t stride = synthetic::one_of(random, {1U, 128U, 65536U});
    for (int i = 0; i < 3000; ++i) {
      const auto line = static_cast<std::uint32_t>(random.below(range)) * stride;
      const auto sectors = static_cast<std::uint8_t>(1 + random.below(15));
      naive::Line out;
      ASSERT_EQ(cache.access(line, sectors), reference.access(0, line, sectors, false, out)) << i;
    }
  }
}

std::vector<Padding> random_paddings(Random& random, const Trace& trace, std::uint64_t line_bytes) {
  std::vector<Padding> paddings;
  for (std::uint32_t b = 0; b < trace.buffers.size(); ++b) {
    if (synthetic::coin(random)) continue;
    paddings.push_back({b, line_bytes * (1 + random.below(9)), line_bytes * (1 + random.below(3))});
  }
  return paddings;
}

/// Padding moves lines and nothing else: requests, and what is asked for at all, stay.
TEST(Classify, PaddingKeepsWhatIsAskedFor) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const auto order = synthetic::random_permutation(random, trace.blocks.size());
    const Replayer replayer(trace, machine, 2);
    const Classified plain = classify(replayer, order);
    const Classified padded =
        classify(replayer, order, random_paddings(random, trace, machine.l2.line_bytes));
    expect_adds_up(padded);
    if (machine.merge_groups_per_die == 0) {
      EXPECT_EQ(padded.total().requests, plain.total().requests);
    }
    EXPECT_EQ(padded.written_bytes, plain.written_bytes);
  }
}

/// What padding is for: columns of a power-of-two stride meet in few sets, and no longer do when
/// every row is a line longer.
TEST(Classify, PaddingCuresConflicts) {
  Machine machine = synthetic::mi300x();
  machine.dies = 1;
  machine.l2.bytes = 1 << 20;
  const Trace trace = synthetic::build(synthetic::Transpose{4096});
  const auto order = synthetic::identity(trace.blocks.size());
  const Replayer replayer(trace, machine, 8);
  const Classified plain = classify(replayer, order);
  const std::vector<Padding> paddings = {{0, 8192, 128}, {1, 8192, 128}};
  const Classified padded = classify(replayer, order, paddings);
  expect_adds_up(plain);
  expect_adds_up(padded);
  const double conflicts = plain.total().of(MissClass::kConflict).requests;
  EXPECT_GT(conflicts, 1000);
  EXPECT_LT(padded.total().of(MissClass::kConflict).requests, conflicts / 4);
}

/// One die, one pass over an array that fits: every miss is the first touch.
TEST(Classify, FirstTouchesAreCompulsory) {
  Machine machine = synthetic::mi300x();
  machine.dies = 1;
  const Trace trace = synthetic::build(synthetic::Gemm{512, 512, 256});
  const Replayer replayer(trace, machine, 1);
  const Classified seen = classify(replayer, synthetic::identity(trace.blocks.size()));
  const MissTally compulsory = seen.total().of(MissClass::kCompulsory);
  EXPECT_EQ(compulsory.requests, seen.result.l2_misses());
  EXPECT_EQ(compulsory.bytes, 2 * 512 * 256 * 2.0);  // A and B once; C is stored
  EXPECT_EQ(seen.written_bytes, 512 * 512 * 2.0);
}

/// The same on eight dies: each fetches for itself what another has had.
TEST(Classify, OtherDiesCopiesAreSharingLost) {
  const Trace trace = synthetic::build(synthetic::Gemm{512, 512, 256});
  const Replayer replayer(trace, synthetic::mi300x(), 1);
  const Classified seen = classify(replayer, synthetic::identity(trace.blocks.size()));
  const ArrayMisses total = seen.total();
  EXPECT_EQ(total.of(MissClass::kCompulsory).bytes, 2 * 512 * 256 * 2.0);
  EXPECT_EQ(total.of(MissClass::kCapacity).requests, 0);
  // 4 x 4 tiles to 8 dies in turn: A's 4 panels go to 4 dies each, B's 4 to 2 each.
  EXPECT_EQ(total.of(MissClass::kSharing).bytes, (3 + 1) * 512 * 256 * 2.0);
}

}  // namespace
}  // namespace swizzleperf
