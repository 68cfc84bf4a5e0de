// What counts as a gain, and what becomes of candidates that were refused or not compared.
#include "measure/choose.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/statistics.h"
#include "measure/rounds.h"

namespace swizzleperf::measure {
namespace {

/// A candidate of every name in order, the way a bundle numbers them.
Bundle bundle_of(std::size_t count) {
  Bundle b;
  for (std::size_t i = 1; i <= count; ++i) {
    Candidate c;
    c.number = static_cast<int>(i);
    c.spec = "order" + std::to_string(i);
    b.candidates.push_back(c);
  }
  return b;
}

Measured timed(int number, double speedup, double half, Status status = Status::kMeasured) {
  Measured m;
  m.number = number;
  m.status = status;
  m.speedup = Estimate{speedup, speedup - half, speedup + half};
  m.milliseconds = Estimate{1 / speedup, 0.9 / speedup, 1.1 / speedup};
  return m;
}

Results results_of(std::vector<Measured> candidates) {
  Results r;
  r.original.milliseconds = Estimate{1, 0.99, 1.01};
  r.candidates = std::move(candidates);
  return r;
}

TEST(Choose, TakesTheFastestThatIsFasterBeyondDoubt) {
  Results r = results_of({timed(1, 1.2, 0.01), timed(2, 1.5, 0.01), timed(3, 0.9, 0.01)});
  choose(r, bundle_of(3));
  EXPECT_EQ(r.best, 2);
  EXPECT_NE(r.verdict.find("order2"), std::string::npos) << r.verdict;
  EXPECT_NE(r.verdict.find("1.500x"), std::string::npos) << r.verdict;
}

TEST(Choose, KeepsTheOrderWhereAnIntervalHoldsOne) {
  Results r = results_of({timed(1, 1.02, 0.03)});
  choose(r, bundle_of(1));
  EXPECT_EQ(r.best, std::nullopt);
  EXPECT_TRUE(r.verdict.starts_with("keep the order as it is")) << r.verdict;
}

TEST(Choose, AGainMustExceedWhatTheOriginalShowsAgainstItself) {
  Results r = results_of({timed(1, 1.02, 0.005)});
  r.control = Estimate{1.01, 1.0, 1.02};
  choose(r, bundle_of(1));
  EXPECT_EQ(r.best, std::nullopt);
  r.control = Estimate{1.002, 1.0, 1.004};
  choose(r, bundle_of(1));
  EXPECT_EQ(r.best, 1);
}

TEST(Choose, WhatWasNotComparedNeverWinsAndIsNeverSilent) {
  Results r = results_of({timed(1, 2.0, 0.01, Status::kNotCompared), timed(2, 1.1, 0.01)});
  choose(r, bundle_of(2));
  EXPECT_EQ(r.best, 2);
  EXPECT_NE(r.verdict.find("order1"), std::string::npos) << r.verdict;
  EXPECT_NE(r.verdict.find("not be compared"), std::string::npos) << r.verdict;
}

TEST(Choose, OneThatWasRefusedAfterItsTimesWereTakenDoesNotWin) {
  Results r = results_of({timed(1, 3.0, 0.01, Status::kRefused)});
  choose(r, bundle_of(1));
  EXPECT_EQ(r.best, std::nullopt);
  EXPECT_NE(r.verdict.find("no candidate could be measured"), std::string::npos) << r.verdict;
}

TEST(Choose, ConfidenceGrowsWithTheNumberOfCandidates) {
  EXPECT_DOUBLE_EQ(confidence_for(1), 0.95);
  EXPECT_DOUBLE_EQ(confidence_for(5), 0.99);
  EXPECT_DOUBLE_EQ(confidence_for(0), 0.95);
}

/// Rounds of a candidate that is as fast as the original, with 1 % of noise in each time.
std::vector<Round> equal_rounds(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  const auto time = [&] {
    double sum = 0;  // of twelve: near enough to normal
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(1 << 20)) / (1 << 20);
    return 1 + 0.01 * (sum - 6);
  };
  std::vector<Round> rounds(count);
  for (Round& r : rounds) r = {time(), time()};
  return rounds;
}

TEST(Choose, OfEqualProgramsFewSeemFaster) {
  constexpr int kTries = 400;
  constexpr std::size_t kCandidates = 5;
  int false_gains = 0;
  for (int i = 0; i < kTries; ++i) {
    bool any = false;
    for (std::size_t c = 0; c < kCandidates; ++c) {
      const auto rounds = equal_rounds(static_cast<std::uint64_t>(i) * kCandidates + c, 15);
      any = any || speedup(rounds, confidence_for(kCandidates), 1)->low > 1;
    }
    false_gains += any ? 1 : 0;
  }
  // Only gains count, half of the 5 %; the bootstrap of 15 values is somewhat too sure of itself.
  EXPECT_LT(false_gains, kTries * 6 / 100);
}

TEST(Choose, ATrueGainOfOnePerCentIsFound) {
  std::vector<Round> rounds = equal_rounds(7, 31);
  for (Round& r : rounds) r.own_ms /= 1.02;
  const auto s = speedup(rounds, 0.99, 1);
  EXPECT_GT(s->low, 1.0);
  EXPECT_NEAR(s->value, 1.02, 0.01);
}

}  // namespace
}  // namespace swizzleperf::measure
