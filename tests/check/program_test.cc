// `check` as a user runs it, on kernels that are right and on kernels that are wrong in the ways it
// is made for. Expected counts come from the remaps themselves, block by block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "../cli/command.h"
#include "vgpu/run.h"

namespace swizzleperf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kTileBytes = 4096;

class Check : public testing::Test {
 protected:
  /// One compilation for all tests; afterwards the executable is what is checked.
  static void SetUpTestSuite() {
    scratch_ = new ScratchDirectory;
    vgpu::ProgramSpec spec;
    spec.program = fs::path(PROGRAMS) / "blocks.hip";
    program_ = vgpu::build_program(spec, scratch_->path()).executable;
  }
  static void TearDownTestSuite() { delete scratch_; }

  static ChildResult run(const std::vector<std::string>& mode,
                         const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"check", program_.string()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), mode.begin(), mode.end());
    return Command()(words);
  }
  /// The JSON, whose `failed` decides the exit code.
  static json found(const std::vector<std::string>& mode, std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--format", "json"});
    const ChildResult result = run(mode, options);
    const json document = json::parse(result.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << result.err;
    if (!document.is_object()) return {};
    EXPECT_EQ(result.exit_status, document["failed"].empty() ? 0 : 1) << result.err;
    EXPECT_EQ(document["passed"], document["failed"].empty());
    return document;
  }
  static std::string console(const std::vector<std::string>& mode,
                             const std::vector<std::string>& options = {}) {
    return unwrapped(run(mode, options).out);
  }
  static std::vector<std::string> failed(const std::vector<std::string>& mode,
                                         const std::vector<std::string>& options = {}) {
    return found(mode, options).value("failed", std::vector<std::string>{"no result"});
  }

  static inline ScratchDirectory* scratch_ = nullptr;
  static inline fs::path program_;
};

/// (p % 8) * (n / 8) + p / 8, which is a permutation where 8 divides n.
std::set<int> computed_tiles(int n) {
  std::set<int> tiles;
  for (int p = 0; p < n; ++p) tiles.insert(p % 8 * (n / 8) + p / 8);
  return tiles;
}

// ---- lost and repeated blocks ------------------------------------------------------------------

TEST_F(Check, ALossyRemapRepeatsBlocksAndLosesAsMany) {
  for (const int n : {10, 13, 23, 100}) {
    const std::set<int> tiles = computed_tiles(n);
    const auto lost = static_cast<int>(n - tiles.size());
    const json result = found({"lossy", std::to_string(n)}, {"--must-write", "c"});
    EXPECT_THAT(result["failed"], ElementsAre("repeated", "unwritten")) << n;
    EXPECT_EQ(result["repeated"]["blocks"], lost) << n;
    EXPECT_EQ(result["must_write"][0]["unwritten"]["bytes"], lost * kTileBytes) << n;
    EXPECT_EQ(result["bytes_of_block"], kTileBytes);
    EXPECT_EQ(result["different"]["blocks"], 0);
  }
}

TEST_F(Check, TheSmallestExampleIsNamed) {
  const json result = found({"lossy", "10"});
  EXPECT_THAT(result["failed"], ElementsAre("repeated"));
  const json& example = result["repeated"]["examples"][0];
  EXPECT_EQ(example["blocks"], json({1, 8}));
  EXPECT_EQ(example["bytes"], kTileBytes);
  EXPECT_EQ(example["offset"], kTileBytes);
  EXPECT_THAT(example["buffer"], HasSubstr("'c'"));
  const std::string text = console({"lossy", "10"}, {"--must-write", "c"});
  EXPECT_THAT(text, HasSubstr("2 of 10 blocks make exactly the accesses of an earlier block"));
  EXPECT_THAT(text, HasSubstr("blocks 1 and 8 write the same 4096 bytes of arg 0 'c'"));
  EXPECT_THAT(text, HasSubstr("8192 of 40960 bytes of 'c', in 1 run, the first from byte 32768 on: "
                              "2 blocks' worth (most blocks store 4096 bytes)"));
  EXPECT_THAT(text, HasSubstr("Failed: repeated, unwritten."));
}

TEST_F(Check, TheSameRemapWhereItIsAPermutationPasses) {
  EXPECT_THAT(failed({"lossy", "16"}, {"--must-write", "c"}), ElementsAre());
  EXPECT_THAT(failed({"exact", "10"}, {"--must-write", "c"}), ElementsAre());
  EXPECT_THAT(failed({"identity", "10"}, {"--must-write", "0"}), ElementsAre());
  EXPECT_THAT(console({"exact", "10"}, {"--must-write", "c"}),
              HasSubstr("Passed: no block repeats another or depends on one, and what must be "
                        "written is."));
}

TEST_F(Check, RepeatedWorkInPlaceIsAConflictOnlyOfTheRepeatedBlocks) {
  const json result = found({"in-place-lossy", "10"});
  EXPECT_THAT(result["failed"], ElementsAre("repeated"));
  EXPECT_EQ(result["repeated"]["blocks"], 2);
}

TEST_F(Check, HeadFirstWithTwelveHeadsOnEightDies) {
  constexpr int kHeads = 12;
  constexpr int kTiles = 5;
  std::set<std::pair<int, int>> computed;
  for (int p = 0; p < kHeads * kTiles; ++p)
    computed.insert({p % 8 * (kHeads / 8) + p / 8 / kTiles, p / 8 % kTiles});
  const auto lost = static_cast<int>(kHeads * kTiles - computed.size());
  ASSERT_GT(lost, 0);
  const json result = found({"heads-lossy", "12", "5"}, {"--must-write", "o"});
  EXPECT_THAT(result["failed"], ElementsAre("repeated", "unwritten"));
  EXPECT_EQ(result["repeated"]["blocks"], lost);
  EXPECT_EQ(result["must_write"][0]["unwritten"]["bytes"], lost * 1024);
  EXPECT_THAT(failed({"heads-exact", "12", "5"}, {"--must-write", "o"}), ElementsAre());
  EXPECT_THAT(failed({"heads-lossy", "16", "5"}, {"--must-write", "o"}), ElementsAre());
}

// ---- what is missing ---------------------------------------------------------------------------

TEST_F(Check, AGridThatIsOneTileShort) {
  EXPECT_THAT(failed({"short", "10"}), ElementsAre()) << "nobody said what must be written";
  const json result = found({"short", "10"}, {"--must-write", "c"});
  EXPECT_THAT(result["failed"], ElementsAre("unwritten"));
  EXPECT_EQ(result["must_write"][0]["unwritten"]["first"],
            json({{"offset", 9 * kTileBytes}, {"bytes", kTileBytes}}));
  EXPECT_THAT(failed({"short", "10"}, {"--must-write", "c:36864"}), ElementsAre());
  EXPECT_THAT(failed({"short", "10"}, {"--must-write", "c:36865"}), ElementsAre("unwritten"));
}

TEST_F(Check, HolesBetweenWrittenBytesAreANote) {
  EXPECT_THAT(failed({"even", "10"}), ElementsAre());
  EXPECT_THAT(console({"even", "10"}),
              HasSubstr("arg 0 'c' is written with 4 holes between (16384 bytes: 4 blocks' worth"));
  EXPECT_EQ(found({"even", "10"}, {"--must-write", "c"})["must_write"][0]["unwritten"]["runs"], 5);
  EXPECT_THAT(console({"lossy", "10"}), testing::Not(HasSubstr("holes between")));
}

TEST_F(Check, WhatIsAllowedIsNoFailure) {
  EXPECT_THAT(failed({"lossy", "10"}, {"--allow", "repeated"}), ElementsAre());
  EXPECT_THAT(console({"lossy", "10"}, {"--allow", "repeated"}),
              HasSubstr("Passed, since these are allowed: repeated."));
}

TEST_F(Check, AgainstAnotherLaunchOfTheProgram) {
  const json result =
      found({"two-launches", "10"}, {"--kernel", "scale\\(", "--reference", "scale_plainly"});
  EXPECT_THAT(result["failed"], ElementsAre("repeated", "unwritten"));
  EXPECT_EQ(result["reference"]["blocks"], 10);
  EXPECT_EQ(result["reference"]["lost_blocks"], 2);
  EXPECT_EQ(result["reference"]["partly_lost_blocks"], 0);
  EXPECT_EQ(result["reference"]["lost_bytes"], 2 * kTileBytes);
  EXPECT_EQ(result["reference"]["extra_bytes"], 0);
  EXPECT_EQ(result["reference"]["examples"][0]["block"], 8);
  // By number: launch 0 of all is the complete one.
  EXPECT_EQ(found({"two-launches", "10"}, {"--launch", "1", "--reference", "0"})["reference"],
            result["reference"]);
}

TEST_F(Check, AgainstAnotherProgram) {
  // The same source, whose first argument decides: a program of its own makes the plain launch.
  const fs::path plain = scratch_->path() / "plain.hip";
  write_file(plain,
             "#include <hip/hip_runtime.h>\n"
             "__global__ void other(float* c, const float* a) {\n"
             "  for (int i = threadIdx.x; i < 1024; i += 256)\n"
             "    c[blockIdx.x * 1024 + i] = a[blockIdx.x * 1024 + i];\n"
             "}\n"
             "int main() {\n"
             "  float *c, *a;\n"
             "  hipMalloc(&c, 40960);\n"
             "  hipMalloc(&a, 40960);\n"
             "  other<<<10, 256>>>(c, a);\n"
             "}\n");
  const std::string file = plain.string();
  const json result = found({"lossy", "10"}, {"--reference-program", file});
  EXPECT_EQ(result["reference"]["lost_blocks"], 2);
  EXPECT_THAT(failed({"exact", "10"}, {"--reference-program", file}), ElementsAre());
  const std::string text = console({"exact", "11"}, {"--reference-program", file});
  EXPECT_THAT(text, HasSubstr("4096 bytes are written that it does not write"));
}

// ---- blocks that depend on each other ----------------------------------------------------------

TEST_F(Check, ALookBackScanWaits) {
  for (const char* mode : {"look-back", "look-back-by-atomics"}) {
    const json result = found({mode, "9"});
    EXPECT_THAT(result["failed"], ElementsAre("communication")) << mode;
    EXPECT_EQ(result["communication"]["blocks"], 8) << mode;
    EXPECT_EQ(result["communication"]["pairs"], 8) << mode;
    const json& example = result["communication"]["examples"][0];
    EXPECT_EQ(example["writer"], 0);
    EXPECT_EQ(example["reader"], 1);
    EXPECT_EQ(example["waits"], true) << mode;
    EXPECT_GT(example["read_line"]["line"], 0);
    EXPECT_THAT(example["write_line"]["file"], HasSubstr("blocks.hip"));
  }
  EXPECT_THAT(console({"look-back", "9"}),
              HasSubstr("it waits for that: run alone, it does not end"));
}

TEST_F(Check, BlocksThatWaitForLaterOnesTakeTurns) {
  const json result = found({"look-ahead", "6"}, {"--must-write", "out"});
  EXPECT_THAT(result["failed"], ElementsAre("communication"));
  // Five that read, and the last one, which overwrites what others saw before it was there.
  EXPECT_EQ(result["communication"]["blocks"], 6);
  EXPECT_EQ(result["communication"]["examples"][0]["waits"], true);
}

TEST_F(Check, AReadThatALaterBlockOverwrites) {
  const json result = found({"shift", "6"});
  EXPECT_THAT(result["failed"], ElementsAre("communication"));
  EXPECT_EQ(result["communication"]["pairs"], 5);
  EXPECT_EQ(result["communication"]["bytes"], 5 * 4);
  const json& example = result["communication"]["examples"][0];
  EXPECT_EQ(example["overwritten"], true);
  EXPECT_EQ(example["reader"], 0);
  EXPECT_EQ(example["writer"], 1);
}

TEST_F(Check, DifferentValuesAreAConflictAndEqualOnesANote) {
  const json race = found({"race", "5"});
  EXPECT_THAT(race["failed"], ElementsAre("conflict"));
  EXPECT_EQ(race["different"]["blocks"], 4);
  EXPECT_EQ(race["different"]["bytes"], 4 * 8);
  EXPECT_EQ(race["different"]["examples"][0]["blocks"], json({0, 1}));
  const json halo = found({"halo", "5"});
  EXPECT_THAT(halo["failed"], ElementsAre());
  EXPECT_EQ(halo["same"]["bytes"], 4 * 8);
  EXPECT_EQ(halo["blocks_without_own_bytes"], 0);
  const json flag = found({"flag", "5"});
  EXPECT_THAT(flag["failed"], ElementsAre());
  EXPECT_EQ(flag["same"]["blocks"], 4);
  EXPECT_EQ(flag["blocks_without_own_bytes"], 4);
}

TEST_F(Check, NoFalseAlarm) {
  for (const char* mode : {"histogram", "compare-and-swap", "split-k", "split-k-last", "persistent",
                           "persistent-by-ticket"}) {
    EXPECT_THAT(failed({mode, "7", "3"}), ElementsAre()) << mode;
  }
  const json last = found({"split-k-last", "7", "3"});
  EXPECT_EQ(last["ordered"]["blocks"], 7);
  EXPECT_EQ(last["ordered"]["examples"][0]["waits"], false);
  EXPECT_EQ(found({"persistent-by-ticket", "7", "3"})["ticket_blocks"], 2);
  EXPECT_EQ(found({"histogram", "7"})["atomic_bytes"], 16 * 4);
}

// ---- optimize looks too ------------------------------------------------------------------------

TEST_F(Check, OptimizeWarnsOfWhatItsComparisonDoesNotCover) {
  const auto blocks = [](const std::vector<std::string>& mode) {
    std::vector<std::string> words = {"optimize", program_.string(), "-q", "--"};
    words.insert(words.end(), mode.begin(), mode.end());
    const Command command;
    const ChildResult result = command(words);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    const json report =
        json::parse(read_file(command.directory.path() / "swizzleperf-runs/program/result.json"));
    for (const json& warning : report["blocks"]["warnings"]) {
      EXPECT_THAT(unwrapped(result.out), HasSubstr(warning.get<std::string>()));
      EXPECT_THAT(warning.get<std::string>(), HasSubstr("'swizzleperf check'"));
    }
    return report["blocks"];
  };
  const json lossy = blocks({"lossy", "100"});
  EXPECT_EQ(lossy["repeated"], 100 - static_cast<int>(computed_tiles(100).size()));
  EXPECT_EQ(lossy["warnings"].size(), 1U);
  EXPECT_EQ(blocks({"halo", "40"})["overlapping"], 39);
  EXPECT_EQ(blocks({"shift", "40"})["communicating"], 39);
  EXPECT_EQ(blocks({"exact", "100"})["warnings"].size(), 0U);
  EXPECT_EQ(blocks({"split-k", "20", "3"})["warnings"].size(), 0U);
}

// ---- usage -------------------------------------------------------------------------------------

TEST_F(Check, WrongUsageIsOneSentence) {
  const auto sentence = [](const ChildResult& result, int exit, const std::string& part) {
    EXPECT_EQ(result.exit_status, exit) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, AllOf(testing::StartsWith("swizzleperf: "), HasSubstr(part)));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  };
  const std::vector<std::string> mode = {"identity", "4"};
  sentence(run(mode, {"--must-write", "d"}), 2, "no pointer of that name; did you mean");
  sentence(run(mode, {"--must-write", "c:0"}), 2, "not 'c:0'");
  sentence(run(mode, {"--must-write", "c:99999"}), 2, "only 16384 bytes are allocated there");
  sentence(run(mode, {"--reference", "1"}), 3, "there is no launch 1");
  sentence(run(mode, {"--reference", "nothing"}), 3, "matches 'nothing'");
  sentence(run(mode, {"--reference", "0", "--reference-program", "x.hip"}), 2, "give one");
  sentence(run(mode, {"--allow", "everything"}), 2, "--allow");
  sentence(run(mode, {"--every-block"}), 2, "check has no option --every-block");
  sentence(run({"no such mode"}), 3, "ended without launching a kernel");
}

}  // namespace
}  // namespace swizzleperf
