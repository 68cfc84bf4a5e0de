// Tables: columns, wrapping and widths as a reader sees them.
#include "report/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace swizzleperf {
namespace {

TEST(Table, AlignsAndTrims) {
  const Table table{{{"name"}, {"dies", true}, {"title"}},
                    {{"mi300x", "8", "AMD"}, {"a100", "12", "NVIDIA"}, {"x"}}};
  EXPECT_EQ(render(table, 80),
            "name    dies  title\n"
            "mi300x     8  AMD\n"
            "a100      12  NVIDIA\n"
            "x\n");
}

TEST(Table, WrapsTheLastColumnUnderItself) {
  const Table table{{{"key"}, {"note"}}, {{"dies", "one two three four five six"}}};
  EXPECT_EQ(render(table, 24),
            "key   note\n"
            "dies  one two three four\n"
            "      five six\n");
}

TEST(Table, KeepsToTheWidthWheneverWordsAllow) {
  for (std::size_t width = 40; width <= 120; ++width) {
    Table table{{{"key"}, {"value", true}, {"note"}}, {}};
    for (std::size_t n = 0; n < 30; ++n)
      table.rows.push_back({std::string(n % 12, 'k'), std::to_string(n * n * n),
                            std::string("word ") + std::string(n % 9, 'w') + " and so on and on"});
    std::istringstream lines(render(table, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
  }
}

TEST(Table, CountsCodePoints) {
  const Table table{{{"name"}, {"x"}}, {{"Größe", "1"}, {"a", "2"}}};
  EXPECT_EQ(render(table, 80), "name   x\nGröße  1\na      2\n");
}

TEST(Table, WrapIndentsWhatFollows) {
  EXPECT_EQ(wrap("aa bb cc dd", 5, 2), "aa\n  bb\n  cc\n  dd\n");
  EXPECT_EQ(wrap("aa bb cc dd", 6, 0), "aa bb\ncc dd\n");
  EXPECT_EQ(wrap("unbreakable", 4), "unbreakable\n");
}

}  // namespace
}  // namespace swizzleperf
