// Figures over made-up points, worked out by hand.
#include "validate/judge.h"

#include <gtest/gtest.h>

namespace swizzleperf::validate {
namespace {

/// Two launches in three orders, the second of another kernel and only for judging.
class Figures : public testing::Test {
 protected:
  Figures() {
    source.moved_points = 2;
    source.time_spread = 0.05;
    source.orders = {{"identity", "identity", 0}, {"a", "a", 0}, {"b", "b", 0}};
    for (const char* kernel : {"first", "second"}) {
      MeasuredLaunch launch;
      launch.name = launch.kernel = kernel;
      launch.points = {{0, launch.name == "first", {}}, {1, false, {}}, {2, false, {}}};
      source.launches.push_back(launch);
    }
    points.resize(6);
    for (std::size_t i = 0; i < 6; ++i) {
      points[i].launch = &source.launches[i / 3];
      points[i].point = &source.launches[i / 3].points[i % 3];
      points[i].identity = &points[i / 3 * 3];
      points[i].predicted.permutation = i % 3;
    }
  }

  Measured& measured(std::size_t i) { return source.launches[i / 3].points[i % 3].measured; }
  Predicted& predicted(std::size_t i) { return points[i].predicted; }

  std::optional<double> value(const std::string& statistic, const Selection& selection = {}) {
    return judge({find_statistic(statistic), selection, 0, std::nullopt}, source, points).value;
  }

  Source source;
  std::vector<JudgedPoint> points;
};

TEST_F(Figures, OfWhatWasNotMeasuredAreNothing) {
  for (const Statistic& s : statistics()) {
    EXPECT_EQ(value(std::string(s.name)), std::nullopt) << s.name;
    const BoundVerdict v = judge({&s, {}, 0, 0}, source, points);
    EXPECT_EQ(v.holds, std::nullopt) << s.name;
  }
}

TEST_F(Figures, HitRatesInPoints) {
  measured(0).l2_hit_rate = 0.5;
  measured(1).l2_hit_rate = 0.4;
  measured(4).l2_from = 0.4;
  measured(4).l2_to = 0.6;
  predicted(0).l2_hit_rate = 0.51;
  predicted(1).l2_hit_rate = 0.37;
  predicted(4).l2_hit_rate = 0.65;  // 5 points above the range
  EXPECT_NEAR(*value("l2_mean_error"), 3, 1e-9);
  EXPECT_NEAR(*value("l2_worst_error"), 5, 1e-9);
  using Over = Selection::Over;
  EXPECT_NEAR(*value("l2_worst_error", {Over::kFitted, {}, "", ""}), 1, 1e-9);
  EXPECT_NEAR(*value("l2_worst_error", {Over::kJudged, {"first"}, "", ""}), 3, 1e-9);
  EXPECT_NEAR(*value("l2_predicted", {Over::kAll, {}, "second", "a"}), 65, 1e-9);
  predicted(4).l2_hit_rate = 0.45;
  EXPECT_NEAR(*value("l2_worst_error"), 3, 1e-9);
}

TEST_F(Figures, AHiddenPointCountsOnlyAsAnIdentity) {
  measured(0).l2_hit_rate = 0.5;
  measured(1).l2_hit_rate = 0.6;
  predicted(0).l2_hit_rate = 0.9;
  predicted(1).l2_hit_rate = 0.7;
  points[0].shown = false;
  EXPECT_NEAR(*value("l2_worst_error"), 10, 1e-9);
  EXPECT_EQ(value("against_direction"), 1);
}

TEST_F(Figures, DirectionsOfWhatMovedEnough) {
  measured(0).l2_hit_rate = 0.5;
  predicted(0).l2_hit_rate = 0.3;
  measured(1).l2_hit_rate = 0.515;  // moved by 1.5 points: has no direction
  EXPECT_EQ(value("against_direction"), std::nullopt);
  measured(1).l2_hit_rate = 0.53;
  predicted(1).l2_hit_rate = 0.301;
  measured(2).l2_hit_rate = 0.4;
  predicted(2).l2_hit_rate = 0.2;
  EXPECT_EQ(value("against_direction"), 0);
  predicted(1).l2_hit_rate = 0.3;  // the model does not move
  EXPECT_EQ(value("against_direction"), 1);
  predicted(2).l2_hit_rate = 0.31;
  EXPECT_EQ(value("against_direction"), 2);
}

TEST_F(Figures, BytesRelativeToMeasured) {
  for (const std::size_t i : {0, 1, 2}) measured(i).dram_read_bytes = 100;
  predicted(0).dram_read_bytes = 150;
  predicted(1).dram_read_bytes = 90;
  predicted(2).dram_read_bytes = 101;
  EXPECT_NEAR(*value("dram_median_error"), 0.1, 1e-9);
  EXPECT_NEAR(*value("dram_worst_error"), 0.5, 1e-9);
  source.least_dram_bytes = 101;
  EXPECT_EQ(value("dram_worst_error"), std::nullopt);
  measured(0).dram_read_bytes = 125;
  EXPECT_NEAR(*value("dram_worst_error"), 0.2, 1e-9);
}

TEST_F(Figures, OnlyLaunchesThatSpreadHaveARanking) {
  const double times[] = {1, 2, 3, 1, 1.01, 1.04};
  const double model[] = {5, 7, 6, 3, 2, 1};
  for (std::size_t i = 0; i < 6; ++i) {
    measured(i).time_ms = times[i];
    predicted(i).time_ms = model[i];
  }
  EXPECT_DOUBLE_EQ(*value("time_rank"), 0.5);
  const std::vector<TimeRank> ranks = time_ranks(select(source, points, {}));
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_DOUBLE_EQ(ranks[0].spread, 2);
  EXPECT_DOUBLE_EQ(ranks[1].correlation, -1);
  source.time_spread = 0.03;
  EXPECT_DOUBLE_EQ(*value("time_rank"), -1);
}

TEST_F(Figures, OneOrderUnderTwoNamesRanksOnce) {
  const double times[] = {1, 2, 3};
  const double model[] = {1, 2, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    measured(i).time_ms = times[i];
    predicted(i).time_ms = model[i];
  }
  EXPECT_DOUBLE_EQ(*value("time_rank"), 0);
  predicted(2).permutation = 0;  // 1 and 3 are the first's: 2 in the middle
  EXPECT_DOUBLE_EQ(*value("time_rank"), 0);
  measured(2).time_ms = 1.5;  // now 1.25 against 2
  EXPECT_DOUBLE_EQ(*value("time_rank"), 1);
  EXPECT_DOUBLE_EQ(time_ranks(select(source, points, {}))[0].spread, 0.6);
}

TEST_F(Figures, BandwidthsRankWithinTheirLaunch) {
  const double measured_bandwidth[] = {1, 2, 3, 30, 20, 10};
  for (std::size_t i = 0; i < 6; ++i) {
    measured(i).bandwidth = measured_bandwidth[i];
    predicted(i).bandwidth = static_cast<double>(i);
  }
  EXPECT_EQ(value("bandwidth_misranked"), 3);
  EXPECT_EQ(value("bandwidth_misranked", {Selection::Over::kAll, {"first"}, "", ""}), 0);
}

TEST_F(Figures, BoundsIncludeTheirLimits) {
  measured(0).l2_hit_rate = 0.5;
  predicted(0).l2_hit_rate = 0.25;  // 25 points, exactly
  const auto holds = [&](std::optional<double> at_least, std::optional<double> at_most) {
    return judge({find_statistic("l2_worst_error"), {}, at_least, at_most}, source, points).holds;
  };
  EXPECT_EQ(holds(std::nullopt, 25), true);
  EXPECT_EQ(holds(25, std::nullopt), true);
  EXPECT_EQ(holds(std::nullopt, 24.9), false);
  EXPECT_EQ(holds(25.1, 100), false);
}

}  // namespace
}  // namespace swizzleperf::validate
