// What ncu prints, in the forms that it is known to print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "measure/profile.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string sample(const char* name) { return read_file(std::string(MEASURE_DATA) + "/" + name); }

Target gemm(std::int64_t index) {
  Target target;
  target.symbol = "_Z4gemmILb1EEvPKfPfi";
  target.kernel = "void gemm<true>(float const*, float*, int)";
  target.index = index;
  return target;
}

TEST(Ncu, ReadsTheLaunchAmongOthersAndTheProgramsOutput) {
  const Profile first = parse_ncu(sample("ncu_2025.3.txt"), gemm(0));
  ASSERT_TRUE(first.counters) << first.missing;
  EXPECT_EQ(first.counters->l2_requests, 100e6);
  EXPECT_EQ(first.counters->l2_hits, 60e6);
  EXPECT_EQ(first.counters->l2_hit_rate, 0.6);
  EXPECT_EQ(first.counters->dram_read_bytes, 2'310'000'128);
  EXPECT_EQ(first.counters->dram_write_bytes, 67'108'864);
  EXPECT_EQ(first.counters->milliseconds, 1.25);
  EXPECT_THAT(first.counters->notes, Contains(HasSubstr("40000000 more sectors")));
  const Profile second = parse_ncu(sample("ncu_2025.3.txt"), gemm(1));
  ASSERT_TRUE(second.counters) << second.missing;
  EXPECT_EQ(second.counters->l2_hit_rate, 0.75);
  EXPECT_EQ(second.counters->milliseconds, 1.2);
}

TEST(Ncu, NamesWhatIsThereInstead) {
  EXPECT_THAT(parse_ncu(sample("ncu_2025.3.txt"), gemm(2)).missing,
              HasSubstr("2 launches of void gemm<true>"));
  Target other = gemm(0);
  other.symbol = other.kernel = "softmax";
  const Profile profile = parse_ncu(sample("ncu_2025.3.txt"), other);
  EXPECT_FALSE(profile.counters);
  EXPECT_THAT(profile.missing, AllOf(HasSubstr("no launch of softmax"),
                                     HasSubstr("fill(float*, int)"), HasSubstr("gemm<true>")));
}

TEST(Ncu, ConvertsUnitsAndLeavesOutWhatIsNotAvailable) {
  const Profile profile = parse_ncu(sample("ncu_units.txt"), gemm(0));
  ASSERT_TRUE(profile.counters) << profile.missing;
  EXPECT_DOUBLE_EQ(*profile.counters->dram_read_bytes, 2.31e9);
  EXPECT_DOUBLE_EQ(*profile.counters->dram_write_bytes, 67.11e6);
  EXPECT_DOUBLE_EQ(*profile.counters->milliseconds, 1.25);
  EXPECT_EQ(profile.counters->l2_requests, 100e6);
  EXPECT_EQ(profile.counters->l2_hits, std::nullopt);
  EXPECT_EQ(profile.counters->l2_hit_rate, std::nullopt);
  EXPECT_THAT(profile.counters->notes, Contains(HasSubstr("lookup_hit.sum was given as 'n/a'")));
}

/// The sample with one text for another.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = sample("ncu_2025.3.txt");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Ncu, RefusesWhatCannotBe) {
  const auto notes_of = [](const std::string& text) {
    const Profile profile = parse_ncu(text, gemm(0), 4000);
    EXPECT_TRUE(profile.counters) << profile.missing;
    return profile.counters ? *profile.counters : Counters{};
  };
  const Counters hits = notes_of(changed("\"60,000,000\"", "\"160,000,000\""));
  EXPECT_EQ(hits.l2_hit_rate, std::nullopt);
  EXPECT_EQ(hits.l2_hits, std::nullopt);
  EXPECT_THAT(hits.notes, Contains(HasSubstr("L2 hits (160000000) exceed")));
  EXPECT_TRUE(hits.dram_read_bytes);

  // 15.15 GB in 1.25 ms: 303 % of 4 TB/s.
  const Counters bytes = notes_of(changed("\"2,310,000,128\"", "\"15,150,000,000\""));
  EXPECT_EQ(bytes.dram_read_bytes, std::nullopt);
  EXPECT_THAT(bytes.notes, Contains(AllOf(HasSubstr("1.515e+10 bytes read"), HasSubstr("303 %"))));
  EXPECT_TRUE(bytes.dram_write_bytes);
  // 7.5 GB: 150 %, which a model of effective bandwidths may be off by.
  EXPECT_TRUE(notes_of(changed("\"2,310,000,128\"", "\"7,500,000,000\"")).dram_read_bytes);

  EXPECT_EQ(notes_of(changed("\"67,108,864\"", "\"-1\"")).dram_write_bytes, std::nullopt);
  EXPECT_EQ(notes_of(changed("\"byte\",\"byte\"", "\"byte\",\"parsec\"")).dram_write_bytes,
            std::nullopt);
  // A locale's numbers are no numbers here.
  EXPECT_EQ(notes_of(changed("\"2,310,000,128\"", "\"2.310.000.128\"")).dram_read_bytes,
            std::nullopt);
}

TEST(Ncu, TellsTheRemedyWhereItHasNoPermission) {
  const Profile profile = parse_ncu(sample("ncu_no_permission.txt"), gemm(0));
  EXPECT_FALSE(profile.counters);
  EXPECT_THAT(profile.missing, AllOf(HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"),
                                     Not(HasSubstr("root")), Not(HasSubstr("sudo"))));
  EXPECT_THROW(parse_ncu("nothing of ncu's\n", gemm(0)), Error);
  EXPECT_THAT(parse_ncu("==ERROR== LibraryNotLoaded\n", gemm(0)).missing,
              HasSubstr("LibraryNotLoaded"));
}

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

TEST(Ncu, AnyTableIsReadBack) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    struct Metric {
      std::string name;
      std::string unit;
      std::uint64_t value;
    };
    const std::uint64_t requests = 1 + random.below(1'000'000'000);
    const std::uint64_t hits = random.below(requests + 1);
    const std::uint64_t megabytes = 1 + random.below(1000);
    std::vector<Metric> metrics = {
        {"lts__t_sectors_srcunit_tex.sum", "sector", requests},
        {"lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", hits},
        {"dram__bytes_read.sum", "Mbyte", megabytes},
        {"dram__bytes_write.sum", "byte", megabytes},
        {"gpu__time_duration.sum", random.below(2) ? "us" : "usecond", 1000}};
    for (std::size_t i = metrics.size(); i > 1; --i)
      std::swap(metrics[i - 1], metrics[random.below(i)]);
    std::string head = R"("ID","Process ID","Kernel Name")";
    std::string units = R"("","","")";
    std::string row = R"("0","1","_Z4gemmILb1EEvPKfPfi")";
    for (const Metric& metric : metrics) {
      head += ",\"" + metric.name + "\"";
      units += ",\"" + metric.unit + "\"";
      row += ",\"" + grouped(metric.value) + "\"";
    }
    const Profile profile = parse_ncu(head + "\n" + units + "\n" + row + "\n", gemm(0));
    ASSERT_TRUE(profile.counters) << profile.missing;
    EXPECT_EQ(profile.counters->l2_requests, requests);
    EXPECT_EQ(profile.counters->l2_hits, hits);
    EXPECT_EQ(profile.counters->dram_read_bytes, megabytes * 1'000'000);
    EXPECT_EQ(profile.counters->dram_write_bytes, megabytes);
    EXPECT_EQ(profile.counters->milliseconds, 1);
  }
}

TEST(Ncu, TakesATextCutAnywhere) {
  const std::string whole = sample("ncu_2025.3.txt");
  const Profile full = parse_ncu(whole, gemm(0));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    try {
      const Profile profile = parse_ncu(whole.substr(0, bytes), gemm(0));
      if (profile.counters)
        EXPECT_EQ(profile.counters->l2_hits, full.counters->l2_hits) << bytes;
      else
        EXPECT_NE(profile.missing, "") << bytes;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "") << bytes;
    }
  }
}

}  // namespace
}  // namespace swizzleperf::measure
