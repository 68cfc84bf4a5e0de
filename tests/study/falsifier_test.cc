// Every deal of small launches, in the ways in which it can go wrong: symmetry, resumption,
// formulas, refusals.
#include "study/falsifier.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "base/files.h"
#include "base/random.h"
#include "cli/command.h"
#include "study/deals.h"
#include "study/falsifier_report.h"
#include "support/random_launch.h"
#include "support/synthetic.h"
#include "swizzleperf/error.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf::study {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Order = std::vector<std::uint32_t>;

/// `across` x `down` tiles of a small GEMM, on as many dies.
Launch small_gemm(std::uint64_t across, std::uint64_t down, std::uint32_t dies) {
  const synthetic::Gemm gemm{.m = 32 * down, .n = 32 * across, .k = 64, .tile = 32};
  Trace trace = synthetic::build(gemm);
  trace.lds_bytes = 4096;
  trace.vgprs = 64;
  Machine machine = synthetic::mi300x();
  machine.title = "Test";
  machine.die_word = "XCD";
  machine.dies = dies;
  machine.skew = 0.03;
  machine.jitter = 0.1;
  machine.error_time = 0.05;
  return place(std::move(trace), machine);
}

FalsifierRequest request_in(const std::filesystem::path& directory, unsigned threads = 1) {
  return {.directory = directory, .threads = threads, .quiet = true};
}

std::string fault(const Launch& launch, const std::filesystem::path& directory) {
  try {
    (void)falsify(launch, request_in(directory));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInput);
    return error.what();
  }
}

nlohmann::ordered_json result_of(const Launch& launch, const Falsified& f) {
  nlohmann::ordered_json result = to_json(launch, f);
  result.erase("seconds");
  result.erase("replayed");
  return result;
}

/// Where dies share nothing but endless memory, what they are called changes not even the time.
TEST(Falsifier, NamesOfDiesChangeNothing) {
  Launch launch = small_gemm(4, 4, 8);
  Machine& m = launch.machine;
  m.skew = m.jitter = 0;
  m.llc.reset();
  m.hbm_bytes_per_ns = 1e12;
  const Replayer replayer(launch.trace, m, launch.occupancy.blocks_per_cu);
  const RoomyReplayer roomy = RoomyReplayer::of(replayer).value();
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    const Order order = synthetic::random_permutation(random, 16);
    const Order names = synthetic::random_permutation(random, 8);
    Order renamed(16);
    Order swapped(16);
    for (std::uint32_t i = 0; i < 16; ++i) {
      renamed[i / 8 * 8 + names[i % 8]] = order[i];
      swapped[i] = order[(i + 8) % 16];
    }
    const SimResult a = roomy.exact(order);
    EXPECT_EQ(roomy.exact(renamed).l2.hits, a.l2.hits);
    EXPECT_EQ(roomy.exact(renamed).time_ms, a.time_ms);
    EXPECT_EQ(roomy.exact(swapped).l2.hits, a.l2.hits);
  }
}

/// The hits of any permutation are those of a deal that was counted.
TEST(Falsifier, EveryPermutationIsOneOfTheDeals) {
  const Launch launch = small_gemm(4, 2, 4);
  const ScratchDirectory scratch;
  const Falsified f = falsify(launch, request_in(scratch.path()));
  EXPECT_EQ(f.tally.deals, 105U);
  EXPECT_EQ(f.replayed, 105U);
  const Replayer replayer(launch.trace, launch.machine, launch.occupancy.blocks_per_cu);
  Random random(4);
  std::set<double> seen;
  for (int i = 0; i < 400; ++i)
    seen.insert(replayer.exact(synthetic::random_permutation(random, 8)).l2.hits);
  std::set<double> counted;
  for (const auto& [hits, level] : f.tally.levels) counted.insert(hits);
  EXPECT_EQ(seen, counted);  // 400 draws of 105: none is missed
  EXPECT_EQ(f.most_hits.hits, *counted.rbegin());
  EXPECT_GT(counted.size(), 2U);
}

TEST(Falsifier, WhatIsShownIsReplayedByItsFormula) {
  const Launch launch = small_gemm(4, 2, 4);
  const ScratchDirectory scratch;
  const Falsified f = falsify(launch, request_in(scratch.path()));
  const Replayer replayer(launch.trace, launch.machine, launch.occupancy.blocks_per_cu);
  std::vector<Exhibit> shown = {f.most_hits, f.fastest};
  if (f.worst) shown.insert(shown.end(), {f.worst->more_hits, f.worst->fewer_hits});
  for (const Exhibit& e : shown) {
    const GridVerdict verdict = verify_grid(make_swizzle(e.formula).formula, launch.shape);
    ASSERT_TRUE(verdict.bijective) << e.formula;
    const SimResult r = replayer.exact(verdict.permutation);
    EXPECT_EQ(r.l2.hits, e.hits);
    EXPECT_GE(r.time_ms, 0.9 * e.copies.least_ms);
    EXPECT_LE(r.time_ms, 1.1 * e.copies.most_ms);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto& blocks = e.blocks_of_die[i % 4];
      EXPECT_NE(std::find(blocks.begin(), blocks.end(), verdict.permutation[i]), blocks.end());
    }
  }
  for (const auto& [hits, level] : f.tally.levels)
    EXPECT_LE(f.fastest.time_ms, level.fastest.time_ms);
  if (f.worst) {
    EXPECT_GT(f.worst->more_hits.hits, f.worst->fewer_hits.hits);
  }
}

TEST(Falsifier, TablesAreFormulas) {
  Random random(5);
  for (std::uint32_t blocks = 2; blocks <= 64; ++blocks) {
    const Order order = synthetic::random_permutation(random, blocks);
    const std::string formula = table_formula(order);
    EXPECT_EQ(verify_grid(make_swizzle(formula).formula, {{blocks, 1, 1}, 8, 38}).permutation,
              order)
        << formula;
  }
}

TEST(Falsifier, TheMeansOfCopiesDecide) {
  const auto exhibit = [](double mean, double deviation) {
    Exhibit e;
    e.copies = {.number = 100, .mean_ms = mean, .deviation_ms = deviation};
    return e;
  };
  const Refutation clear{exhibit(1.05, 0.03), exhibit(1, 0.04)};
  EXPECT_NEAR(clear.slower_by(), 0.05, 1e-12);
  EXPECT_NEAR(clear.standard_error(), 0.005, 0.0005);
  EXPECT_TRUE(clear.stands());
  EXPECT_FALSE((Refutation{exhibit(1.01, 0.03), exhibit(1, 0.04)}.stands()));
  EXPECT_FALSE((Refutation{exhibit(1.0001, 0), exhibit(1, 0)}.stands()));
  EXPECT_FALSE((Refutation{exhibit(0.9, 0.01), exhibit(1, 0.01)}.stands()));
}

/// Blocks 0 and 1 ask for much that nobody shares, the others a little that their neighbour asks
/// for, too. All pairs on dies of their own hit most, and the two long blocks share a die's
/// bandwidth.
struct TwoLongBlocks {
  static Trace launch() {
    Trace t;
    t.kernel = "two_long";
    t.grid = {8, 1, 1};
    t.block = {64, 1, 1};
    t.buffers = {{"data", std::uint64_t{1} << 40, 8 << 20}};
    return t;
  }
  void operator()(const Dim3& index, BlockRecorder& r) const {
    r.begin(1);
    const bool is_long = index.x < 2;
    std::array<std::uint64_t, 64> lanes{};
    for (std::uint64_t i = 0; i < (is_long ? 400 : 20); ++i) {
      const std::uint64_t first = (is_long ? index.x : index.x / 2 * 2) << 20 | i << 10;
      for (std::uint64_t lane = 0; lane < 64; ++lane)
        lanes[lane] = (std::uint64_t{1} << 40) + first + lane * 16;
      if (!r.access(AccessKind::kLoad, 0, ~0ULL, lanes.data(), 16)) return;
      if (!r.barrier()) return;
    }
  }
};

TEST(Falsifier, AContradictionThatIsThereIsFound) {
  Launch launch = small_gemm(4, 2, 4);
  Machine machine = launch.machine;
  machine.l2.bytes_per_clk = 0.5;  // what binds
  Trace trace = synthetic::build(TwoLongBlocks{}, 1, false);
  trace.vgprs = 64;
  launch = place(std::move(trace), machine);
  const ScratchDirectory scratch;
  const Falsified f = falsify(launch, request_in(scratch.path()));
  ASSERT_TRUE(f.worst);
  EXPECT_TRUE(f.worst->stands());
  EXPECT_GT(f.worst->slower_by(), 0.3);
  const auto& dies = f.worst->more_hits.blocks_of_die;
  EXPECT_NE(std::find(dies.begin(), dies.end(), Order({0, 1})), dies.end());
  EXPECT_THAT(unwrapped(in_words(launch, f)), HasSubstr("so this is more than it may be wrong by"));
}

// --- A run that is killed ------------------------------------------------------------------------

TEST(Falsifier, GoesOnAfterAKillWithTheSameResult) {
  const Launch launch = small_gemm(4, 3, 6);  // 10395 deals, three ranges
  const ScratchDirectory scratch;
  const std::filesystem::path file = scratch.path() / "deals.jsonl";
  const Falsified whole = falsify(launch, request_in(scratch.path()));
  EXPECT_EQ(whole.replayed, 10395U);
  const std::string text = read_file(file);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  ASSERT_EQ(lines.size(), 4U);

  // A kill leaves some ranges, in any order, and perhaps a torn one.
  const std::vector<std::pair<std::string, std::uint64_t>> kills = {
      {lines[0].substr(0, 20), 10395},
      {lines[0] + lines[2].substr(0, lines[2].size() / 2), 10395},
      {lines[0] + lines[2] + lines[1].substr(0, 9), 10395 - 4096},
      {lines[0] + lines[3] + lines[1], 4096},
      {text, 0}};
  for (const auto& [left, to_do] : kills) {
    write_file(file, left);
    const Falsified again = falsify(launch, request_in(scratch.path(), 2));
    EXPECT_EQ(again.replayed, to_do);
    EXPECT_EQ(result_of(launch, again), result_of(launch, whole));
  }
}

TEST(Falsifier, AnotherRunsDirectoryIsRefused) {
  const Launch launch = small_gemm(4, 2, 4);
  const ScratchDirectory scratch;
  (void)falsify(launch, request_in(scratch.path()));
  EXPECT_THAT(fault(small_gemm(2, 4, 4), scratch.path()),
              HasSubstr("deals.jsonl: is of another launch, machine or version"));
  Launch other = launch;
  other.machine.l2.latency_ns += 1;
  EXPECT_THAT(fault(other, scratch.path()), HasSubstr("another launch, machine or version"));
  const std::filesystem::path file = scratch.path() / "deals.jsonl";
  write_file(file, read_file(file) + "{\"range\": 3}\n");
  EXPECT_THAT(fault(launch, scratch.path()), HasSubstr("holds a line that no run wrote"));
}

// --- Refusals -----------------------------------------------------------------------------------

TEST(Falsifier, ADirectoryThatCannotBeHadIsOneSentence) {
  const ScratchDirectory scratch;
  const Launch launch = small_gemm(2, 2, 4);
  write_file(scratch.path() / "file", "");
  EXPECT_THAT(fault(launch, scratch.path() / "file"), HasSubstr("file: cannot be"));
  EXPECT_THAT(fault(launch, scratch.path() / "file" / "below"), HasSubstr("cannot be created"));
  const Fd lock = lock_directory(scratch.path());
  EXPECT_THAT(fault(launch, scratch.path()), HasSubstr("another process works"));
}

TEST(Falsifier, TooManyDealsAreCountedAndRefused) {
  const ScratchDirectory scratch;
  EXPECT_THAT(fault(small_gemm(8, 4, 8), scratch.path()),
              HasSubstr("gemm has 32 blocks, which can be dealt to 8 XCDs in 5.93e+19 ways"));
  EXPECT_THAT(fault(small_gemm(16, 16, 8), scratch.path()), HasSubstr("256 blocks"));
}

TEST(Falsifier, ASingleQueueChoosesDiesItself) {
  Launch launch = small_gemm(4, 2, 4);
  launch.machine.dispatch = Dispatch::kSingleQueue;
  const ScratchDirectory scratch;
  EXPECT_THAT(fault(launch, scratch.path()), HasSubstr("a swizzle does not choose dies"));
}

// --- What is written ----------------------------------------------------------------------------

TEST(Falsifier, FilesOfARun) {
  Command run;
  const Launch launch = small_gemm(4, 4, 8);
  write_trace(launch.trace, run.directory.path() / "g.trace");
  EXPECT_THAT(run({"study", "-m", "h200"}).err, HasSubstr("study takes --machine from its file"));
  EXPECT_THAT(run({"study", "falsifier", "a", "b"}).err, HasSubstr("'b' is one argument too many"));
  // Two million deals are too many for a test: a model of our own has as many dies as blocks.
  write_file(run.directory.path() / "m.toml",
             "base = \"mi300x\"\ndies = { value = 16, kind = \"memory\", source = \"test\" "
             "}\n[sources]\ntest = \"none\"\n");
  const ChildResult result =
      run({"study", "falsifier", "g.trace", "-m", "./m.toml", "--run-dir", "out", "-q"});
  ASSERT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out), HasSubstr("All 1 ways to deal them to 16 XCDs"));
  const json document = json::parse(read_file(run.directory.path() / "out" / "result.json"));
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["deals"], 1);
  EXPECT_TRUE(document["pearson"].is_null());
  EXPECT_TRUE(document["contradiction"].is_null());
}

TEST(Falsifier, WordsHistogramAndPicture) {
  const Launch launch = small_gemm(4, 3, 6);
  const ScratchDirectory scratch;
  const Falsified f = falsify(launch, request_in(scratch.path(), 2));
  std::uint64_t deals = 0;
  std::istringstream csv(histogram_csv(f));
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) deals += std::stoull(line.substr(line.rfind(',') + 1));
  EXPECT_EQ(deals, 10395U);
  const std::string svg = histogram_svg(launch, f);
  EXPECT_THAT(svg, HasSubstr("10,395 ways to deal 12 blocks to 6 XCDs"));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  const std::string words = unwrapped(in_words(launch, f));
  EXPECT_THAT(words, HasSubstr("All 10,395 ways to deal them to 6 XCDs"));
  EXPECT_THAT(words, HasSubstr(f.most_hits.formula));
  EXPECT_THAT(words,
              ::testing::AnyOf(HasSubstr("The belief is refuted"), HasSubstr("Not refuted")));
}

}  // namespace
}  // namespace swizzleperf::study
