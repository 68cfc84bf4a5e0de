// The search against launches small enough to try everything.
#include "propose/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "propose/space.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

struct Setting {
  Trace trace;
  Machine machine = synthetic::mi300x();
  Replayer replayer;
  LaunchShape shape;

  explicit Setting(const synthetic::Gemm& gemm)
      : trace(synthetic::build(gemm)),
        replayer(trace, machine, 2),
        shape{trace.grid, machine.dies, machine.cus_per_die} {}

  [[nodiscard]] SimResult exact(const std::string& spec) const {
    return replayer.exact(permutation_of(spec, shape));
  }
};

// A small L2, so that a small launch has something to gain.
Setting small_gemm(std::uint64_t group) {
  Setting s({.m = 2048, .n = 2048, .k = 512, .tile = 128, .group = group});
  s.machine.cus_per_die = 4;
  s.machine.l2.bytes = 256 << 10;
  s.shape.cus_per_xcd = 4;
  s.replayer = Replayer(s.trace, s.machine, 1);
  return s;
}

SearchResult run(Setting& s, unsigned threads, const Ranking& ranking,
                 const std::vector<std::string>& extra = {}, std::size_t alternatives = 0) {
  const std::vector<Rung> rungs = plan_rungs(s.replayer);
  std::vector<std::size_t> samples(rungs.size());
  for (std::size_t i = rungs.size(); i-- > 0;) {
    if (rungs[i].share < 1) samples[i] = s.replayer.add_sample(rungs[i].share, 1, threads);
  }
  SearchHooks hooks;
  hooks.evaluate = [&](const Candidate& c, std::size_t rung) {
    const auto order = permutation_of(c.spec, s.shape);
    const auto part = std::span(order).first(rungs[rung].blocks);
    return score_of(rungs[rung].share >= 1
                        ? s.replayer.exact(part)
                        : s.replayer.sampled(samples[rung], part, rungs[rung].dies));
  };
  return search({s.shape, ranking, extra, threads, alternatives}, rungs, hooks);
}

TEST(Search, FindsNoFewerMissesThanAnyDieContiguousGroupedOrder) {
  for (const std::uint64_t group : {1, 8}) {
    Setting s = small_gemm(group);
    const SearchResult result = run(s, 2, {Objective::kL2, 0});
    ASSERT_FALSE(result.finalists.empty());
    const double best = s.exact(result.finalists[0].candidate.spec).l2_misses();
    for (int height = 1; height <= 16; ++height) {
      const std::string expert = "die-contiguous+grouped:height=" + std::to_string(height);
      EXPECT_LE(best, s.exact(expert).l2_misses()) << expert << ", group " << group;
    }
  }
}

TEST(Search, AlternativesAreOfOtherKindsFirst) {
  Setting s = small_gemm(1);
  const SearchResult without = run(s, 2, {});
  const SearchResult with = run(s, 2, {}, {}, 12);
  EXPECT_TRUE(without.alternatives.empty());
  ASSERT_EQ(with.finalists.size(), without.finalists.size());
  for (std::size_t i = 0; i < with.finalists.size(); ++i) {
    EXPECT_EQ(with.finalists[i].candidate.spec, without.finalists[i].candidate.spec);
  }
  ASSERT_EQ(with.alternatives.size(), 12U);
  // No kind comes once more while another has been there less often, and nothing comes twice.
  std::map<std::string, int> times;
  std::set<std::uint64_t> hashes;
  for (const Ranked& r : with.finalists) {
    ++times[kind_of(r.candidate.spec)];
    hashes.insert(r.candidate.hash);
  }
  std::set<std::string> kinds;
  for (const Ranked& r : with.alternatives) kinds.insert(kind_of(r.candidate.spec));
  EXPECT_GE(kinds.size(), 5U);
  int most = 0;
  for (const Ranked& r : with.alternatives) {
    const int before = times[kind_of(r.candidate.spec)]++;
    EXPECT_GE(before, most) << r.candidate.spec;
    most = std::max(most, before);
    EXPECT_TRUE(hashes.insert(r.candidate.hash).second) << r.candidate.spec;
  }
}

TEST(Search, KindsAreWalks) {
  EXPECT_EQ(kind_of("grouped:height=4"), "bands along y");
  EXPECT_EQ(kind_of("die-contiguous+cutlass-3:tile=2,axis=y"), "bands along y");
  EXPECT_EQ(kind_of("chunked:chunk=4+grouped:height=4,axis=x"), "bands along x");
  EXPECT_EQ(kind_of("chunked:chunk=4+hilbert:bits=3"), kind_of("morton"));
  EXPECT_EQ(kind_of("snake:axis=x"), "snake along x");
  EXPECT_EQ(kind_of("die-contiguous"), "die-contiguous");
  EXPECT_NE(kind_of("chunked:chunk=4"), kind_of("die-contiguous"));
  // Every family that the search enumerates has one.
  for (const std::string& spec : enumerate_swizzles({{.x = 64, .y = 64}, 8, 38})) {
    EXPECT_FALSE(kind_of(spec).empty()) << spec;
  }
}

TEST(Search, IsTheSameForAnyNumberOfThreads) {
  Setting a = small_gemm(8);
  Setting b = small_gemm(8);
  const SearchResult one = run(a, 1, {});
  const SearchResult four = run(b, 4, {});
  ASSERT_EQ(one.finalists.size(), four.finalists.size());
  for (std::size_t i = 0; i < one.finalists.size(); ++i) {
    EXPECT_EQ(one.finalists[i].candidate.spec, four.finalists[i].candidate.spec);
    EXPECT_EQ(one.finalists[i].score.time_ms, four.finalists[i].score.time_ms);
  }
  EXPECT_EQ(one.candidates, four.candidates);
}

TEST(Search, SaysWhyACandidateIsNotReplayed) {
  Setting s = small_gemm(8);
  const SearchResult result =
      run(s, 2, {}, {"pid = pid % 64;", "pid = pid;", "die-contiguous", "pid = pid +;"});
  const auto reason = [&](const std::string& spec) -> std::string {
    for (const Refused& r : result.refused) {
      if (r.spec == spec) return r.reason;
    }
    return "";
  };
  EXPECT_EQ(reason("pid = pid % 64;"), "not a bijection on this launch");
  EXPECT_EQ(reason("pid = pid;"), "the identity");
  EXPECT_NE(reason("pid = pid +;").find("1:"), std::string::npos);
}

TEST(Search, EachPermutationIsReplayedOnceARung) {
  Setting s = small_gemm(1);
  const std::vector<Rung> rungs = plan_rungs(s.replayer);
  std::map<std::pair<std::uint64_t, std::size_t>, int> calls;
  std::mutex mutex;
  SearchHooks hooks;
  hooks.evaluate = [&](const Candidate& c, std::size_t rung) {
    const std::lock_guard lock(mutex);
    ++calls[{c.hash, rung}];
    return Score{1.0 + static_cast<double>(c.hash % 1000), 1000, static_cast<double>(c.hash % 999),
                 1};
  };
  const SearchResult result = search({s.shape, {}, {}, 2}, rungs, hooks);
  for (const auto& [key, times] : calls) EXPECT_EQ(times, 1) << key.first;
  EXPECT_GT(calls.size(), result.finalists.size());
}

TEST(Ranking, TimesWithinTheTieAreDecidedByMisses) {
  std::vector<Ranked> r = {{{"slow", 1}, {2.0, 100, 1, 1}},
                           {{"fast", 2}, {1.0, 100, 50, 1}},
                           {{"tied", 3}, {1.02, 100, 20, 1}}};
  rank(r, {Objective::kTime, 0.025});
  EXPECT_EQ(r[0].candidate.spec, "tied");
  EXPECT_EQ(r[1].candidate.spec, "fast");
  EXPECT_EQ(r[2].candidate.spec, "slow");
  rank(r, {Objective::kTime, 0.01});
  EXPECT_EQ(r[0].candidate.spec, "fast");
  rank(r, {Objective::kL2, 0});
  EXPECT_EQ(r[0].candidate.spec, "slow");
}

}  // namespace
}  // namespace swizzleperf
