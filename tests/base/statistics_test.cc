// Known values, and properties over random numbers with many ties.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace swizzleperf {
namespace {

using Values = std::vector<double>;

TEST(Statistics, OfNothingIsNothing) {
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(mean({}), std::nullopt);
  EXPECT_EQ(largest({}), std::nullopt);
  EXPECT_EQ(spread({}), std::nullopt);
  EXPECT_EQ(spearman({}, {}), std::nullopt);
  EXPECT_EQ(spearman(Values{1}, Values{2}), std::nullopt);
}

TEST(Statistics, KnownValues) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(mean(Values{1, 2, 6}), 3);
  EXPECT_EQ(largest(Values{1, 6, 2}), 6);
  EXPECT_EQ(spread(Values{2, 3, 2.5}), 0.5);
  EXPECT_EQ(ranks(Values{10, 30, 20}), (Values{1, 3, 2}));
  EXPECT_EQ(ranks(Values{5, 1, 5, 5}), (Values{3, 1, 3, 3}));
}

TEST(Statistics, SpearmanOfKnownPairs) {
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 3}, Values{10, 200, 3000}), 1);
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 3}, Values{3, 2, 1}), -1);
  // Ranks 1..5 against 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}), 0.8);
  // Ranks 1, 2.5, 2.5, 4 against 1 2 3 4: 4.5 / sqrt(4.5 * 5).
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}), std::sqrt(0.9));
  EXPECT_EQ(spearman(Values{1, 2, 3}, Values{7, 7, 7}), 0);
}

TEST(Statistics, PearsonOfKnownPairs) {
  EXPECT_DOUBLE_EQ(*pearson(Values{1, 2, 3}, Values{12, 14, 16}), 1);
  EXPECT_DOUBLE_EQ(*pearson(Values{1, 2, 3}, Values{6, 4, 2}), -1);
  // Deviations -1 0 1 and -1 -1 2: 3 / sqrt(2 * 6).
  EXPECT_DOUBLE_EQ(*pearson(Values{1, 2, 3}, Values{0, 0, 3}), 3 / std::sqrt(12.0));
  EXPECT_EQ(pearson(Values{1, 2, 3}, Values{7, 7, 7}), 0);
  EXPECT_EQ(pearson(Values{1}, Values{2}), std::nullopt);
}

TEST(Statistics, DeviationOfKnownValues) {
  EXPECT_EQ(deviation(Values{2, 4, 6}), 2);
  EXPECT_EQ(deviation(Values{5, 5}), 0);
  EXPECT_EQ(deviation(Values{5}), std::nullopt);
}

TEST(Statistics, MisrankedCountsTiesOfThePredictionOnly) {
  EXPECT_EQ(misranked(Values{1, 2, 3}, Values{4, 5, 6}), 0);
  EXPECT_EQ(misranked(Values{1, 2, 3}, Values{6, 5, 4}), 3);
  EXPECT_EQ(misranked(Values{1, 2}, Values{5, 5}), 1);
  EXPECT_EQ(misranked(Values{2, 2}, Values{1, 5}), 0);
}

class RandomPairs : public testing::TestWithParam<unsigned> {
 protected:
  Values draw(std::size_t count) {
    std::uniform_int_distribution<int> few(0, 5);
    Values values(count);
    for (double& v : values) v = few(random_);
    return values;
  }
  std::mt19937 random_{GetParam()};
};

TEST_P(RandomPairs, RanksSumAndOrderAsTheyMust) {
  const Values values = draw(2 + GetParam() % 20);
  const Values places = ranks(values);
  const auto n = static_cast<double>(values.size());
  EXPECT_DOUBLE_EQ(std::accumulate(places.begin(), places.end(), 0.0), n * (n + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      EXPECT_EQ(values[i] < values[j], places[i] < places[j]);
    }
  }
}

TEST_P(RandomPairs, SpearmanKnowsOnlyTheOrder) {
  const Values a = draw(2 + GetParam() % 20);
  const Values b = draw(a.size());
  const double r = *spearman(a, b);
  EXPECT_LE(std::abs(r), 1 + 1e-12);
  EXPECT_DOUBLE_EQ(r, *spearman(b, a));
  Values bent = b;
  Values turned = b;
  for (double& v : bent) v = std::exp(v);
  for (double& v : turned) v = -v;
  EXPECT_DOUBLE_EQ(r, *spearman(a, bent));
  EXPECT_DOUBLE_EQ(-r, *spearman(a, turned));
}

TEST_P(RandomPairs, TheIntervalOfAMedianHoldsItAndWidensWithConfidence) {
  const Values a = draw(1 + GetParam());
  const Estimate narrow = *median_interval(a, 0.5, GetParam());
  const Estimate wide = *median_interval(a, 0.99, GetParam());
  EXPECT_EQ(narrow.value, *median(a));
  EXPECT_LE(wide.low, narrow.low);
  EXPECT_LE(narrow.low, narrow.value);
  EXPECT_LE(narrow.value, narrow.high);
  EXPECT_LE(narrow.high, wide.high);
  EXPECT_EQ(median_interval(Values(), 0.95, 1), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPairs, testing::Range(0U, 20U));

}  // namespace
}  // namespace swizzleperf
