// What is said of blocks that share memory.
#include "optimize/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swizzleperf {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Order, OneSentenceForEachThing) {
  LaunchFindings f;
  f.grid = {10, 1, 1};
  EXPECT_THAT(order_warnings(f), ElementsAre());
  f.repeated = {4096, 1, {{1, 8, {"arg 0 'c'", 4096, 4096}, {}, {}}}};
  EXPECT_THAT(order_warnings(f),
              ElementsAre(AllOf(HasSubstr("1 of 10 make exactly the accesses of another (blocks 1 "
                                          "and 8 write the same 4096 bytes of arg 0 'c')"),
                                HasSubstr("swizzleperf check"))));
  f.same = {8, 2, {{3, 4, {"arg 0 'c'", 0, 8}, {}, {}}}};
  f.communication = {1, 1, 4, {{0, 1, {"arg 1 'flag'", 0, 4}, {}, {}, false, {}}}};
  EXPECT_THAT(order_warnings(f),
              ElementsAre(testing::_,
                          HasSubstr("block 1 reads 4 bytes of arg 1 'flag' that block 0 writes"),
                          HasSubstr("does not cover which value stays")));
}

}  // namespace
}  // namespace swizzleperf
