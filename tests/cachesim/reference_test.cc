// The replay agrees with the reference, count by count and to the last bit of time, on machines,
// streams and orders drawn at random. SWIZZLEPERF_CASES and SWIZZLEPERF_SEED ask for more.
#include "cachesim/reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/random_launch.h"

namespace swizzleperf {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

void expect_same(const SimResult& seen, const SimResult& wanted) {
  EXPECT_EQ(seen.l1.requests, wanted.l1.requests);
  EXPECT_EQ(seen.l1.hits, wanted.l1.hits);
  EXPECT_EQ(seen.l2.requests, wanted.l2.requests);
  EXPECT_EQ(seen.l2.hits, wanted.l2.hits);
  ASSERT_EQ(seen.llc.has_value(), wanted.llc.has_value());
  if (seen.llc) {
    EXPECT_EQ(seen.llc->requests, wanted.llc->requests);
    EXPECT_EQ(seen.llc->hits, wanted.llc->hits);
  }
  EXPECT_EQ(seen.hbm_read_bytes, wanted.hbm_read_bytes);
  EXPECT_EQ(seen.hbm_write_bytes, wanted.hbm_write_bytes);
  EXPECT_EQ(seen.time_ms, wanted.time_ms);
  EXPECT_EQ(seen.misses_by_buffer, wanted.misses_by_buffer);
  ASSERT_EQ(seen.per_domain.size(), wanted.per_domain.size());
  for (std::size_t d = 0; d < seen.per_domain.size(); ++d) {
    EXPECT_EQ(seen.per_domain[d].l2.requests, wanted.per_domain[d].l2.requests) << "die " << d;
    EXPECT_EQ(seen.per_domain[d].l2.hits, wanted.per_domain[d].l2.hits) << "die " << d;
    EXPECT_EQ(seen.per_domain[d].blocks, wanted.per_domain[d].blocks) << "die " << d;
    EXPECT_EQ(seen.per_domain[d].finish_ms, wanted.per_domain[d].finish_ms) << "die " << d;
  }
}

TEST(Reference, AgreesOnRandomMachinesStreamsAndOrders) {
  const std::uint64_t cases = from_environment("SWIZZLEPERF_CASES", 3000);
  const std::uint64_t first = from_environment("SWIZZLEPERF_SEED", 1);
  double hits = 0;
  double llc_hits = 0;
  double written = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    SCOPED_TRACE("SWIZZLEPERF_CASES=1 SWIZZLEPERF_SEED=" + std::to_string(seed));
    Random random(seed);
    const Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    const auto blocks_per_cu = static_cast<std::uint32_t>(1 + random.below(3));
    const auto order = synthetic::random_permutation(random, trace.blocks.size());
    const SimResult seen = Replayer(trace, machine, blocks_per_cu).exact(order);
    expect_same(seen, naive::Reference(trace, machine, blocks_per_cu).run(order));
    if (HasFailure()) return;
    hits += seen.l2.hits;
    llc_hits += seen.llc ? seen.llc->hits : 0;
    written += seen.hbm_write_bytes;
  }
  EXPECT_GT(hits, 0);  // the cases exercise what they claim to
  EXPECT_GT(llc_hits, 0);
  EXPECT_GT(written, 0);
}

/// Where no set can overflow, replaying without sets changes nothing.
TEST(Reference, RoomyReplaysAreExactOnes) {
  const std::uint64_t cases = from_environment("SWIZZLEPERF_CASES", 2000);
  const std::uint64_t first = from_environment("SWIZZLEPERF_SEED", 1);
  int roomy = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    SCOPED_TRACE("SWIZZLEPERF_CASES=1 SWIZZLEPERF_SEED=" + std::to_string(seed));
    Random random(seed);
    Machine machine = synthetic::random_machine(random);
    const Trace trace = synthetic::random_trace(random);
    for (CacheModel* cache : {&machine.l2, machine.llc ? &*machine.llc : nullptr}) {
      if (cache == nullptr || random.below(5) == 0) continue;
      cache->bytes *= 64 / cache->ways;  // more ways, as many sets
      cache->ways *= 64 / cache->ways;
    }
    const Replayer replayer(trace, machine, static_cast<std::uint32_t>(1 + random.below(3)));
    const std::optional<RoomyReplayer> small = RoomyReplayer::of(replayer);
    if (!small) continue;
    ++roomy;
    const auto order = synthetic::random_permutation(random, trace.blocks.size());
    expect_same(small->exact(order), replayer.exact(order));
    if (HasFailure()) return;
  }
  EXPECT_GT(roomy, static_cast<int>(cases / 20));
}

}  // namespace
}  // namespace swizzleperf
