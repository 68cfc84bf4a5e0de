// Specifications: composition, renaming, files, and the sentences for what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view spec) {
  try {
    (void)make_swizzle(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(Specification, StagesApplyFromLeftToRight) {
  const std::vector<std::string> stages = {
      "die-contiguous", "grouped:height=3,axis=x", "chunked:chunk=2", "hilbert",
      "snake:axis=y",   "random:seed=9",           "head-first",      "ck-grouped"};
  for (const LaunchShape& shape : {LaunchShape{{9, 7, 1}, 8, 38}, LaunchShape{{4, 4, 3}, 6, 38}}) {
    for (const std::string& a : stages) {
      for (const std::string& b : stages) {
        const auto first = make_swizzle(a).formula.evaluate(shape);
        const auto second = make_swizzle(b).formula.evaluate(shape);
        const auto both = make_swizzle(a + " + " + b).formula.evaluate(shape);
        for (std::size_t p = 0; p < both.size(); ++p) {
          ASSERT_EQ(both[p], second[static_cast<std::size_t>(first[p])]) << a << " + " << b;
        }
      }
    }
  }
}

TEST(Specification, CompositionsAreProvedToo) {
  for (const char* spec : {"die-contiguous+grouped:height=8", "chunked:chunk=16+morton",
                           "die-contiguous+chunked+die-contiguous+cutlass-3:axis=x",
                           "grouped:cols=12+snake:cols=7,axis=y+hilbert:cols=9"}) {
    const RangeVerdict verdict =
        verify_range(make_swizzle(spec).formula, default_verify_range(), 2);
    EXPECT_EQ(verdict.failed, 0U) << spec;
  }
}

TEST(Specification, TextStaysReadable) {
  EXPECT_EQ(
      make_swizzle("die-contiguous+chunked:chunk=4").formula.text(),
      "// die-contiguous: Each die computes one contiguous share of the blocks; shares differ by\n"
      "// at most one block.\n"
      "die = pid % num_xcds;\n"
      "turn = pid / num_xcds;\n"
      "share = num_blocks / num_xcds;\n"
      "extra = num_blocks % num_xcds;\n"
      "pid = die * share + min(die, extra) + turn;\n"
      "// chunked:chunk=4: Blocks are dealt to the dies in chunks of 4 neighbours, round after\n"
      "// round.\n"
      "chunk = 4;\n"
      "round = num_xcds * chunk;\n"
      "if (pid < num_blocks / round * round) {\n"
      "  die2 = pid % num_xcds;\n"
      "  turn2 = pid / num_xcds;\n"
      "  pid = turn2 / chunk * round + die2 * chunk + turn2 % chunk;\n"
      "}\n");
}

TEST(Specification, WordsDescribeEveryStage) {
  const Swizzle swizzle = make_swizzle("die-contiguous+grouped:height=3,axis=x");
  EXPECT_EQ(swizzle.spec, "die-contiguous+grouped:height=3,axis=x");
  EXPECT_THAT(swizzle.words, HasSubstr("contiguous share"));
  EXPECT_THAT(swizzle.words, HasSubstr("Then: Walks bands 3 blocks thick (cut along x)"));
  for (const SwizzleFamily& family : swizzle_families()) {
    const std::string words = make_swizzle(family.name).words;
    EXPECT_EQ(words.find('{'), words.npos) << words;
    EXPECT_FALSE(family.source.empty());
  }
}

TEST(Specification, OneDimensionalLaunchesMayHaveColumns) {
  const LaunchShape flat{{63, 1, 1}, 8, 38};
  const LaunchShape picture{{9, 7, 1}, 8, 38};
  for (const char* name : {"grouped:height=2", "snake:axis=y", "morton:bits=2", "hilbert:bits=1",
                           "y-fastest:", "cutlass-3:axis=x", "diagonal:"}) {
    std::string with_cols = name;
    with_cols += with_cols.back() == ':' ? "cols=9" : ",cols=9";
    std::string without = name;
    if (without.back() == ':') without.pop_back();
    EXPECT_EQ(make_swizzle(with_cols).formula.evaluate(flat),
              make_swizzle(without).formula.evaluate(picture))
        << name;
  }
}

TEST(Specification, FormulaTextAndFiles) {
  const LaunchShape shape{{4, 1, 1}, 8, 38};
  const std::vector<std::int64_t> reversed = {3, 2, 1, 0};
  EXPECT_EQ(make_swizzle("pid=num_blocks-1-pid").formula.evaluate(shape), reversed);
  EXPECT_EQ(make_swizzle("// a: b\npid = last - pid;", {{"last", 3}}).formula.evaluate(shape),
            reversed);
  EXPECT_EQ(make_swizzle("pid=pid==0?3:3-pid").formula.evaluate(shape), reversed);
  const auto path = std::filesystem::temp_directory_path() / "specification_test+1.swz";
  std::ofstream(path) << "pid = num_blocks - 1 - pid\n";
  const Swizzle swizzle = make_swizzle("@" + path.string());
  EXPECT_EQ(swizzle.formula.evaluate(shape), reversed);
  EXPECT_EQ(swizzle.spec, "@" + path.string());
  std::filesystem::remove(path);
}

TEST(Specification, ErrorsNameWhatIsWrongAndWhatIsPossible) {
  EXPECT_EQ(error_of("chunkd:chunk=4"),
            "no swizzle is called 'chunkd'; the nearest name is 'chunked'");
  EXPECT_EQ(error_of("die-contiguous+gruped"),
            "no swizzle is called 'gruped'; the nearest name is 'grouped'");
  EXPECT_EQ(error_of("chunked:size=4"),
            "swizzle 'chunked' has no parameter 'size'; it takes chunk (1 to 1048576)");
  EXPECT_EQ(error_of("identity:size=4"),
            "swizzle 'identity' has no parameter 'size'; it takes none");
  EXPECT_THAT(error_of("chunked:chunk=0"), HasSubstr("give a whole number from 1 to 1048576"));
  EXPECT_THAT(error_of("chunked:chunk=4x"), HasSubstr("'4x' is no value for parameter chunk"));
  EXPECT_THAT(error_of("chunked:chunk"), HasSubstr("'' is no value for parameter chunk"));
  EXPECT_THAT(error_of("grouped:axis=w"),
              HasSubstr("axis=w is not possible for swizzle 'grouped'; it takes height (1 to "
                        "1048576), cols (0 to 1048576), axis (y, x)"));
  EXPECT_THAT(error_of("head-first:axis=x,blocks=4"),
              HasSubstr("parameter blocks of swizzle 'head-first' has no meaning with axis=x"));
  EXPECT_THAT(error_of("@/no/such/file.swz"), HasSubstr("'/no/such/file.swz' cannot be read"));
  EXPECT_THAT(error_of("@/"), HasSubstr("cannot be read"));
  EXPECT_THAT(error_of("  "), HasSubstr("the swizzle is empty"));
  EXPECT_THAT(error_of("a = 1;"), HasSubstr("1:7: the text ends without a result"));
}

}  // namespace
}  // namespace swizzleperf
