// The verdict is arithmetic on two results and the model's stated error.
#include "optimize/verdict.h"

#include <gtest/gtest.h>

namespace swizzleperf {
namespace {

Machine machine() {
  Machine m;
  m.error_time = 0.05;
  m.error_l2_points = 5;
  return m;
}

SimResult result(double time_ms, double hit_rate, double hbm = 100) {
  SimResult r;
  r.time_ms = time_ms;
  r.l2 = {1000, 1000 * hit_rate};
  r.hbm_read_bytes = hbm;
  return r;
}

Verdict::Decision decide(const SimResult& identity, const SimResult& best) {
  return judge(machine(), identity, &best).decision;
}

using enum Verdict::Decision;

TEST(Verdict, FasterByMoreThanTheErrorOfTime) {
  EXPECT_EQ(decide(result(1.06, 0.5), result(1.0, 0.5)), kFaster);
  EXPECT_EQ(decide(result(1.04, 0.5), result(1.0, 0.5)), kKeepIdentity);
}

TEST(Verdict, LessTrafficWhereTimeIsTheSame) {
  EXPECT_EQ(decide(result(1.0, 0.5), result(1.0, 0.56)), kLessTraffic);
  EXPECT_EQ(decide(result(1.0, 0.5), result(1.0, 0.54)), kKeepIdentity);
}

TEST(Verdict, NotAtThePriceOfTimeOrOfMemoryTraffic) {
  EXPECT_EQ(decide(result(1.0, 0.5), result(1.02, 0.9)), kKeepIdentity);
  EXPECT_EQ(decide(result(1.0, 0.5), result(1.0, 0.9, 103)), kKeepIdentity);
}

TEST(Verdict, WithoutACandidateTheIdentityStays) {
  const Verdict v = judge(machine(), result(1, 0.5), nullptr);
  EXPECT_EQ(v.decision, kKeepIdentity);
  EXPECT_FALSE(v.reason.empty());
}

TEST(Verdict, TheReasonHasTheFigures) {
  const SimResult best = result(1.0, 0.75);
  const std::string reason = judge(machine(), result(2.0, 0.5), &best).reason;
  EXPECT_NE(reason.find("2.00x"), std::string::npos) << reason;
  EXPECT_NE(reason.find("50.0 -> 75.0 %"), std::string::npos) << reason;
}

}  // namespace
}  // namespace swizzleperf
