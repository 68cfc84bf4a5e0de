// See rocprofv3.h. L2 is TCC in the counters' names, and what is behind it EA (EA0 since MI300).
//
// Formulas (those of FETCH_SIZE and WRITE_SIZE in rocprofiler-sdk's counter definitions, in bytes):
//   requests  TCC_HIT_sum + TCC_MISS_sum, counted at the tags, reads of 128 bytes and writes of 64
//   read      MI200         32 RDREQ_32B + 64 (RDREQ - RDREQ_32B)
//             MI300 (942)   the same, but of RDREQ as many as TCC_BUBBLE counts are of 128 bytes
//             MI350 (950)   32 RDREQ_32B + 64 RDREQ_64B + 128 RDREQ_128B; TCC_BUBBLE stays zero
//                           there, and released definitions that use it are wrong by half
//   written   64 WRREQ_64B + 32 (WRREQ - WRREQ_64B)
// These bytes cross from L2 to the fabric: where there is a last-level cache (MI300 on), it answers
// part of them, and no counter says how many.
//
// A pass counts few things: four counters of TCC, fewer on shared machines. rocprofv3 aborts when
// asked for more, so the program is run once for each quantity, and each formula has all its terms
// from one run. A counter that a GPU lacks costs that quantity alone.
#include "measure/rocprofv3.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>

#include "base/files.h"
#include "measure/counters.h"
#include "measure/kernel_names.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

// --- From rows to one launch --------------------------------------------------------------------

/// All of one launch: each counter with its parts added up.
struct Launch {
  std::map<std::string, double> sums;
  std::optional<std::int64_t> begin_ns;
  std::optional<std::int64_t> end_ns;
};

using Launches = std::map<std::int64_t, Launch>;  // by dispatch, which is in order

void add(const CounterRow& row, Launch& launch) {
  launch.sums[row.counter.substr(0, row.counter.find('['))] += row.value;
  launch.begin_ns = row.begin_ns;
  launch.end_ns = row.end_ns;
}

/// The target's launches in each process, in the order in which processes come.
std::vector<Launches> launches_of(const std::vector<CounterRow>& rows, const Target& target,
                                  NameMatch match) {
  std::map<std::string, NameMatch> known;  // names repeat by the thousand
  std::map<std::string, std::size_t> place;
  std::vector<Launches> processes;
  for (const CounterRow& row : rows) {
    const auto name = known.find(row.kernel);
    const NameMatch found =
        name != known.end() ? name->second : known[row.kernel] = match_kernel(row.kernel, target);
    if (found != match) continue;
    const auto [at, is_new] = place.emplace(row.process, processes.size());
    if (is_new) processes.emplace_back();
    add(row, processes[at->second][row.dispatch]);
  }
  return processes;
}

/// The wanted launch of each process that made it, as one: a counter that several runs counted is
/// taken from the first.
std::optional<Launch> merged(const std::vector<Launches>& processes, std::int64_t index) {
  std::optional<Launch> all;
  for (const Launches& launches : processes) {
    if (index >= static_cast<std::int64_t>(launches.size())) continue;
    const Launch& launch = std::next(launches.begin(), index)->second;
    if (!all) all = launch;
    all->sums.insert(launch.sums.begin(), launch.sums.end());
  }
  return all;
}

// --- From counters to quantities ----------------------------------------------------------------

using Sums = std::map<std::string, double>;

/// A counter over all channels, under its derived name or as the sum of its parts.
std::optional<double> sum_of(const Sums& sums, const std::string& name) {
  for (const std::string& key : {name + "_sum", name})
    if (const auto found = sums.find(key); found != sums.end()) return found->second;
  return std::nullopt;
}

void count_requests(const Sums& sums, Counters& c) {
  c.l2_hits = sum_of(sums, "TCC_HIT");
  const auto misses = sum_of(sums, "TCC_MISS");
  const auto requests = sum_of(sums, "TCC_REQ");
  if (c.l2_hits && misses) c.l2_requests = *c.l2_hits + *misses;
  if (!c.l2_requests) c.l2_requests = requests;
  if (c.l2_hits && requests && *c.l2_hits > *requests) c.l2_requests = requests;  // see judge()
}

/// The counters of one generation's way to memory: EA0 or EA.
std::optional<double> bytes_read(const Sums& sums, const std::string& ea, Counters& c) {
  const auto all = sum_of(sums, ea + "_RDREQ");
  const auto of_32 = sum_of(sums, ea + "_RDREQ_32B");
  const auto of_64 = sum_of(sums, ea + "_RDREQ_64B");
  const auto of_128 = sum_of(sums, ea + "_RDREQ_128B");
  const auto bubble = sum_of(sums, "TCC_BUBBLE");
  if (!of_32) return std::nullopt;
  if (of_128 && of_64) return 32 * *of_32 + 64 * *of_64 + 128 * *of_128;
  if (!all) return std::nullopt;
  const bool told_apart = ea == "TCC_EA" || of_128 || bubble;
  if (!told_apart) {
    c.notes.push_back("bytes read are not known: reads of 128 bytes were not counted (TCC_BUBBLE)");
    return std::nullopt;
  }
  const double large = of_128 ? *of_128 : bubble.value_or(0);
  if (*of_32 + large > *all) {
    c.notes.push_back(
        fmt::format("of {:.0f} reads {:.0f} were of 32 and {:.0f} of 128 bytes: "
                    "refused",
                    *all, *of_32, large));
    return std::nullopt;
  }
  if (!of_128 && bubble && large == 0 && *all > *of_32)
    c.notes.push_back(
        "TCC_BUBBLE counted no read of 128 bytes: on gfx950, where it never does, "
        "bytes read are up to twice as many");
  return 32 * *of_32 + 64 * (*all - *of_32 - large) + 128 * large;
}

std::optional<double> bytes_written(const Sums& sums, const std::string& ea, Counters& c) {
  const auto all = sum_of(sums, ea + "_WRREQ");
  const auto of_64 = sum_of(sums, ea + "_WRREQ_64B");
  if (!all || !of_64) return std::nullopt;
  if (*of_64 > *all) {
    c.notes.push_back(
        fmt::format("of {:.0f} writes {:.0f} were of 64 bytes: refused", *all, *of_64));
    return std::nullopt;
  }
  return 64 * *of_64 + 32 * (*all - *of_64);
}

Counters counters_of(const Launch& launch, double memory_bytes_per_ns) {
  Counters c;
  c.unit = "requests at L2's tags (TCC), of 128 bytes or less";
  c.how = "rocprofv3";
  count_requests(launch.sums, c);
  for (const char* ea : {"TCC_EA0", "TCC_EA"}) {
    if (!c.dram_read_bytes) c.dram_read_bytes = bytes_read(launch.sums, ea, c);
    if (!c.dram_write_bytes) c.dram_write_bytes = bytes_written(launch.sums, ea, c);
  }
  std::int64_t ns = 0;
  if (launch.begin_ns && launch.end_ns &&
      !__builtin_sub_overflow(*launch.end_ns, *launch.begin_ns, &ns))
    c.milliseconds = static_cast<double>(ns) / 1e6;
  judge(c, memory_bytes_per_ns);
  if (sum_of(launch.sums, "TCC_EA0_RDREQ_32B"))
    c.notes.push_back(
        "bytes are those between L2 and the fabric: the last-level cache answers part of them");
  return c;
}

Profile missing(std::string why) { return {std::nullopt, std::move(why)}; }

std::vector<std::string> kernels_of(const std::vector<CounterRow>& rows) {
  std::set<std::string> names;
  for (const CounterRow& row : rows) names.insert(row.kernel);
  std::set<std::string> readable;
  for (const std::string& name : names) readable.insert(readable_kernel(name));
  return {readable.begin(), readable.end()};
}

Profile profile_of(const std::vector<CounterRow>& rows, const Target& target,
                   double memory_bytes_per_ns) {
  if (rows.empty()) return missing("rocprofv3 counted no launch at all");
  std::vector<Launches> processes = launches_of(rows, target, NameMatch::kExact);
  const bool cut = processes.empty();
  if (cut) processes = launches_of(rows, target, NameMatch::kBase);
  if (processes.empty())
    return missing(fmt::format("rocprofv3 counted no launch of {}, but of {}", target.kernel,
                               some_of(kernels_of(rows))));
  const auto launch = merged(processes, target.index);
  if (!launch) {
    std::size_t most = 0;
    for (const Launches& launches : processes) most = std::max(most, launches.size());
    return missing(
        fmt::format("rocprofv3 counted {} launches of {}, so there is no number {} "
                    "(from 0)",
                    most, target.kernel, target.index));
  }
  Counters counters = counters_of(*launch, memory_bytes_per_ns);
  if (cut)
    counters.notes.emplace_back("kernels' names are cut: other instantiations count as ours");
  return {counters, ""};
}

// --- Files --------------------------------------------------------------------------------------

std::vector<CounterRow> read_any(const fs::path& file) {
  constexpr std::string_view kSqlite = "SQLite format 3";
  std::ifstream stream(file, std::ios::binary);
  std::string head(kSqlite.size(), '\0');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head == kSqlite) return read_rocprofv3_rocpd(file);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && head[first] == '{') return read_rocprofv3_json(file);
  return read_rocprofv3_csv(file);
}

std::vector<CounterRow> read_all(const std::vector<fs::path>& files) {
  std::vector<CounterRow> rows;
  for (const fs::path& file : files) {
    std::vector<CounterRow> more = read_any(file);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return rows;
}

/// What a run left, wherever below: tables if there are any, else the other forms.
std::vector<fs::path> outputs_below(const fs::path& directory) {
  std::array<std::vector<fs::path>, 3> found;
  constexpr std::array<std::string_view, 3> kEndings = {"counter_collection.csv", "results.json",
                                                        "results.db"};
  std::error_code ignored;
  for (const auto& item : fs::recursive_directory_iterator(directory, ignored))
    for (std::size_t i = 0; i < kEndings.size(); ++i)
      if (item.path().filename().string().ends_with(kEndings[i])) found[i].push_back(item.path());
  for (std::vector<fs::path>& files : found) {
    std::sort(files.begin(), files.end());
    if (!files.empty()) return files;
  }
  return {};
}

// --- Running it ---------------------------------------------------------------------------------

/// What one run counts; of the ways to count one thing, the first that works is enough.
struct Pass {
  const char* quantity;
  std::vector<std::vector<std::string>> ways;
};

std::vector<Pass> passes_for(const std::string& arch) {
  const std::vector<std::string> reads_950 = {"TCC_EA0_RDREQ_32B_sum", "TCC_EA0_RDREQ_64B_sum",
                                              "TCC_EA0_RDREQ_128B_sum"};
  const std::vector<std::string> reads_942 = {"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum",
                                              "TCC_BUBBLE_sum"};
  const std::vector<std::string> reads_90a = {"TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum"};
  const std::vector<std::string> writes = {"TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"};
  const std::vector<std::string> writes_90a = {"TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"};

  Pass read{"bytes read", {reads_950, reads_942, reads_90a}};
  Pass written{"bytes written", {writes, writes_90a}};
  if (arch == "gfx950") read.ways = {reads_950};
  if (arch == "gfx942") read.ways = {reads_942};
  if (arch == "gfx90a") read.ways = {reads_90a};
  if (arch == "gfx950" || arch == "gfx942") written.ways = {writes};
  if (arch == "gfx90a") written.ways = {writes_90a};
  return {{"requests", {{"TCC_HIT_sum", "TCC_MISS_sum", "TCC_REQ_sum"}}}, read, written};
}

/// Options differ by version (--pmc came with ROCm 6.3), and the help text says which there are.
struct Tool {
  bool pmc = false;
  bool filter = false;
  bool mangled = false;
  std::string version;
};

Tool look_at_tool(const ChildSpec& program) {
  ChildSpec spec;
  spec.environment = program.environment;
  spec.argv = {"rocprofv3", "--help"};
  spec.time_limit_s = 60;
  const ChildResult help = run_child(spec);
  const auto has = [&](const char* option) {
    return (help.out + help.err).find(option) != std::string::npos;
  };
  Tool tool{has("--pmc"), has("--kernel-include-regex"), has("--mangled-kernels"), ""};
  if (!has("--version")) return tool;
  spec.argv[1] = "--version";
  const std::string text = run_child(spec).out;
  const std::size_t at = text.find("version:");
  if (at == std::string::npos) return tool;
  const std::string rest = last_line(text.substr(at + 8, text.find('\n', at) - at - 8));
  if (!rest.empty()) tool.version = " " + rest;
  return tool;
}

ChildSpec command(const ChildSpec& program, const Tool& tool, const Target& target,
                  const std::vector<std::string>& counters, const fs::path& directory) {
  ChildSpec spec = program;
  spec.argv = {"rocprofv3"};
  const auto option = [&spec](std::initializer_list<std::string> words) {
    spec.argv.insert(spec.argv.end(), words);
  };
  if (tool.pmc) {
    option({"--pmc"});
    spec.argv.insert(spec.argv.end(), counters.begin(), counters.end());
  } else {
    const fs::path input = directory / "counters.txt";
    write_file(input, fmt::format("pmc: {}\n", fmt::join(counters, " ")));
    option({"--input", input.string()});
  }
  if (tool.mangled) option({"--mangled-kernels"});
  if (tool.filter && tool.mangled) {
    std::string pattern = symbol_pattern(target.symbol);
    pattern.insert(pattern.size() - 1, "(\\.kd)?");
    option({"--kernel-include-regex", pattern});
  }
  option({"--output-format", "csv", "--output-directory", directory.string(), "--"});
  spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
  return spec;
}

bool says_no_permission(const ChildResult& result) {
  for (const std::string* text : {&result.out, &result.err})
    for (const char* words : {"lack of permissions", "ermission denied", "not permitted"})
      if (text->find(words) != std::string::npos) return true;
  return false;
}

/// Some versions leave out what a GPU lacks, and count the rest.
bool has_all(const std::vector<CounterRow>& rows, const std::vector<std::string>& counters) {
  return std::all_of(counters.begin(), counters.end(), [&](const std::string& counter) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const CounterRow& row) { return row.counter == counter; });
  });
}

/// Why a run left nothing, in a sentence.
std::string complaint(const ChildResult& result, const std::vector<std::string>& counters) {
  if (says_no_permission(result)) return counter_permission(Language::kHip).sentence;
  const std::string last = last_line(result.out + "\n" + result.err);
  if (result.signal) return fmt::format("rocprofv3 ended with signal {}: {}", result.signal, last);
  if (result.exit_status != 0)
    return fmt::format("rocprofv3 ended with exit status {}: {}", result.exit_status, last);
  return fmt::format("rocprofv3 wrote nothing for {}: this GPU may lack one of them",
                     fmt::join(counters, ", "));
}

}  // namespace

Profile parse_rocprofv3(const std::vector<fs::path>& files, const Target& target,
                        double memory_bytes_per_ns) {
  return profile_of(read_all(files), target, memory_bytes_per_ns);
}

Profile run_rocprofv3(const ChildSpec& program, const Target& target, const fs::path& scratch,
                      const std::string& arch, double memory_bytes_per_ns) {
  const Tool tool = look_at_tool(program);
  std::vector<CounterRow> rows;
  std::vector<std::string> notes;
  bool degraded = false;
  int runs = 0;
  for (const Pass& pass : passes_for(arch)) {
    std::string why;
    bool counted = false;
    for (const std::vector<std::string>& counters : pass.ways) {
      const fs::path directory = scratch / fmt::format("pass-{}", ++runs);
      make_directories(directory);
      const ChildResult result = run_child(command(program, tool, target, counters, directory));
      if (result.timed_out)
        return missing(fmt::format("under rocprofv3 the program did not end within {:.0f} s",
                                   program.time_limit_s));
      std::vector<CounterRow> more = read_all(outputs_below(directory));
      counted = has_all(more, counters);
      degraded |= counted && says_no_permission(result);
      if (!counted && why.empty()) why = complaint(result, counters);
      if (!counted) continue;
      for (CounterRow& row : more) {
        row.process = fmt::format("{}:{}", runs, row.process);
        rows.push_back(std::move(row));
      }
      break;
    }
    if (!counted && rows.empty()) return missing(why);  // the program's fault, or nobody may count
    if (!counted) notes.push_back(fmt::format("{} are not known: {}", pass.quantity, why));
  }
  Profile profile = profile_of(rows, target, memory_bytes_per_ns);
  if (!profile.counters) return profile;
  profile.counters->how = fmt::format(
      "rocprofv3{}, {} runs of the program, caches as the program left them", tool.version, runs);
  if (degraded)
    notes.push_back("rocprofv3 warned of missing permission, so counters may be off: " +
                    counter_permission(Language::kHip).sentence);
  auto& all = profile.counters->notes;
  all.insert(all.end(), notes.begin(), notes.end());
  return profile;
}

}  // namespace swizzleperf::measure
