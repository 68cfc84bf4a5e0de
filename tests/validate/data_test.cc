// The shipped measurements are whole, and what is wrong in such files is said with its line.
#include "validate/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "swizzleperf/error.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/swizzles.h"
#include "validate/csv.h"
#include "validate/small_source.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<Source> shipped() { return read_sources(fs::path(SWIZZLEPERF_SOURCE) / "validation"); }

TEST(ShippedMeasurements, EveryOrderAndMachineIsKnown) {
  std::map<std::string, std::size_t> points;
  for (const Source& s : shipped()) {
    EXPECT_NO_THROW((void)load_machine(s.machine)) << s.name;
    for (const Order& o : s.orders) EXPECT_NO_THROW((void)make_swizzle(o.swizzle)) << o.name;
    for (const MeasuredLaunch& l : s.launches) points[s.name] += l.points.size();
    EXPECT_FALSE(s.bounds.empty()) << s.name;
  }
  EXPECT_EQ(points, (std::map<std::string, std::size_t>{
                        {"h200", 238}, {"mi300x", 15}, {"mi300x-attention", 6}, {"mi355x", 6}}));
}

TEST(ShippedMeasurements, H200IsSplitByKernelAndMeasuredWhole) {
  std::map<std::string, std::set<bool>> sides;
  for (const Source& s : shipped()) {
    if (s.name != "h200") continue;
    for (const MeasuredLaunch& l : s.launches) {
      for (const MeasuredPoint& p : l.points) {
        sides[l.kernel].insert(p.fitted);
        EXPECT_TRUE(p.measured.l2_hit_rate && p.measured.dram_read_bytes && p.measured.time_ms)
            << l.name;
      }
    }
  }
  for (const auto& [kernel, fitted] : sides) EXPECT_EQ(fitted.size(), 1U) << kernel;
  EXPECT_EQ(sides.size(), 13U);
}

/// Those of the artifacts; attention's order of one head a die is another source.
TEST(ShippedMeasurements, NoSwizzledRowOfTheArtifactsIsFitted) {
  for (const Source& s : shipped()) {
    if (s.title.find("SwizzlePerf artifacts") == std::string::npos) continue;
    for (const MeasuredLaunch& l : s.launches) {
      for (const MeasuredPoint& p : l.points) {
        if (p.fitted) EXPECT_EQ(s.orders[p.order].swizzle, "identity") << l.name;
      }
    }
  }
}

TEST(Measurements, RowsBecomePoints) {
  const ScratchDirectory scratch;
  SmallSource small;
  const Source s = read_source(small.write(scratch.path()));
  ASSERT_EQ(s.launches.size(), 1U);
  const std::vector<MeasuredPoint>& points = s.launches[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_TRUE(points[0].fitted);
  EXPECT_FALSE(points[1].fitted);
  EXPECT_DOUBLE_EQ(*points[0].measured.l2_hit_rate, 0.25);
  EXPECT_DOUBLE_EQ(*points[0].measured.time_ms, 0.005);  // the median of three
  EXPECT_DOUBLE_EQ(*points[1].measured.l2_hit_rate, 0.75);
  EXPECT_EQ(points[1].measured.time_ms, std::nullopt);  // an empty field
  EXPECT_EQ(points[1].measured.dram_read_bytes, std::nullopt);
}

TEST(Measurements, KernelsOfOneLaunchAddUp) {
  const ScratchDirectory scratch;
  SmallSource small;
  small.launches = replaced(small.launches, "\"median\"", "\"sum\"");
  const Source s = read_source(small.write(scratch.path()));
  EXPECT_DOUBLE_EQ(*s.launches[0].points[0].measured.time_ms, 0.017);
}

TEST(Csv, QuotesAndLines) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path() / "t.csv";
  write_file(file, "a,\"b, c\"\r\n\r\n\"x \"\"y\"\"\",2\n");
  const Csv csv = read_csv(file);
  EXPECT_EQ(csv.columns, (std::vector<std::string>{"a", "b, c"}));
  ASSERT_EQ(csv.rows.size(), 1U);
  EXPECT_EQ(csv.rows[0].line, 3U);
  EXPECT_EQ(csv.rows[0].fields, (std::vector<std::string>{"x \"y\"", "2"}));
}

/// One word of a sound source changed, and what is said of it.
struct Fault {
  std::string SmallSource::* file;
  const char* what;
  const char* by;
  const char* where;
  const char* sentence;
};

class FaultyMeasurements : public testing::TestWithParam<Fault> {};

TEST_P(FaultyMeasurements, AreOneSentenceWithFileAndLine) {
  const Fault& fault = GetParam();
  const ScratchDirectory scratch;
  SmallSource small;
  small.*fault.file = replaced(small.*fault.file, fault.what, fault.by);
  const fs::path file = small.write(scratch.path());
  try {
    (void)read_source(file);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInput);
    EXPECT_THAT(error.what(), HasSubstr(fault.where));
    EXPECT_THAT(error.what(), HasSubstr(fault.sentence));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

constexpr auto kLaunches = &SmallSource::launches;
constexpr auto kPoints = &SmallSource::points;

INSTANTIATE_TEST_SUITE_P(
    Each, FaultyMeasurements,
    testing::Values(
        Fault{kLaunches, "title = ", "titel = ", "launches.toml:1:", "did you mean 'title'?"},
        Fault{kLaunches, "machine = \"mi300x\"", "", "launches.toml:1:", "'machine' is missing"},
        Fault{kLaunches, "moved_points = 2", "moved_points = \"2\"",
              "launches.toml:3:", "'moved_points' must be a number"},
        Fault{kLaunches, "\"near\", swizzle", "\"as it is\", swizzle",
              "launches.toml:7:", "'as it is' stands there twice"},
        Fault{kLaunches, "points.csv", "absent.csv", "absent.csv", "cannot read"},
        Fault{kLaunches, "\"median\"", "\"mean\"", "launches.toml:11:", "'sum' or 'median'"},
        Fault{kLaunches, "over = \"requests\"", "over = \"request\"",
              "points.csv:1:", "no column 'request'; did you mean 'requests'?"},
        Fault{kLaunches, "[\"near\"]", "[\"near\"]\nfirst_blocks = 0",
              "launches.toml:23:", "'first_blocks' must be a whole number from 1 on"},
        Fault{kLaunches, "l2_worst_error", "l2_worst_eror",
              "launches.toml:15:", "did you mean 'l2_worst_error'?"},
        Fault{kLaunches, "at_most = 100", "over = \"all\"",
              "launches.toml:14:", "'at_least' or 'at_most'"},
        Fault{kLaunches, "at_most = 100", "at_most = 1\nlaunch = \"shift 65\"",
              "launches.toml:14:", "no measured point"},
        Fault{kLaunches, "shift.hip", "shaft.hip", "launches.toml:20:", "no such file"},
        Fault{kLaunches, "\"fit\"", "\"fitted\"", "launches.toml:21:", "'fit' or 'judge'"},
        Fault{kLaunches, "[\"near\"]", "[\"far\"]", "launches.toml:22:", "no order 'far'"},
        Fault{kLaunches, "[[launches]]", "[[launches", "launches.toml:17:", "not valid TOML"},
        Fault{kPoints, "shift 64,near", "shift 6,near", "points.csv:5:", "no launch 'shift 6'"},
        Fault{kPoints, "shift 64,near", "shift 64,far", "points.csv:5:", "no order 'far'"},
        Fault{kPoints, "20,80", "20,x", "points.csv:3:", "'x' is no number (column 'requests')"},
        Fault{kPoints, "40,5", "40,5,6", "points.csv:4:", "6 fields, but the header has 5"},
        Fault{kPoints, kSmallPoints, "launch,swizzle,hits,requests,us\n",
              "launches.toml:18:", "'shift 64' has no row"},
        Fault{kPoints, kSmallPoints, "", "points.csv:1:", "no header row"}));

}  // namespace
}  // namespace swizzleperf::validate
