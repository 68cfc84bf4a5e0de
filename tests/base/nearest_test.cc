// The nearest known name is offered when it is near, and none when it is not.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace swizzleperf {
namespace {

const std::vector<std::string> kVerbs = {"optimize", "simulate", "trace", "verify", "machines"};

TEST(Nearest, FindsSlips) {
  EXPECT_EQ(nearest("verfy", kVerbs), "verify");       // a letter left out
  EXPECT_EQ(nearest("verifyy", kVerbs), "verify");     // doubled
  EXPECT_EQ(nearest("tarce", kVerbs), "trace");        // swapped
  EXPECT_EQ(nearest("optimise", kVerbs), "optimize");  // spelled the other way
  EXPECT_EQ(nearest("verify", kVerbs), "verify");
}

TEST(Nearest, StaysSilentOnOtherWords) {
  EXPECT_EQ(nearest("banana", kVerbs), "");
  EXPECT_EQ(nearest("", kVerbs), "");
  EXPECT_EQ(nearest("verify", {}), "");
  EXPECT_EQ(did_you_mean("banana", kVerbs), "");
  EXPECT_EQ(did_you_mean("machine", kVerbs), "; did you mean 'machines'?");
}

}  // namespace
}  // namespace swizzleperf
