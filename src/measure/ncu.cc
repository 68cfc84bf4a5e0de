// See ncu.h. The exact launch is chosen by ncu itself: the kernel by its mangled name, then so many
// launches of it skipped and one counted; all others run at full speed. What ncu prints goes to a
// file of its own, so that a program that prints commas or fills the pipe is no trouble. The page
// "raw" is a table with a row a launch: names of metrics, their units, values with thousands
// separators.
//
// By default ncu flushes the caches before each of its passes and repeats the launch from saved
// memory until it has all counters. We leave that so: numbers are those of a cold launch, which is
// what a prediction of compulsory and repeated misses is compared with. Clocks are not locked
// (--clock-control none), as nobody's timings are either.
#include "measure/ncu.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>

#include "base/csv.h"
#include "base/files.h"
#include "measure/counters.h"
#include "measure/kernel_names.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

// What SMs ask L2 for and find there, in sectors of 32 bytes. lts__t_sectors without "srcunit_tex"
// would count what the other half of L2 asks for as well.
constexpr const char* kRequests = "lts__t_sectors_srcunit_tex.sum";
constexpr const char* kHits = "lts__t_sectors_srcunit_tex_lookup_hit.sum";
constexpr const char* kFromOtherHalf = "lts__t_sectors_srcunit_ltcfabric.sum";
constexpr const char* kDramRead = "dram__bytes_read.sum";
constexpr const char* kDramWrite = "dram__bytes_write.sum";
constexpr const char* kDuration = "gpu__time_duration.sum";

using Fields = std::vector<std::string>;

/// The table of a raw page, wherever in a text.
struct Table {
  Fields columns;
  Fields units;
  std::vector<Fields> rows;

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
  }
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Lines that are no part of the table (ncu's own remarks, the program's output) are passed over:
/// a row has as many fields as the header, and a launch's begins with its number and its process.
Table read_table(const std::string& text) {
  Table table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;  // without an end: cut off
    if (line.ends_with('\r')) line.pop_back();
    const auto fields = split_csv(line);
    if (!fields) continue;
    if (fields->size() > 2 && (*fields)[0] == "ID" && (*fields)[1] == "Process ID") {
      table.columns = *fields;
      continue;
    }
    if (fields->size() != table.columns.size() || fields->size() < 2) continue;
    if (is_number((*fields)[0]) && is_number((*fields)[1])) table.rows.push_back(*fields);
    if ((*fields)[0].empty() && (*fields)[1].empty()) table.units = *fields;
  }
  return table;
}

/// How many bytes, nanoseconds or things one of `unit` is; nothing for a unit that we do not know.
std::optional<double> scale_of(std::string unit) {
  static const std::map<std::string, double> kTimes = {
      {"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
      {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
  static const std::map<char, double> kPrefixes = {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}};
  if (const auto time = kTimes.find(unit); time != kTimes.end()) return time->second;
  double scale = 1;
  if (const auto prefix = kPrefixes.find(unit.empty() ? ' ' : unit[0]); prefix != kPrefixes.end()) {
    scale = prefix->second;
    unit.erase(0, 1);
  }
  const bool known = unit.empty() || unit == "byte" || unit == "sector" || unit == "request";
  return known ? std::optional(scale) : std::nullopt;
}

std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// One launch's metrics; what cannot be had is noted.
class Launch {
 public:
  Launch(const Table& table, const Fields& row, Counters& counters)
      : table_(table), row_(row), counters_(counters) {}

  [[nodiscard]] std::optional<double> metric(const std::string& name) const {
    const auto column = table_.column(name);
    if (!column) return refuse(fmt::format("this ncu or GPU has no metric {}", name));
    const std::string& text = row_[*column];
    const auto value = number_of(text);
    if (!value) return refuse(fmt::format("{} was given as '{}'", name, text));
    const std::string unit = table_.units.empty() ? "" : table_.units[*column];
    const auto scale = scale_of(unit);
    if (!scale) return refuse(fmt::format("{} is in '{}', a unit not known here", name, unit));
    return *value * *scale;
  }

  /// A metric that many GPUs rightly lack.
  [[nodiscard]] std::optional<double> extra(const std::string& name) const {
    const auto column = table_.column(name);
    return column ? number_of(row_[*column]) : std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<double> refuse(const std::string& why) const {
    counters_.notes.push_back(why);
    return std::nullopt;
  }

  const Table& table_;
  const Fields& row_;
  Counters& counters_;
};

Counters counters_of(const Table& table, const Fields& row, double memory_bytes_per_ns) {
  Counters counters;
  counters.unit = "sectors of 32 bytes that SMs ask L2 for";
  counters.how = "ncu";
  const Launch launch(table, row, counters);
  counters.l2_requests = launch.metric(kRequests);
  counters.l2_hits = launch.metric(kHits);
  counters.dram_read_bytes = launch.metric(kDramRead);
  counters.dram_write_bytes = launch.metric(kDramWrite);
  if (const auto ns = launch.metric(kDuration)) counters.milliseconds = *ns / 1e6;
  if (const auto sectors = launch.extra(kFromOtherHalf))
    counters.notes.push_back(
        fmt::format("{:.0f} more sectors were asked for by the other half of L2", *sectors));
  judge(counters, memory_bytes_per_ns);
  return counters;
}

Profile missing(std::string why) { return {std::nullopt, std::move(why)}; }

/// "==ERROR== why" -> "why"; the last one.
std::string last_error(const std::string& text) {
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("==ERROR==")) found = last_line(line.substr(9));
  return found;
}

constexpr const char* kNoPermission =
    "the driver lets only administrators read counters (ERR_NVGPUCTRPERM): have one set "
    "NVreg_RestrictProfilingToAdminUsers=0 for the kernel module nvidia and reload it, or grant "
    "CAP_PERFMON";

bool is_refused_by_driver(const std::string& text) {
  return text.find("ERR_NVGPUCTRPERM") != std::string::npos;
}

/// The rows of the target; those whose names were cut only if there are no others.
std::vector<const Fields*> rows_of(const Table& table, const Target& target, NameMatch match) {
  const auto name = table.column("Kernel Name");
  std::vector<const Fields*> rows;
  for (const Fields& row : table.rows)
    if (name && match_kernel(row[*name], target) == match) rows.push_back(&row);
  return rows;
}

std::vector<std::string> kernels_of(const Table& table) {
  std::vector<std::string> names;
  if (const auto name = table.column("Kernel Name")) {
    for (const Fields& row : table.rows) names.push_back(readable_kernel(row[*name]));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return names;
}

/// Of the target's rows in the text, the one at `index`.
Profile read(const std::string& text, const Target& target, std::int64_t index,
             double memory_bytes_per_ns) {
  const Table table = read_table(text);
  if (table.rows.empty()) {
    if (is_refused_by_driver(text)) return missing(kNoPermission);
    if (const std::string error = last_error(text); !error.empty())
      return missing(fmt::format("ncu counted nothing: {}", error));
    if (text.find("No kernels were profiled") != std::string::npos)
      return missing(
          fmt::format("ncu met no launch number {} (from 0) of {}", target.index, target.kernel));
    throw input_error("ncu's output has no table of a raw page: call it with --csv --page raw");
  }
  bool cut = false;
  std::vector<const Fields*> rows = rows_of(table, target, NameMatch::kExact);
  if (rows.empty()) {
    rows = rows_of(table, target, NameMatch::kBase);
    cut = true;
  }
  if (rows.empty())
    return missing(fmt::format("ncu counted no launch of {}, but of {}", target.kernel,
                               some_of(kernels_of(table))));
  if (index >= static_cast<std::int64_t>(rows.size()))
    return missing(fmt::format("ncu counted {} launches of {}, so there is no number {} (from 0)",
                               rows.size(), target.kernel, index));
  Counters counters =
      counters_of(table, *rows[static_cast<std::size_t>(index)], memory_bytes_per_ns);
  if (cut)
    counters.notes.emplace_back("ncu cut the kernels' names: other instantiations count as ours");
  return {counters, ""};
}

// --- Running it ---------------------------------------------------------------------------------

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

ChildSpec command(const ChildSpec& program, const Target& target,
                  const std::vector<std::string>& metrics, const fs::path& log) {
  ChildSpec spec = program;
  spec.argv = {"ncu",
               "--clock-control",
               "none",
               "--csv",
               "--page",
               "raw",
               "--print-units",
               "base",
               "--print-kernel-base",
               "mangled",
               "--kernel-name-base",
               "mangled",
               "--kernel-name",
               is_in_anonymous_namespace(target.symbol) ? "regex:" + symbol_pattern(target.symbol)
                                                        : target.symbol,
               "--launch-skip",
               std::to_string(target.index),
               "--launch-count",
               "1",
               "--target-processes",
               "all",
               "--metrics",
               joined(metrics),
               "--log-file",
               log.string()};
  spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
  spec.environment["LC_ALL"] = "C";  // numbers are printed as the locale has it
  return spec;
}

/// Takes out of `metrics` those that ncu says it does not know; whether there were any.
bool drop_unknown(const std::string& text, std::vector<std::string>& metrics) {
  static const std::regex complaint(R"([Ff]ailed to find metric(.*))");
  static const std::regex word(R"([a-z0-9_]+__[\w.]+)");
  bool dropped = false;
  for (std::sregex_iterator it(text.begin(), text.end(), complaint), end; it != end; ++it) {
    const std::string named = (*it)[1].str();
    for (std::sregex_iterator name(named.begin(), named.end(), word); name != end; ++name)
      dropped |= std::erase_if(metrics, [&](const std::string& metric) {
                   return metric == name->str() || metric.starts_with(name->str() + ".");
                 }) > 0;
  }
  return dropped;
}

std::string version() {
  ChildSpec spec;
  spec.argv = {"ncu", "--version"};
  spec.time_limit_s = 20;
  const std::string text = run_child(spec).out;
  std::smatch found;
  return std::regex_search(text, found, std::regex(R"(Version ([0-9]+(\.[0-9]+){1,2}))"))
             ? " " + found[1].str()
             : "";
}

std::string ending(const ChildResult& result) {
  return result.signal ? fmt::format("signal {}", result.signal)
                       : fmt::format("exit status {}", result.exit_status);
}

}  // namespace

Profile parse_ncu(const std::string& text, const Target& target, double memory_bytes_per_ns) {
  return read(text, target, target.index, memory_bytes_per_ns);
}

Profile run_ncu(const ChildSpec& program, const Target& target, const fs::path& scratch,
                double memory_bytes_per_ns) {
  const fs::path log = scratch / "ncu.csv";
  std::vector<std::string> metrics = {kRequests, kHits,      kFromOtherHalf,
                                      kDramRead, kDramWrite, kDuration};
  ChildResult result;
  std::string text;
  do {
    std::error_code ignored;
    fs::remove(log, ignored);
    result = run_child(command(program, target, metrics, log));
    text = (fs::exists(log, ignored) ? read_file(log) : "") + result.err;
    if (result.timed_out)
      return missing(
          fmt::format("under ncu the program did not end within {:.0f} s", program.time_limit_s));
  } while (read_table(text).rows.empty() && drop_unknown(text, metrics) && !metrics.empty());

  if (!result.ok() && read_table(text).rows.empty() && !is_refused_by_driver(text)) {
    const std::string error = last_error(text);
    return missing(fmt::format("ncu ended with {}: {}", ending(result),
                               !error.empty() ? error : last_line(result.out + "\n" + text)));
  }
  constexpr std::int64_t kOnly = 0;  // ncu skipped the others
  Profile profile;
  try {
    profile = read(text, target, kOnly, memory_bytes_per_ns);
  } catch (const Error& fault) {
    profile.missing = fault.what();
  }
  if (!profile.counters) {  // some versions count nothing and do not say that they may not
    const Permission permission = counter_permission(Language::kCuda);
    if (!permission.granted && !is_refused_by_driver(text))
      profile.missing += "; " + permission.sentence;
    return profile;
  }
  profile.counters->how =
      fmt::format("ncu{}, caches flushed before each of its passes, clocks as they are", version());
  if (!result.ok())
    profile.counters->notes.push_back(
        fmt::format("under ncu the program ended with {}", ending(result)));
  return profile;
}

}  // namespace swizzleperf::measure
