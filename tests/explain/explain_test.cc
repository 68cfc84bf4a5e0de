// What explain says can be checked: limits that nothing beats, figures that are in the JSON,
// what-ifs that were replayed.
#include "explain/explain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <regex>
#include <set>

#include "cli/command.h"
#include "explain/row_stride.h"
#include "explain/words.h"
#include "report/launch_text.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

using testing::HasSubstr;

Launch launch_of(Trace trace, Machine machine, std::uint32_t blocks_per_cu) {
  Launch launch;
  launch.trace = std::move(trace);
  launch.machine = std::move(machine);
  launch.occupancy = {blocks_per_cu, "LDS"};
  launch.shape = {launch.trace.grid, launch.machine.dies, launch.machine.cus_per_die};
  return launch;
}

Machine small_mi300x() {
  Machine m = synthetic::mi300x();
  m.die_word = "XCD";
  m.cus_per_die = 4;
  m.l2.bytes = 512 << 10;
  m.llc->bytes = 8 << 20;
  m.error_time = 0.05;
  return m;
}

constexpr const char* kReversed = "pid = num_blocks - 1 - pid;";

/// Whatever binds: the limit holds for orders good and bad, and the one that is given the order's
/// own first touches is no lower.
TEST(Explain, NoOrderIsFasterThanTheLimit) {
  std::set<Bound> bounds;
  for (int slow = 0; slow < 5; ++slow) {
    SCOPED_TRACE(slow);
    Machine machine = small_mi300x();
    if (slow == 0) machine.matrix_flops_per_clk = 16;
    if (slow == 1) machine.l2.bytes_per_clk = 1;
    if (slow == 2) machine.fabric_bytes_per_clk = 0.5;
    if (slow == 3) machine.llc->bytes_per_clk = 0.5;
    if (slow == 4) machine.hbm_bytes_per_ns = 0.5;
    const Launch launch = launch_of(synthetic::build(synthetic::Gemm{1024, 1024, 256}), machine, 2);
    for (const char* spec : {kReversed, "die-contiguous", "grouped:height=4"}) {
      SCOPED_TRACE(spec);
      const Explanation x = explain(launch, {spec, 1, 2});
      ASSERT_EQ(x.orders.size(), 2U);
      for (const ExplainedOrder& o : x.orders) {
        EXPECT_LE(x.any_order.time_ms, o.misses.result.time_ms * (1 + 1e-9));
      }
      EXPECT_LE(x.this_order.time_ms, x.order().misses.result.time_ms * (1 + 1e-9));
      EXPECT_GE(x.this_order.time_ms, x.any_order.time_ms);
      EXPECT_GT(x.any_order.time_ms, 0);
      bounds.insert(x.any_order.bound);
    }
  }
  EXPECT_EQ(bounds.size(), 5U);  // each level was the one that bound
}

TEST(Explain, TheIdentityIsComparedWithNothing) {
  const Launch launch =
      launch_of(synthetic::build(synthetic::Gemm{512, 512, 128}), small_mi300x(), 2);
  const Explanation x = explain(launch, {"identity", 1, 1});
  EXPECT_EQ(x.orders.size(), 1U);
  EXPECT_EQ(&x.order(), &x.identity());
  EXPECT_THAT(explain_in_words(launch, x).front().sentences.front(),
              HasSubstr("Only the identity"));
}

TEST(Explain, SearchesWhenNoOrderIsGiven) {
  const Launch launch =
      launch_of(synthetic::build(synthetic::Gemm{1024, 2048, 256}), small_mi300x(), 1);
  const Explanation x = explain(launch, {"", 1, 2});
  EXPECT_GT(x.candidates, 20U);
  ASSERT_EQ(x.orders.size(), 2U);
  EXPECT_LT(x.order().misses.result.l2_misses(), x.identity().misses.result.l2_misses());
}

TEST(Explain, RefusesWhatIsNoBijection) {
  const Launch launch =
      launch_of(synthetic::build(synthetic::Gemm{512, 512, 128}), small_mi300x(), 2);
  EXPECT_THROW(explain(launch, {"pid = pid / 2;", 1, 1}), Error);
}

/// A launch with misses of every class: columns of a transpose meet in few sets.
Launch conflicting() {
  Machine machine = small_mi300x();
  machine.dies = 1;
  machine.cus_per_die = 38;
  machine.l2.bytes = 1 << 20;
  return launch_of(synthetic::build(synthetic::Transpose{4096}), machine, 8);
}

const Explanation& explained_conflicts() {
  static const Explanation x = explain(conflicting(), {kReversed, 1, 2});
  return x;
}

TEST(Explain, PaddingIsReplayed) {
  const Explanation& x = explained_conflicts();
  ASSERT_TRUE(x.padded && x.hashed);
  ASSERT_FALSE(x.padded->paddings.empty());
  for (const Padding& p : x.padded->paddings) {
    EXPECT_EQ(p.stride_bytes, 8192U);
    EXPECT_EQ(p.pad_bytes, 128U);
  }
  const auto conflicts = [](const Classified& c) {
    return c.total().of(MissClass::kConflict).requests;
  };
  for (std::size_t i = 0; i < x.orders.size(); ++i) {
    EXPECT_GT(conflicts(x.orders[i].misses), 0);
    EXPECT_LT(conflicts(x.padded->orders[i]), conflicts(x.orders[i].misses));
    EXPECT_LT(conflicts(x.hashed->orders[i]), conflicts(x.orders[i].misses));
  }
}

// ---- sentences ----------------------------------------------------------------------------------

/// How sentences write the value of a key; nothing for one that they do not use.
std::vector<std::string> words_of(const std::string& key, double value) {
  const auto one_of = [&](std::initializer_list<const char*> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (key == "time_ms") return {fmt::format("{:.3f}", value), fmt::format("{:.3f} ms", value)};
  if (one_of({"bytes", "fetched_bytes", "l2_bytes"})) return {bytes_words(value)};
  if (one_of({"stride_bytes", "pad_bytes"})) return {fmt::format("{} bytes", value)};
  if (one_of({"requests", "misses", "fully_associative_misses"})) return {count_words(value)};
  if (key == "candidates") return {fmt::format("{} orders", value)};
  if (key == "blocks") return {fmt::format("{} blocks", value)};
  if (one_of({"share", "share_of_class", "hit_rate"})) {
    return {fmt::format("{:.1f} %", 100 * value)};
  }
  if (one_of({"compute", "l2", "fabric", "llc", "hbm", "gained", "error_time"})) {
    return {fmt::format("{:.0f} %", 100 * value)};
  }
  if (one_of({"speedup", "most_speedup"})) return {fmt::format("{:.2f}x", value)};
  if (key == "times_l2") return {fmt::format("{:.1f} times", value)};
  return {};
}

void collect(const std::string& key, const nlohmann::ordered_json& node,
             std::set<std::string>& known) {
  if (node.is_object()) {
    for (const auto& [name, child] : node.items()) collect(name, child, known);
  } else if (node.is_array()) {
    for (const auto& child : node) collect(key, child, known);
  } else if (node.is_number()) {
    for (std::string& text : words_of(key, node)) known.insert(std::move(text));
  }
}

void expect_figures_known(const Launch& launch, const Explanation& x) {
  nlohmann::ordered_json document = to_json(launch, x);
  document.erase("words");
  std::set<std::string> known;
  collect("", document, known);
  static const std::regex kName("L2|height[= ][0-9]+");  // not figures
  static const std::regex kFigure(
      "[0-9]+(\\.[0-9]+)?( (%|(ms|[kMGT]?B|[kMGT]|times|bytes|blocks|orders)\\b)|x)?");
  std::size_t figures = 0;
  for (const Paragraph& p : explain_in_words(launch, x)) {
    for (const std::string& whole : p.sentences) {
      const std::string sentence = std::regex_replace(whole, kName, "");
      for (std::sregex_iterator it(sentence.begin(), sentence.end(), kFigure), end; it != end;
           ++it, ++figures) {
        EXPECT_TRUE(known.contains(it->str())) << it->str() << " in: " << sentence;
      }
    }
  }
  EXPECT_GT(figures, 10U);
}

TEST(Explain, FiguresOfTheSentencesAreInTheJson) {
  expect_figures_known(conflicting(), explained_conflicts());
  const Launch gemm =
      launch_of(synthetic::build(synthetic::Gemm{2048, 2048, 512}), small_mi300x(), 2);
  expect_figures_known(gemm, explain(gemm, {"", 1, 2}));
}

TEST(Explain, SaysWhatDominates) {
  const auto all = [](const Launch& launch, const Explanation& x) {
    std::string text;
    for (const Paragraph& p : explain_in_words(launch, x)) {
      for (const std::string& sentence : p.sentences) text += sentence + "\n";
    }
    return text;
  };
  const std::string conflicts = all(conflicting(), explained_conflicts());
  EXPECT_THAT(conflicts, HasSubstr("are conflict"));
  EXPECT_THAT(conflicts, HasSubstr("(8192 bytes apart)"));
  Machine ample = small_mi300x();
  ample.l2.bytes = 8 << 20;
  ample.dies = 1;
  const Launch fits = launch_of(synthetic::build(synthetic::Gemm{512, 512, 256}), ample, 2);
  const std::string compulsory = all(fits, explain(fits, {kReversed, 1, 2}));
  EXPECT_THAT(compulsory, HasSubstr("100.0 % of the misses under the swizzle are compulsory"));
  EXPECT_THAT(compulsory, HasSubstr("no order can help"));
  EXPECT_THAT(compulsory, testing::Not(HasSubstr("are conflict")));
}

/// Nothing is divided by nothing.
TEST(Explain, ALaunchThatAsksForNothing) {
  Trace trace;
  trace.grid = {4, 2, 1};
  trace.templates = {{}};
  trace.blocks.assign(8, {0, 0});
  const Launch launch = launch_of(std::move(trace), small_mi300x(), 1);
  for (const char* spec : {"", "identity", kReversed}) {
    const Explanation x = explain(launch, {spec, 1, 1});
    for (const Paragraph& p : explain_in_words(launch, x)) {
      ASSERT_FALSE(p.sentences.empty());
      for (const std::string& sentence : p.sentences) {
        EXPECT_THAT(sentence, testing::Not(testing::ContainsRegex("nan|inf")));
      }
    }
    EXPECT_EQ(to_json(launch, x)["orders"].front()["total"]["misses"], 0);
  }
}

// ---- what the sentences rest on -----------------------------------------------------------------

TEST(RowStride, IsTheLeadingDimension) {
  const auto strides = [](const Trace& trace) {
    return row_strides(make_lines(trace, small_mi300x(), 1));
  };
  const auto gemm = strides(synthetic::build(synthetic::Gemm{512, 1024, 2048}));
  EXPECT_EQ(gemm[0].bytes, 2048U * 2);  // A: K columns
  EXPECT_EQ(gemm[1].bytes, 1024U * 2);  // B and C: N columns
  EXPECT_EQ(gemm[2].bytes, 1024U * 2);
  EXPECT_GT(gemm[1].share, 0.9);
  const auto transpose = strides(synthetic::build(synthetic::Transpose{1024}));
  EXPECT_EQ(transpose[0].bytes, 2048U);
  EXPECT_EQ(transpose[1].bytes, 2048U);
}

/// Four blocks of one row of tiles on one die: one panel of A, four of B, four tiles of C.
TEST(WorkingSet, CountsEachLineOnce) {
  Machine machine = small_mi300x();
  const synthetic::Gemm gemm{512, 512, 256};
  const LineTrace lines = make_lines(synthetic::build(gemm), machine, 1);
  std::vector<std::uint32_t> order(16);
  std::iota(order.begin(), order.end(), 0U);
  machine.dies = 1;
  const WorkingSet row = working_set(lines, machine, 1, order);
  EXPECT_EQ(row.blocks, 4U);
  EXPECT_EQ(row.by_array, (std::vector<double>{128 * 256 * 2, 512 * 256 * 2, 4 * 128 * 128 * 2}));
  EXPECT_EQ(row.bytes, std::accumulate(row.by_array.begin(), row.by_array.end(), 0.0));
  // Dealt to four dies in turn, the first gets a column.
  machine.dies = 4;
  const WorkingSet column = working_set(lines, machine, 1, order);
  EXPECT_EQ(column.by_array,
            (std::vector<double>{512 * 256 * 2, 128 * 256 * 2, 4 * 128 * 128 * 2}));
}

// ---- the verb -----------------------------------------------------------------------------------

TEST(ExplainVerb, PrintsTablesAndWritesTheSameAsJson) {
  const Command run;
  const std::filesystem::path trace = run.directory.path() / "gemm.trace";
  Trace launch = synthetic::build(synthetic::Gemm{1024, 1024, 256});
  launch.vgprs = 64;
  write_trace(launch, trace);
  const ChildResult result =
      run({"explain", "gemm.trace", "-s", "die-contiguous", "--json", "gemm.json"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("compulsory"));
  EXPECT_THAT(unwrapped(result.out), HasSubstr("no order gains more than"));
  const auto beside = nlohmann::json::parse(read_file(run.directory.path() / "gemm.json"));
  EXPECT_EQ(beside, run.json({"explain", "gemm.trace", "-s", "die-contiguous"}));
  ASSERT_EQ(beside["orders"].size(), 2U);
  for (const auto& order : beside["orders"]) {
    double misses = 0;
    for (const auto& tally : order["total"]["by_class"]) misses += tally["requests"].get<double>();
    const auto& l2 = order["metrics"]["l2"];
    EXPECT_EQ(misses, l2["requests"].get<double>() - l2["hits"].get<double>());
  }
  EXPECT_EQ(run({"explain", "gemm.trace", "-s", "pid = pid / 2;"}).exit_status, 1);
  EXPECT_EQ(run({"explain", "gemm.trace", "-s", "reverse", "-s", "identity"}).exit_status, 2);
}

}  // namespace
}  // namespace swizzleperf
