// What a proposer is told: nothing of hardware where nothing is to be said, nothing but facts where
// much is.
#include "context/context.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "cli/command.h"
#include "report/launch_text.h"
#include "support/random_launch.h"
#include "support/synthetic.h"

namespace swizzleperf {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Launch launch_of(Trace trace, Machine machine) {
  trace.vgprs = 64;
  for (std::size_t b = 0; b < trace.buffers.size(); ++b) {
    trace.buffers[b].name = fmt::format("arg {} 'p'", b);
  }
  return place(std::move(trace), std::move(machine));
}

Context context_of(const Launch& launch, ContextKind kind, unsigned threads = 2) {
  return make_context(launch, {kind, "__global__ void gemm(float* p) { p[0] = 1; }", "gemm.hip", 1,
                               threads, Objective::kTime});
}

Trace small_gemm() { return synthetic::build(synthetic::Gemm{1024, 1280, 256}); }

// ---- unaware ------------------------------------------------------------------------------------

/// Words and figures that say something of hardware or of what was measured.
void expect_no_hardware(const std::string& text, const Machine& m) {
  static const std::regex kWords(
      "\\b(dies?|xcds?|gcds?|num_xcds|cus_per_xcd|l1|l2|llc|caches?|cached|last.level|hbm|dram|cus?"
      "|"
      "compute units?|sms?|partitions?|slots?|occupancy|dispatched|dispatches|hit|hits|miss|misses|"
      "lines? of|fetched|share|shared by|amd|nvidia|mi[0-9]+x?|h[12]00|gfx[0-9a-f]+|sm_[0-9]+)\\b",
      std::regex::icase);
  std::smatch found;
  EXPECT_FALSE(std::regex_search(text, found, kWords)) << found.str() << " in: " << text;
  for (const std::string& figure :
       {m.name, m.title, m.arch, bytes_words(double(m.l2.bytes)), fmt::to_string(m.l2.bytes)}) {
    EXPECT_THAT(text, Not(HasSubstr(figure)));
  }
}

TEST(Context, UnawareSaysNothingOfHardware) {
  std::set<std::string> texts;
  for (const char* name : {"mi300x", "mi300x-cpx", "mi355x", "h200"}) {
    const Launch launch = launch_of(small_gemm(), load_machine(name));
    const Context c = context_of(launch, ContextKind::kUnaware);
    expect_no_hardware(c.text, launch.machine);
    expect_no_hardware(c.language, launch.machine);
    expect_no_hardware(c.facts.dump(), launch.machine);
    EXPECT_THAT(c.text, HasSubstr("10 x 8 blocks"));
    EXPECT_THAT(c.text, HasSubstr("__global__ void gemm"));
    texts.insert(c.text + c.facts.dump() + c.language);
  }
  EXPECT_EQ(texts.size(), 1U);  // whatever the machine
}

/// Nor do the sources of the suite, whose comments explain caches at length.
TEST(Context, UnawareSaysNothingOfHardwareOnTheSuite) {
  const Launch launch = launch_of(small_gemm(), load_machine("mi300x"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SWIZZLEPERF_KERNELS)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() != ".hip" && file.extension() != ".py") continue;
    if (file.parent_path().filename() != file.stem()) continue;  // no kernel
    SCOPED_TRACE(file);
    Launch named = launch;
    named.trace.kernel = file.stem().string();
    const Context c = make_context(named, {ContextKind::kUnaware, read_file(file),
                                           file.filename().string(), 1, 1, Objective::kL2});
    // Code says what it says: __shared__ memory and launch bounds are the kernel's own.
    expect_no_hardware(c.text, launch.machine);
    ++files;
  }
  EXPECT_GE(files, 20U);
}

// ---- aware --------------------------------------------------------------------------------------

/// How the text writes a value of the facts.
void add_words(const std::string& key, double value, std::set<std::string>& known) {
  const auto one_of = [&](std::initializer_list<const char*> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (one_of({"grid", "block", "blocks", "distance", "pairs", "rows", "of", "lines", "least",
              "median", "most", "line_bytes", "dies", "cus_per_die", "blocks_per_cu", "slots",
              "slots_per_die", "dispatch_chunk"})) {
    known.insert(fmt::format("{:.0f}", value));
  }
  if (one_of({"line_bytes"})) known.insert(fmt::format("{:.0f} bytes", value));
  if (one_of({"bytes", "loaded_bytes", "stored_bytes", "bytes_of_block", "read_bytes",
              "write_bytes", "fetched_bytes", "l2_bytes", "llc_bytes"})) {
    known.insert(bytes_words(value));
  }
  if (one_of({"requests"})) known.insert(count_words(value));
  if (one_of({"share", "by_all", "by_any", "outside", "hit_rate", "least", "most"})) {
    known.insert(fmt::format("{:.1f} %", 100 * value));
    if (value == 0 || value == 1) known.insert(value == 0 ? "0 %" : "100 %");
    if (value > 0 && value < 0.0005) known.insert("0.1 %");
    if (value < 1 && value >= 0.9995) known.insert("99.9 %");
  }
  if (one_of({"compute", "l2", "fabric", "llc", "hbm"})) {
    known.insert(fmt::format("{:.0f} %", 100 * value));
  }
  if (key == "time_ms") known.insert(fmt::format("{:.3f} ms", value));
  if (key == "most_speedup") known.insert(fmt::format("{:.2f}x", value));
  if (one_of({"times_l2", "times_llc"})) known.insert(fmt::format("{:.2f} times", value));
}

void collect(const std::string& key, const json& node, std::set<std::string>& known) {
  if (node.is_object()) {
    for (const auto& [name, child] : node.items()) collect(name, child, known);
  } else if (node.is_array()) {
    for (const auto& child : node) collect(key, child, known);
  } else if (node.is_number()) {
    add_words(key, node, known);
  }
}

void expect_figures_known(const Launch& launch, std::size_t at_least) {
  const Context c = context_of(launch, ContextKind::kAware);
  std::set<std::string> known;
  collect("", c.facts, known);
  std::string text = c.text.substr(0, c.text.find("# Its source"));
  for (const Buffer& b : launch.trace.buffers) {
    for (std::size_t at = 0; (at = text.find(b.name, at)) != std::string::npos;) {
      text.erase(at, b.name.size());
    }
  }
  text = std::regex_replace(text, std::regex("\\s+"), " ");
  // Names, not figures.
  const std::string machine = c.facts["machine"]["title"];
  if (const std::size_t at = text.find(machine); at != std::string::npos) {
    text.erase(at, machine.size());
  }
  text = std::regex_replace(text, std::regex("L2|last-level|0 \\.\\. num_blocks - 1"), "");
  static const std::regex kFigure(
      "[0-9]+(\\.[0-9]+)?( (%|(ms|[kMGT]?B|[kMGT]|times|bytes)\\b)|x\\b)?");
  std::size_t figures = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), kFigure), end; it != end; ++it) {
    EXPECT_TRUE(known.contains(it->str()))
        << it->str() << " in: "
        << text.substr(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, it->position() - 40)),
                       80);
    ++figures;
  }
  EXPECT_GT(figures, at_least);
}

TEST(Context, EveryFigureIsAFact) {
  for (const char* name : {"mi300x", "mi300x-cpx", "h200"}) {
    SCOPED_TRACE(name);
    const Machine machine = load_machine(name);
    expect_figures_known(launch_of(small_gemm(), machine), 40);
    expect_figures_known(launch_of(synthetic::build(synthetic::Transpose{320}), machine), 40);
    Random random(11);
    for (int i = 0; i < 5; ++i) {
      Trace trace = synthetic::random_trace(random);
      trace.block = {64, 1, 1};
      expect_figures_known(launch_of(std::move(trace), machine), 10);
    }
  }
}

TEST(Context, AwareTellsWhatIsSharedAndHowBlocksAreDealtOut) {
  const Launch amd = launch_of(small_gemm(), load_machine("mi300x"));
  const std::string text = unwrapped(context_of(amd, ContextKind::kAware).text);
  EXPECT_THAT(
      text, HasSubstr("Blocks that differ in pid_x only ask for the same lines, all of "
                      "them; blocks that differ along another axis as well as pid_x ask for none"));
  EXPECT_THAT(text, HasSubstr("queue of XCD number pid % 8"));
  EXPECT_THAT(text, HasSubstr("no vendor guarantees it"));
  EXPECT_THAT(text, HasSubstr("each XCD computes 10 blocks"));
  const Launch nvidia = launch_of(small_gemm(), load_machine("h200"));
  const std::string other = unwrapped(context_of(nvidia, ContextKind::kAware).text);
  EXPECT_THAT(other, Not(HasSubstr("XCD")));
  EXPECT_THAT(other, Not(HasSubstr("queue of")));
  EXPECT_THAT(other, HasSubstr("wait until one of the"));
  EXPECT_THAT(other, HasSubstr("L2 partition"));
  EXPECT_THAT(other, HasSubstr("no last-level cache"));
}

TEST(Context, BlocksPerDieAreThoseOfTheDispatch) {
  Random random(5);
  for (int i = 0; i < 40; ++i) {
    Machine m = load_machine("mi300x");
    m.dies = static_cast<std::uint32_t>(2 + random.below(7));
    m.dispatch_chunk = static_cast<std::uint32_t>(1 + random.below(4));
    Trace trace = synthetic::random_trace(random);
    trace.block = {64, 1, 1};
    std::vector<std::uint64_t> of_die(m.dies);
    for (std::uint64_t p = 0; p < trace.grid.count(); ++p) ++of_die[p / m.dispatch_chunk % m.dies];
    const json per_die = context_of(launch_of(std::move(trace), m), ContextKind::kAware)
                             .facts["machine"]["blocks_per_die"];
    EXPECT_EQ(per_die["least"], *std::min_element(of_die.begin(), of_die.end()));
    EXPECT_EQ(per_die["most"], *std::max_element(of_die.begin(), of_die.end()));
  }
}

TEST(Context, IsTheSameForAnyNumberOfThreads) {
  const Launch launch = launch_of(small_gemm(), load_machine("mi300x"));
  for (const ContextKind kind :
       {ContextKind::kAware, ContextKind::kUnaware, ContextKind::kOverload}) {
    const Context one = context_of(launch, kind, 1);
    const Context four = context_of(launch, kind, 4);
    EXPECT_EQ(one.text, four.text);
    EXPECT_EQ(one.facts, four.facts);
  }
}

/// Nothing is divided by nothing.
TEST(Context, OfALaunchThatAsksForNothing) {
  Trace trace;
  trace.grid = {4, 2, 1};
  trace.block = {64, 1, 1};
  trace.templates = {{}};
  trace.blocks.assign(8, {0, 0});
  for (const char* name : {"mi300x", "h200"}) {
    const Context c = context_of(launch_of(trace, load_machine(name)), ContextKind::kAware);
    EXPECT_THAT(c.text, HasSubstr("ask for nothing"));
    EXPECT_THAT(c.text, Not(testing::ContainsRegex("[^a-z](nan|inf)[^a-z]")));
  }
}

// ---- overload -----------------------------------------------------------------------------------

TEST(Context, OverloadLeavesNothingOut) {
  const Launch launch = launch_of(small_gemm(), load_machine("mi300x"));
  const Context c = context_of(launch, ContextKind::kOverload);
  ASSERT_GT(launch.machine.provenance.size(), 60U);
  for (const Provenance& p : launch.machine.provenance) {
    EXPECT_THAT(c.text, HasSubstr(fmt::format("\n{} = {}  (", p.key, p.value)));
  }
  for (const char* attribute : {"multiProcessorCount", "l2CacheSize", "warpSize", "clockRate"}) {
    EXPECT_THAT(c.text, HasSubstr(attribute));
  }
  EXPECT_THAT(c.text, HasSubstr(c.facts["profile"].dump(2)));
  EXPECT_EQ(c.facts["profile"]["identity"]["metrics"]["per_domain"].size(), 8U);
}

// ---- the verb -----------------------------------------------------------------------------------

TEST(ContextVerb, PrintsTheTextAndTheFacts) {
  const Command run;
  Trace trace = small_gemm();
  trace.vgprs = 64;
  write_trace(trace, run.directory.path() / "gemm.trace");
  const ChildResult aware = run({"context", "gemm.trace"});
  EXPECT_EQ(aware.exit_status, 0) << aware.err;
  EXPECT_THAT(aware.out, HasSubstr("# What its blocks share"));
  EXPECT_THAT(aware.out, HasSubstr("num_xcds"));
  const ChildResult unaware = run({"context", "gemm.trace", "--context", "unaware"});
  EXPECT_THAT(unaware.out, Not(HasSubstr("num_xcds")));
  const json document = run.json({"context", "gemm.trace", "--objective", "l2"});
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["facts"]["objective"], "l2");
  EXPECT_EQ(document["facts"]["source"], nullptr);
  EXPECT_EQ(document["facts"]["locality"]["arrays"].size(), 3U);
  EXPECT_EQ(run({"context", "gemm.trace", "--context", "none"}).exit_status, 2);
  EXPECT_EQ(run({"context", "missing.hip"}).exit_status, 3);
}

TEST(ContextVerb, ShowsTheKernelsSource) {
  const Command run;
  const std::string file = std::string(SWIZZLEPERF_KERNELS) + "/transpose/transpose.hip";
  const ChildResult result =
      run({"context", file, "--context", "unaware", "--format", "json", "--", "300", "75"});
  const json document = json::parse(result.out);
  EXPECT_EQ(document["facts"]["source"]["name"], "transpose.hip");
  EXPECT_EQ(document["facts"]["source"]["found"], true);
  EXPECT_THAT(document["text"].get<std::string>(), HasSubstr("void transpose("));
}

}  // namespace
}  // namespace swizzleperf
