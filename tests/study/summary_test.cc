// Sums that can be done by hand, and pictures that a parser reads.
#include "study/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "study/plot.h"
#include "study/report.h"

namespace swizzleperf::study {
namespace {

using testing::HasSubstr;

/// A replayed order of kernel k, which as it is hits half and takes 10 ms.
AttemptRow order(std::uint64_t trial, std::uint64_t attempt, double l2, double ms,
                 const std::string& hash) {
  AttemptRow r;
  r.kernel = "k";
  r.machine = "m";
  r.context = "aware";
  r.proposer = "p";
  r.trial = trial;
  r.attempt = attempt;
  r.formula = "pid = " + hash + ";";
  r.hash = hash;
  r.outcome = "measured";
  r.parsed = r.bijective = true;
  r.identity = r.repeated = false;
  r.l2_before = 0.5;
  r.l2_after = l2;
  r.time_ms = ms;
  r.time_ratio = 10 / ms;
  r.seconds = 2;
  return r;
}

AttemptRow refused(std::uint64_t trial, std::uint64_t attempt, const std::string& outcome) {
  AttemptRow r = order(trial, attempt, 0, 1, "");
  r.outcome = outcome;
  r.parsed = outcome != "syntax";
  r.bijective = outcome == "syntax" ? std::nullopt : std::optional(outcome != "not_a_bijection");
  r.identity = r.bijective == true ? std::optional(outcome == "identity") : std::nullopt;
  r.l2_after = r.time_ms = r.time_ratio = std::nullopt;
  return r;
}

std::vector<AttemptRow> two_trials() {
  std::vector<AttemptRow> rows = {order(1, 1, 0.6, 8, "a"),    refused(1, 2, "syntax"),
                                  order(1, 3, 0.9, 5, "b"),    refused(2, 1, "identity"),
                                  order(2, 2, 0.7, 12.5, "c"), refused(2, 3, "not_a_bijection")};
  rows[2].best = rows[4].best = true;
  rows[2].built = rows[2].equal_outputs = true;
  rows[0].tokens = 100;
  return rows;
}

TEST(StudySummary, OverTrials) {
  const std::vector<Group> groups = groups_of(two_trials());
  ASSERT_EQ(groups.size(), 1U);
  const Group& g = groups[0];
  EXPECT_EQ(g.trials, 2U);
  EXPECT_EQ(g.failed, 0U);
  EXPECT_EQ(g.of(Figure::kAttempts).mean, 3);
  EXPECT_EQ(g.of(Figure::kParsed).mean, 2.5);  // 2 of the first, 3 of the second
  EXPECT_EQ(g.of(Figure::kBijective).mean, 2);
  EXPECT_EQ(g.of(Figure::kIdentity).mean, 0.5);
  EXPECT_EQ(g.of(Figure::kL2Before).mean, 0.5);
  // Of the best order of each run, never of two different ones.
  EXPECT_DOUBLE_EQ(*g.of(Figure::kL2After).mean, 0.8);
  EXPECT_DOUBLE_EQ(*g.of(Figure::kTimeRatio).mean, (2 + 0.8) / 2);
  EXPECT_DOUBLE_EQ(*g.of(Figure::kTimeRatio).deviation, std::sqrt(2 * 0.6 * 0.6));
  EXPECT_DOUBLE_EQ(*g.of(Figure::kTimeRatio).least, 0.8);
  EXPECT_DOUBLE_EQ(*g.of(Figure::kTimeRatio).most, 2);
  EXPECT_EQ(g.of(Figure::kSecondsToBest).mean, 5);  // 6 and 4
  // Measured in the first trial only; a mean of one has no deviation.
  EXPECT_EQ(g.of(Figure::kBuilt).trials, 1U);
  EXPECT_EQ(g.of(Figure::kBuilt).mean, 1);
  EXPECT_EQ(g.of(Figure::kBuilt).deviation, std::nullopt);
  EXPECT_EQ(g.of(Figure::kTokens).mean, 100);
}

TEST(StudySummary, FailedRunsAreCountedAndNotAveraged) {
  std::vector<AttemptRow> rows = two_trials();
  AttemptRow failed = order(3, 0, 0, 1, "");
  failed.outcome = "failed";
  failed.reason = "does not | build";
  failed.l2_before = failed.l2_after = failed.time_ms = failed.time_ratio = std::nullopt;
  rows.push_back(failed);
  const Group g = groups_of(rows).front();
  EXPECT_EQ(g.trials, 3U);
  EXPECT_EQ(g.failed, 1U);
  EXPECT_EQ(g.of(Figure::kAttempts).trials, 2U);
  const Report some = make_report("s", rows);
  EXPECT_THAT(some.table_md, HasSubstr("3 (1 failed)"));
  const Report none = make_report("s", {failed});
  EXPECT_THAT(none.table_md, HasSubstr("failed: does not \\| build"));
  EXPECT_THAT(none.attempts_csv, HasSubstr(",failed,does not | build\n"));
}

TEST(StudySummary, ByContextAndProposer) {
  const std::vector<Overall> all = overall_of(two_trials());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].configurations, 2U);
  EXPECT_EQ(all[0].attempts, 6U);
  EXPECT_EQ(all[0].parsed, 5U);
  EXPECT_EQ(all[0].bijective, 4U);
  EXPECT_EQ(all[0].faster, 1U);
  EXPECT_DOUBLE_EQ(*all[0].time_ratio, std::sqrt(2 * 0.8));
  EXPECT_DOUBLE_EQ(*all[0].l2_gain_points, 30);
}

TEST(StudySummary, HitsAgainstTime) {
  std::vector<AttemptRow> rows = two_trials();
  rows.push_back(order(3, 1, 0.9, 5, "b"));  // the same order found again counts once
  const std::vector<Launches> launches = launches_of(rows);
  ASSERT_EQ(launches.size(), 1U);
  const Launches& l = launches[0];
  // (0.5, 10) as it is, (0.6, 8), (0.9, 5), (0.7, 12.5)
  ASSERT_EQ(l.points.size(), 4U);
  EXPECT_EQ(l.points[0].order, "identity");
  EXPECT_EQ(l.points[0].time_ms, 10);
  EXPECT_EQ(l.pairs, 6U);
  // More hits and slower: c (0.7, 12.5) than the identity, and than a (0.6, 8).
  ASSERT_EQ(l.contradictions.size(), 2U);
  for (const auto& [more, faster] : l.contradictions) {
    EXPECT_EQ(l.points[more].l2, 0.7);
    EXPECT_LT(l.points[faster].time_ms, l.points[more].time_ms);
  }
  // Ranks 1 2 4 3 of hits against 3 2 1 4 of times: 1 - 6 * 14 / 60.
  EXPECT_DOUBLE_EQ(*l.spearman, 1 - 6.0 * 14 / 60);
  EXPECT_EQ(pooled(launches).orders, 3U);
  const Report report = make_report("s", rows);
  EXPECT_THAT(report.table_md, HasSubstr("2 pairs contradict"));
  EXPECT_THAT(report.contradictions_csv, HasSubstr("pid = c;,0.7,12.5"));
}

TEST(StudySummary, WhatIsBelowTheGrainContradictsNothing) {
  const std::vector<Launches> launches =
      launches_of({order(1, 1, 0.5005, 10.5, "a"), order(1, 2, 0.6, 10.001, "b")});
  EXPECT_EQ(launches[0].contradictions.size(), 0U);
  EXPECT_EQ(launches[0].pairs, 1U);  // a and b
}

TEST(StudySummary, OfNothing) {
  const Report r = make_report("empty", {});
  EXPECT_THAT(r.table_md, HasSubstr("Study: empty"));
  EXPECT_EQ(r.json["pearson"], nullptr);
}

/// A run whose attempts had these outcomes, the first of them the best.
Finished run_of(const std::vector<std::string>& outcomes) {
  const nlohmann::json metrics = {{"l2", {{"hit_rate", 0.5}}}, {"time_ms", 10}};
  Finished f;
  f.result = {{"baseline", {{"metrics", metrics}}},
              {"best", {{"attempt", 1}, {"applied", {{"built", false}, {"comparison", nullptr}}}}},
              {"attempts", nlohmann::json::array()}};
  for (const std::string& outcome : outcomes) {
    const bool replayed = outcome == "measured" || outcome == "lost_balance";
    f.result["attempts"].push_back(
        {{"attempt", f.result["attempts"].size() + 1},
         {"proposer", "command"},
         {"formula", "text"},
         {"hash", replayed ? nlohmann::json("00ff") : nlohmann::json()},
         {"outcome", outcome},
         {"report", "why"},
         {"l2_hit_rate", replayed ? nlohmann::json(0.75) : nlohmann::json()},
         {"time_ms", replayed ? nlohmann::json(5) : nlohmann::json()}});
  }
  return f;
}

StudyFile asking(Edit edit) {
  StudyFile study;
  study.programs.push_back({"k", "k.hip", {""}, {}, "", -1});
  study.proposers.push_back({"p", {}, {}});
  study.proposers[0].settings.edit = edit;
  return study;
}

TEST(StudyRows, WhatAnOutcomeSays) {
  using Truth = std::optional<bool>;
  constexpr auto kUnknown = std::nullopt;
  struct Case {
    const char* outcome;
    Truth parsed, bijective, identity, repeated, built, equal;  // of a whole kernel
  };
  const std::vector<Case> cases = {
      {"measured", true, true, false, false, true, true},
      {"lost_balance", true, true, false, false, true, true},
      {"syntax", false, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown},
      {"no_reply", false, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown},
      {"not_a_bijection", true, false, kUnknown, false, kUnknown, kUnknown},
      {"identity", true, true, true, false, kUnknown, kUnknown},
      {"repeat", kUnknown, kUnknown, kUnknown, true, kUnknown, kUnknown},  // of what was refused
      {"host_changed", true, kUnknown, kUnknown, false, kUnknown, kUnknown},
      {"not_built", true, kUnknown, kUnknown, false, false, kUnknown},
      {"different_output", true, kUnknown, kUnknown, false, true, false}};
  std::vector<std::string> outcomes;
  for (const Case& c : cases) outcomes.emplace_back(c.outcome);
  const std::vector<AttemptRow> kernels = rows_of(asking(Edit::kKernel), run_of(outcomes));
  const std::vector<AttemptRow> formulas = rows_of(asking(Edit::kFormula), run_of(outcomes));
  ASSERT_EQ(kernels.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    SCOPED_TRACE(c.outcome);
    EXPECT_EQ(kernels[i].parsed, c.parsed);
    EXPECT_EQ(kernels[i].bijective, c.bijective);
    EXPECT_EQ(kernels[i].identity, c.identity);
    EXPECT_EQ(kernels[i].repeated, c.repeated);
    EXPECT_EQ(kernels[i].built, c.built);
    EXPECT_EQ(kernels[i].equal_outputs, c.equal);
    // Of formulas only the best is put into the source; this one's patch did not compile.
    EXPECT_EQ(formulas[i].built, i == 0 ? Truth(false) : kUnknown);
    EXPECT_EQ(formulas[i].equal_outputs, kUnknown);
  }
  EXPECT_EQ(kernels[0].time_ratio, 2);
  EXPECT_EQ(kernels[0].l2_before, 0.5);
  EXPECT_TRUE(kernels[0].best);
  EXPECT_FALSE(kernels[1].best);
}

TEST(StudyRows, OfARunThatFoundOrDidNothing) {
  Finished failed;
  failed.reason = "no such file";
  const std::vector<AttemptRow> rows = rows_of(asking(Edit::kFormula), failed);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].outcome, "failed");
  EXPECT_EQ(rows[0].reason, "no such file");
  Finished nothing = run_of({});
  nothing.result["best"] = nullptr;
  ASSERT_EQ(rows_of(asking(Edit::kFormula), nothing).size(), 1U);
  EXPECT_EQ(rows_of(asking(Edit::kFormula), nothing)[0].outcome, "nothing");
}

TEST(StudyRows, FieldsOfCsv) {
  EXPECT_EQ(csv_field(std::string("a, \"b\"\nc")), "\"a, \"\"b\"\"\nc\"");
  EXPECT_EQ(csv_field(std::optional<double>()), "");
  EXPECT_EQ(csv_field(std::optional<bool>(false)), "false");
}

// ---- pictures -----------------------------------------------------------------------------------

void expect_well_formed(const std::string& text) {
  static const std::regex kTag("<(/?)([a-z]+)[^<>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(text.begin(), text.end(), kTag), end; it != end; ++it) {
    if ((*it)[3] == "/") continue;
    if ((*it)[1] == "/") {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*it)[2]);
      open.pop_back();
    } else {
      open.push_back((*it)[2]);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("nan|inf\\b")));
}

std::size_t circles(const std::string& text) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find("<circle", at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST(StudyPlot, DrawsEveryPoint) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Plot> plots = {
      {"t", "x", "y", {}, {}, {}},
      {"t", "x", "y", {}, {{"one", {{1, 1}}}}, 1.0},
      {"a < b & \"c\"",
       "x",
       "y",
       {},
       {{"<s>", {{0, 1e-9}, {1e9, -5}, {nan, 1}}}, {"q", {{3, 4}}}},
       {}},
      {"t", "", "y", {"gemm", "a & b"}, {{"s", {{0, 1}, {1, 2}}}}, 1.0}};
  const std::vector<std::size_t> points = {0, 1, 3, 2};
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const std::string text = svg(plots[i]);
    expect_well_formed(text);
    EXPECT_EQ(circles(text), points[i] + plots[i].series.size());
  }
}

}  // namespace
}  // namespace swizzleperf::study
