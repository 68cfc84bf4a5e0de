// What is kept of replays says what all of them would.
#include "study/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/random.h"

namespace swizzleperf::study {
namespace {

struct Point {
  double hits;
  double time;
};

/// Few levels, and times in the middle of their bins, so that bins tell them apart exactly.
std::vector<Point> random_points(Random& random, std::size_t n) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    const int bin = static_cast<int>(random.below(12)) - 40;
    points.push_back({static_cast<double>(100 + 10 * random.below(6)),
                      std::sqrt(bin_begin_ms(bin) * bin_begin_ms(bin + 1))});
  }
  return points;
}

Tally tally_of(const std::vector<Point>& points, std::size_t first, std::size_t end) {
  Tally tally;
  for (std::size_t i = first; i < end; ++i)
    tally.add(i, points[i].hits, points[i].time, {points[0].hits, points[0].time});
  return tally;
}

double naive_pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double ma = 0;
  double mb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / n;
    mb += b[i] / n;
  }
  double aa = 0;
  double bb = 0;
  double ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
    ab += (a[i] - ma) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

std::vector<double> naive_ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double v : values) {
    double below = 0;
    double equal = 0;
    for (const double w : values) {
      below += w < v ? 1 : 0;
      equal += w == v ? 1 : 0;
    }
    ranks.push_back(below + (equal - 1) / 2);
  }
  return ranks;
}

TEST(Tally, SaysWhatAllPointsSay) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    const std::vector<Point> points = random_points(random, 2 + random.below(120));
    const Tally tally = tally_of(points, 0, points.size());
    std::vector<double> hits;
    std::vector<double> times;
    for (const Point& p : points) {
      hits.push_back(p.hits);
      times.push_back(p.time);
    }
    Pairs wanted;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double sign = (hits[i] - hits[j]) * (times[i] - times[j]);
        (sign > 0 ? wanted.contradict : sign < 0 ? wanted.agree : wanted.tied) += 1;
      }
    }
    const Pairs pairs = count_pairs(tally);
    EXPECT_EQ(pairs.agree, wanted.agree);
    EXPECT_EQ(pairs.contradict, wanted.contradict);
    EXPECT_EQ(pairs.tied, wanted.tied);
    const bool constant = *std::min_element(hits.begin(), hits.end()) ==
                              *std::max_element(hits.begin(), hits.end()) ||
                          *std::min_element(times.begin(), times.end()) ==
                              *std::max_element(times.begin(), times.end());
    if (constant) continue;
    EXPECT_NEAR(pearson(tally).value(), naive_pearson(hits, times), 1e-9);
    EXPECT_NEAR(spearman(tally).value(), naive_pearson(naive_ranks(hits), naive_ranks(times)),
                1e-9);
  }
}

TEST(Tally, AConstantCorrelatesWithNothing) {
  Tally tally;
  for (std::uint64_t i = 0; i < 9; ++i) tally.add(i, 7, 1 + 0.1 * static_cast<double>(i), {7, 1});
  EXPECT_FALSE(pearson(tally));
  EXPECT_FALSE(spearman(tally));
  EXPECT_EQ(count_pairs(tally).tied, 36);
}

TEST(Tally, KeepsTheFirstFastestAndSlowestOfALevel) {
  Tally tally;
  const std::vector<double> times = {3, 1, 5, 1, 5, 2};
  for (std::size_t i = 0; i < times.size(); ++i) tally.add(i, 10, times[i], {});
  EXPECT_EQ(tally.levels.at(10).fastest.number, 1U);
  EXPECT_EQ(tally.levels.at(10).slowest.number, 2U);
}

TEST(Tally, PartsAddUpAndSurviveAFile) {
  Random random(6);
  const std::vector<Point> points = random_points(random, 500);
  const Tally whole = tally_of(points, 0, 500);
  Tally sum;
  for (std::size_t first = 0; first < 500; first += 100) {
    const Tally part = tally_of(points, first, first + 100);
    sum.add(tally_from_json(nlohmann::json::parse(to_json(part).dump())));
  }
  EXPECT_EQ(sum.deals, 500U);
  EXPECT_NEAR(pearson(sum).value(), pearson(whole).value(), 1e-9);
  ASSERT_EQ(sum.levels.size(), whole.levels.size());
  for (const auto& [hits, level] : whole.levels) {
    const HitLevel& other = sum.levels.at(hits);
    EXPECT_EQ(other.by_time, level.by_time);
    EXPECT_EQ(other.fastest.number, level.fastest.number);
    EXPECT_EQ(other.slowest.number, level.slowest.number);
    EXPECT_EQ(other.slowest.time_ms, level.slowest.time_ms);
  }
}

}  // namespace
}  // namespace swizzleperf::study
