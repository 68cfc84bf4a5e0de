// A measured bundle becomes points: what is appended, what is left, and that validate reads it.
#include "validate/add.h"

#include <gmock/gmock.h>

#include "cli/command.h"
#include "swizzleperf/error.h"
#include "swizzleperf/swizzles.h"
#include "validate/data.h"
#include "validate/small_source.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using testing::ThrowsMessage;

class AddedBundle : public testing::Test {
 protected:
  AddedBundle() {
    bundle_.directory = path() / "bundle";
    bundle_.machine = "mi300x";
    bundle_.project.language = measure::Language::kHip;
    bundle_.project.source = "src/shift.hip";
    bundle_.project.program = "shift";
    bundle_.target = {"_Z5shiftPKfPf", "shift(float const*, float*)", 0, {64, 1, 1}, {256, 1, 1}};
    add_candidate("die-contiguous", "");
    add_candidate("llm-7", "pid = num_blocks - 1 - pid;");
    add_candidate("llm-8", "");
    bundle_.candidates[2].formula = "";
    bundle_.candidates[2].from_model_text = true;
    make_directories(bundle_.directory / "project/src");
    write_file(bundle_.directory / "project/src/shift.hip", kSmallProgram);
    results_.original = measured(0, 2.0, 0.25);
    for (int i = 1; i <= 3; ++i) results_.candidates.push_back(measured(i, 2.0 - 0.5 * i, {}));
  }

  [[nodiscard]] fs::path path() const { return run_.directory.path(); }
  [[nodiscard]] fs::path folder() const { return path() / "data/mi300x-measured"; }

  void add_candidate(const std::string& spec, const std::string& formula) {
    measure::Candidate c;
    c.number = static_cast<int>(bundle_.candidates.size()) + 1;
    c.spec = spec;
    c.formula =
        formula.empty() && spec.starts_with("die") ? make_swizzle(spec).formula.text() : formula;
    c.permutation = "0123456789abcdef";
    c.files = {"src/shift.hip"};
    const fs::path place = measure::candidate_folder(bundle_.directory, c.number);
    make_directories(place / "src");
    write_file(place / "src/shift.hip", kSmallProgram);
    bundle_.candidates.push_back(c);
  }

  static measure::Measured measured(int number, double ms, std::optional<double> hit_rate) {
    measure::Measured m;
    m.number = number;
    m.status = measure::Status::kMeasured;
    m.milliseconds = Estimate{ms, ms, ms};
    if (hit_rate) {
      m.profile.counters.emplace();
      m.profile.counters->l2_hit_rate = hit_rate;
    }
    return m;
  }

  Added add() { return add_bundle(bundle_, results_, path() / "data"); }
  [[nodiscard]] Source read() const { return read_source(folder() / "launches.toml"); }

  Command run_;
  measure::Bundle bundle_;
  measure::Results results_;
};

TEST_F(AddedBundle, IsASourceThatJudges) {
  const Added added = add();
  EXPECT_EQ(added.points, 3U);
  EXPECT_THAT(added.notes, testing::ElementsAre(HasSubstr("llm-8 is left out: a rewritten")));
  const Source source = read();
  ASSERT_THAT(source.launches, SizeIs(1));
  const MeasuredLaunch& launch = source.launches[0];
  EXPECT_EQ(launch.kernel, "shift");
  ASSERT_THAT(launch.points, SizeIs(3));
  EXPECT_EQ(source.orders[1].swizzle, "die-contiguous");
  EXPECT_EQ(source.orders[2].swizzle, "pid = num_blocks - 1 - pid;");
  EXPECT_FALSE(launch.points[0].fitted);
  EXPECT_EQ(launch.points[0].measured.l2_hit_rate, 0.25);
  EXPECT_EQ(launch.points[1].measured.l2_hit_rate, std::nullopt);
  EXPECT_EQ(launch.points[1].measured.time_ms, 1.5);
}

TEST_F(AddedBundle, OnlyEverAppends) {
  add();
  const std::string launches = read_file(folder() / "launches.toml");
  const std::string table = read_file(folder() / "data/measured.csv");
  results_.original = measured(0, 4.0, {});
  add();
  EXPECT_EQ(read_file(folder() / "launches.toml"), launches);  // nothing new but rows
  EXPECT_THAT(read_file(folder() / "data/measured.csv"), StartsWith(table));
  EXPECT_EQ(read().launches[0].points[0].measured.time_ms, 3.0);       // the median of 2 and 4
  EXPECT_EQ(read().launches[0].points[0].measured.l2_hit_rate, 0.25);  // of the row that has one
  bundle_.project.arguments = {"a, \"b\""};
  bundle_.candidates[1].formula = "pid = (pid + 1) % num_blocks;";
  add();
  EXPECT_THAT(read_file(folder() / "launches.toml"), StartsWith(launches));
  const Source source = read();
  ASSERT_THAT(source.launches, SizeIs(2));
  EXPECT_EQ(source.launches[1].arguments, bundle_.project.arguments);
  EXPECT_EQ(source.launches[0].program, source.launches[1].program);
  EXPECT_THAT(source.orders, SizeIs(4));
  EXPECT_EQ(source.orders[3].name, "llm-7 (2)");
}

TEST_F(AddedBundle, RefusesWhatItCannotBe) {
  const auto refusal = [&](const std::string& what) {
    EXPECT_THAT([&] { add(); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  measure::Bundle good = bundle_;
  bundle_.project.build = "make";
  refusal("is built by 'make'");
  bundle_ = good;
  bundle_.target.index = 3;
  refusal("this is launch 3");
  bundle_ = good;
  const measure::Results all = results_;
  results_.original = {};
  for (measure::Measured& m : results_.candidates) m.status = measure::Status::kNotCompared;
  refusal("nothing was measured");
  EXPECT_FALSE(fs::exists(folder()));
  results_ = all;
  results_.candidates.push_back(measured(4, 1, {}));
  refusal("a candidate 4");
  results_ = all;
  make_directories(folder());
  write_file(folder() / "launches.toml", kSmallLaunches);
  refusal("not written by 'validate --add'");
  EXPECT_EQ(read_file(folder() / "launches.toml"), kSmallLaunches);
}

TEST_F(AddedBundle, IsReadByTheVerbBesideWhatIsShipped) {
  write_bundle(bundle_);
  write_results(results_, bundle_);
  run_.environment["XDG_DATA_HOME"] = (path() / "home").string();
  run_.environment["SWIZZLEPERF_VALIDATION"] = "";
  const ChildResult added = run_({"validate", "--add", "bundle"});
  EXPECT_EQ(added.exit_status, 0) << added.err;
  EXPECT_THAT(unwrapped(added.out), HasSubstr("3 points were added to"));
  const nlohmann::json result =
      run_.json({"validate", "-m", "mi300x", "--launch", "^shift$", "--save-traces", "traces"});
  ASSERT_THAT(result["points"], SizeIs(3));
  EXPECT_EQ(result["points"][1]["measured"]["time_ms"], 1.5);
  EXPECT_GT(result["points"][1]["predicted"]["time_ms"], 0);
}

}  // namespace
}  // namespace swizzleperf::validate
