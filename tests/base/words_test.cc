// Commands as a shell would split them, without a shell.
#include "base/words.h"

#include <gtest/gtest.h>

#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, AsAShellWould) {
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words(" \t\n "), Words{});
  EXPECT_EQ(split_words("python3  agent.py --fast "), (Words{"python3", "agent.py", "--fast"}));
  EXPECT_EQ(split_words("'a b' \"c d\"e f\\ g"), (Words{"a b", "c de", "f g"}));
  EXPECT_EQ(split_words("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(split_words(R"("a\"b\\c\d" 'a\b')"), (Words{R"(a"b\c\d)", R"(a\b)"}));
}

TEST(SplitWords, NothingIsExpanded) {
  EXPECT_EQ(split_words("$HOME `id` $(id) *;|>x"), (Words{"$HOME", "`id`", "$(id)", "*;|>x"}));
}

TEST(SplitWords, AnOpenQuoteIsRefused) {
  EXPECT_THROW(split_words("a 'b"), Error);
  EXPECT_THROW(split_words("a \"b\\\""), Error);
}

}  // namespace
}  // namespace swizzleperf
