// The diff against its definition: applied to the original it gives the edited text, for random
// texts, line ends and edits.
#include "splice/diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/files.h"
#include "cases.h"

namespace swizzleperf::splice {
namespace {

TEST(Diff, OfNothingIsEmpty) { EXPECT_EQ(unified_diff("a\nb\n", {}, "f"), ""); }

TEST(Diff, ReadsAsDiffsDo) {
  std::vector<Edit> edits = {{{2, 3}, "B"}, {{4, 4}, "new\n"}, {{16, 16}, "!"}};
  EXPECT_EQ(
      unified_diff("a\nb\nc\nd\ne\nf\ng\nh\nj", edits, "d/f g.hip"),
      "--- a/d/f g.hip\t\n+++ b/d/f g.hip\t\n@@ -1,9 +1,10 @@\n a\n-b\n+B\n+new\n c\n d\n e\n f\n"
      " g\n h\n-j\n\\ No newline at end of file\n+!j\n\\ No newline at end of file\n");
}

TEST(Diff, AppliesToWhatItCameFrom) {
  const ScratchDirectory scratch;
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed): repeatable
  const auto pick = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int round = 0; round < 150; ++round) {
    std::string original;
    const std::string eol = pick(0, 3) == 0 ? "\r\n" : "\n";
    const std::size_t lines = pick(1, 40);
    for (std::size_t i = 0; i < lines; ++i)
      original.append(pick(0, 6), static_cast<char>('a' + pick(0, 2))).append(eol);
    if (pick(0, 2) == 0) original += "end";
    std::vector<Edit> edits;
    std::size_t at = 0;
    while (true) {
      at += pick(0, 60);
      if (at >= original.size()) break;
      std::size_t end = std::min(original.size(), at + pick(0, 12));
      std::string text = pick(0, 1) == 0 ? "X" : "X" + eol + "Y" + eol;
      if (pick(0, 3) == 0) {  // whole lines before a line, as a helper is
        at = original.rfind('\n', at) == std::string::npos ? 0 : original.rfind('\n', at) + 1;
        if (!edits.empty() && at <= edits.back().span.end) at = end;
        end = at;
        if (at >= original.size()) break;
      }
      edits.push_back({{static_cast<unsigned>(at), static_cast<unsigned>(end)}, text});
      at = end + 1;
    }
    if (edits.empty()) continue;
    sort_edits(edits);
    const std::string wanted = apply_edits(original, edits);
    const std::string patch = unified_diff(original, edits, "dir/f.hip");
    write_file(scratch.path() / "p.patch", patch);
    std::filesystem::create_directories(scratch.path() / "dir");
    write_file(scratch.path() / "dir" / "f.hip", original);
    std::string output;
    ASSERT_TRUE(
        run_program({"git", "apply", "--whitespace=nowarn", "p.patch"}, scratch.path(), output))
        << output << patch;
    ASSERT_EQ(read_file(scratch.path() / "dir" / "f.hip"), wanted) << patch;
  }
}

}  // namespace
}  // namespace swizzleperf::splice
