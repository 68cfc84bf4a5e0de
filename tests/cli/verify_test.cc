// verify: what it proves, what it refutes, and how it says so. The proofs themselves are tested in
// tests/formula.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace swizzleperf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Verify, ProvesANamedSwizzle) {
  const Command run;
  const ChildResult result = run({"verify", "die-contiguous"});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(unwrapped(result.out), HasSubstr("Proved over the range"));
  const auto json = run.json({"verify", "die-contiguous"});
  EXPECT_EQ(json["bijective"], true);
  EXPECT_EQ(json["identity"], false);
  EXPECT_GT(json["range"]["checked"], 10000);
  EXPECT_EQ(json["range"]["failed"], 0);
  EXPECT_TRUE(json["counterexample"].is_null());
}

TEST(Verify, RefutesAndOffersWhatWorks) {
  const Command run;
  const ChildResult result = run({"verify", "die-contiguous-simple"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(unwrapped(result.out), AllOf(HasSubstr("Refuted over the range"),
                                           HasSubstr("Exact form: die-contiguous does"),
                                           HasSubstr("num_blocks % num_xcds == 0")));
  const auto json = run.json({"verify", "die-contiguous-simple+grouped:height=4"});
  EXPECT_EQ(json["bijective"], false);
  EXPECT_EQ(json["exact_form"], "die-contiguous+grouped:height=4");
  EXPECT_EQ(json["guard"]["condition"], "num_blocks % num_xcds == 0");
  EXPECT_FALSE(json["counterexample"]["missing"].empty());
}

TEST(Verify, TheGridDecidesWhenOneIsGiven) {
  const Command run;
  EXPECT_EQ(run({"verify", "die-contiguous-simple", "--grid", "64x48"}).exit_status, 0);
  EXPECT_EQ(run({"verify", "die-contiguous-simple", "--grid", "9x7"}).exit_status, 1);
  EXPECT_EQ(run({"verify", "die-contiguous-simple", "--grid", "9x7", "--xcds", "3"}).exit_status,
            0);
  const auto json = run.json({"verify", "die-contiguous-simple", "--grid", "9x7"});
  EXPECT_EQ(json["counterexample"]["grid"], (std::vector<int>{9, 7, 1}));
  EXPECT_EQ(json["counterexample"]["xcds"], 8);
}

TEST(Verify, KeepsTheThreeFailuresApart) {
  const Command run;
  const auto outside = run.json({"verify", "pid = pid + 1;", "--grid", "4"})["counterexample"];
  EXPECT_EQ(outside["out_of_range"][0]["from"], 3);
  EXPECT_EQ(outside["out_of_range"][0]["target"], 4);
  EXPECT_EQ(outside["missing"], (std::vector<int>{0}));
  EXPECT_TRUE(outside["duplicate"].empty());
  const auto twice = run.json({"verify", "pid = pid / 2;", "--grid", "4"})["counterexample"];
  EXPECT_EQ(twice["duplicate"][0]["block"], 0);
  EXPECT_EQ(twice["duplicate"][0]["from"], (std::vector<int>{0, 1}));
  EXPECT_EQ(twice["missing"], (std::vector<int>{2, 3}));
}

TEST(Verify, RecognisesTheIdentity) {
  const Command run;
  EXPECT_EQ(run.json({"verify", "pid = (pid ^ 5) ^ 5;"})["identity"], true);
  EXPECT_EQ(run.json({"verify", "die-contiguous", "--grid", "64", "--xcds", "1"})["identity"],
            true);
  EXPECT_THAT(unwrapped(run({"verify", "identity"}).out), HasSubstr("It is the identity"));
}

TEST(Verify, ReadsFilesAndParameters) {
  const Command run;
  write_file(run.directory.path() / "mine.swz", "// back to front\npid = last - pid;\n");
  const ChildResult result = run({"verify", "@mine.swz", "--param", "last=15", "--grid", "16"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
}

TEST(Verify, PrintsCodeWithItsGuard) {
  const Command run;
  const std::string hip = run({"verify", "die-contiguous-simple", "--print", "hip"}).out;
  EXPECT_THAT(hip, AllOf(HasSubstr("static __device__"), HasSubstr("num_blocks % num_xcds == 0")));
  EXPECT_THAT(run({"verify", "die-contiguous", "--print", "triton"}).out, HasSubstr("@triton.jit"));
  EXPECT_THAT(run({"verify", "die-contiguous", "--print", "cuda", "-m", "h200"}).out,
              HasSubstr("num_xcds = 2"));
  EXPECT_THAT(run({"verify", "die-contiguous", "--print", "cuda", "--xcds", "3"}).out,
              HasSubstr("num_xcds = 3"));
  const ChildResult refused = run({"verify", "pid = 0;", "--print", "hip"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_THAT(refused.err, HasSubstr("nothing printed"));
}

TEST(Verify, WrongInput) {
  const Command run;
  const auto fails = [&](const std::vector<std::string>& arguments, int exit,
                         const std::string& part) {
    const ChildResult result = run(arguments);
    EXPECT_EQ(result.exit_status, exit);
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(result.out, "");
  };
  fails({"verify"}, 2, "swizzle");
  fails({"verify", "pid = (pid"}, 2, "1:11");
  fails({"verify", "die-contigous"}, 2, "die-contiguous");
  fails({"verify", "system(\"rm\");pid = 1;"}, 2, "1:");
  for (const char* grid : {"0", "4x", "x4", "4x4x4x4", "-4", "axb", "4 x 4", "99999999999"})
    fails({"verify", "identity", "--grid", grid}, 2, "--grid");
  fails({"verify", "identity", "--grid", "2000000x2000000"}, 2, "more than 134217728 blocks");
  fails({"verify", "identity", "--grid", "2147483647"}, 2, "more than 134217728 blocks");
  fails({"verify", "identity", "--grid", "2147483647x2147483647x2147483647"}, 2, "give a smaller");
  for (const char* spec : {"die-contiguous+", "+die-contiguous", "die-contiguous++grouped"})
    fails({"verify", spec}, 2, "has a '+' with no swizzle on one side");
  fails({"verify", "pid = a;", "--param", "b=1"}, 2, "cus_per_xcd, b");
  fails({"verify", "identity", "--param", "x"}, 2, "--param takes NAME=NUMBER");
  fails({"verify", "pid = pid;", "--param", "=1"}, 2, "--param takes NAME=NUMBER");
  fails({"verify", "pid = pid + a - a;", "--param", "a=1", "--param", "a=2"}, 2, "given twice");
  fails({"verify", "grouped", "--param", "height=3"}, 2, "such as grouped:height=3");
  fails({"verify", "identity", "--xcds", "0"}, 2, "--xcds");
  fails({"verify", "@absent.swz"}, 2, "absent.swz");
}

}  // namespace
}  // namespace swizzleperf
