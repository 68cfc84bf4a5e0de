// What a trace's blocks ask of each array, counted by hand.
#include "report/arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace swizzleperf {
namespace {

TEST(Arrays, EveryBlockOfATemplateCounts) {
  Trace trace;
  trace.buffers = {{"arg 0 'a'", 4096, 1000}, {"unused", 8192, 8}, {"arg 1 'c'", 12288, 64}};
  trace.patterns = {{{0, 256}}, {{0, 4}, {100, 4}}};
  Template whole;
  whole.slot_buffer = {0, 2};
  whole.events = {{0, 0, 0, AccessKind::kLoad},
                  {0, 1, 0, AccessKind::kLoad},
                  {0, 1, 1, AccessKind::kStore},
                  {0, 1, 1, AccessKind::kAtomic}};
  Template edge;
  edge.slot_buffer = {2};
  edge.events = {{0, 1, 0, AccessKind::kStore}};
  trace.templates = {whole, edge};
  trace.blocks = {{0, 0}, {1, 2}, {0, 3}, {0, 5}};
  EXPECT_THAT(traffic_by_array(trace),
              testing::ElementsAre(ArrayTraffic{6, 3 * 264, 0}, ArrayTraffic{},
                                   ArrayTraffic{7, 0, 6 * 8 + 8}));
  const std::string table = arrays_table(trace, {12, 0, 3});
  EXPECT_THAT(table, testing::HasSubstr("arg 0 'a'  1.00 kB         6   792 B     0 B         12"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("unused")));
  EXPECT_THAT(arrays_table(trace, {}), testing::HasSubstr("unknown"));
}

}  // namespace
}  // namespace swizzleperf
