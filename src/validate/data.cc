// See data.h.
#include "validate/data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "base/files.h"
#include "base/nearest.h"
#include "base/statistics.h"
#include "base/toml_section.h"
#include "swizzleperf/error.h"
#include "validate/csv.h"
#include "validate/judge.h"

namespace swizzleperf::validate {
namespace {

namespace fs = std::filesystem;

// ---- launches.toml ------------------------------------------------------------------------------

Order read_order(const Section& s) {
  s.allow({"name", "swizzle", "dies"});
  const std::string name = s.text("name");
  return {name, s.text("swizzle", name), static_cast<std::uint32_t>(s.count("dies"))};
}

std::size_t order_index(const Source& source, const std::string& name) {
  const auto found = std::find_if(source.orders.begin(), source.orders.end(),
                                  [&](const Order& o) { return o.name == name; });
  return static_cast<std::size_t>(found - source.orders.begin());
}

/// A launch, and what only reading needs to know of it.
struct LaunchEntry {
  MeasuredLaunch launch;
  bool fitted = false;
  std::set<std::size_t> judged_orders;
  std::uint32_t line = 0;
};

LaunchEntry read_launch(const Section& s, const Source& source) {
  s.allow({"name", "kernel", "program", "arguments", "compile_options", "kernels", "blocks_per_cu",
           "first_blocks", "use", "judged_orders", "check"});  // `check` is for who measures
  LaunchEntry entry;
  entry.line = s.line("name");
  entry.launch.name = s.text("name");
  entry.launch.kernel = s.text("kernel");
  entry.launch.program = (source.file.parent_path() / s.text("program")).lexically_normal();
  if (!fs::is_regular_file(entry.launch.program)) {
    throw s.error(s.line("program"),
                  fmt::format("{}: no such file", entry.launch.program.string()));
  }
  entry.launch.arguments = s.texts("arguments");
  entry.launch.compile_options = s.texts("compile_options");
  entry.launch.kernels = s.texts("kernels");
  if (entry.launch.kernels.empty()) entry.launch.kernels = {""};
  entry.launch.blocks_per_cu = static_cast<std::uint32_t>(s.count("blocks_per_cu"));
  entry.launch.first_blocks = s.count("first_blocks");
  const std::string use = s.text("use");
  if (use != "fit" && use != "judge") {
    throw s.error(s.line("use"), fmt::format("'use' is 'fit' or 'judge', not '{}'", use));
  }
  entry.fitted = use == "fit";
  for (const std::string& name : s.texts("judged_orders")) {
    const std::size_t order = order_index(source, name);
    if (order == source.orders.size()) {
      throw s.error(s.line("judged_orders"), fmt::format("there is no order '{}'", name));
    }
    entry.judged_orders.insert(order);
  }
  return entry;
}

Selection read_selection(const Section& s) {
  static const std::map<std::string, Selection::Over> kOver = {
      {"all", Selection::Over::kAll},
      {"fitted", Selection::Over::kFitted},
      {"judged", Selection::Over::kJudged}};
  const std::string over = s.text("over", "all");
  const auto found = kOver.find(over);
  if (found == kOver.end()) {
    throw s.error(s.line("over"),
                  fmt::format("'over' is 'all', 'fitted' or 'judged', not '{}'", over));
  }
  return {found->second, s.texts("kernels"), s.text("launch", ""), s.text("order", "")};
}

Bound read_bound(const Section& s, const Source& source) {
  s.allow({"statistic", "over", "kernels", "launch", "order", "at_least", "at_most"});
  const std::string name = s.text("statistic");
  const Bound bound{find_statistic(name), read_selection(s), s.maybe_number("at_least"),
                    s.maybe_number("at_most")};
  if (bound.statistic == nullptr) {
    std::vector<std::string> known;
    for (const Statistic& statistic : statistics()) known.emplace_back(statistic.name);
    throw s.error(s.line("statistic"),
                  fmt::format("there is no statistic '{}'{} (known: {})", name,
                              did_you_mean(name, known), fmt::join(known, ", ")));
  }
  if (!bound.at_least && !bound.at_most) throw s.error("a bound has 'at_least' or 'at_most'");
  const auto no_point =
      std::none_of(source.launches.begin(), source.launches.end(), [&](const MeasuredLaunch& l) {
        const Selection& want = bound.selection;
        if (!want.launch.empty() && want.launch != l.name) return false;
        if (!want.kernels.empty() &&
            std::find(want.kernels.begin(), want.kernels.end(), l.kernel) == want.kernels.end())
          return false;
        return std::any_of(l.points.begin(), l.points.end(), [&](const MeasuredPoint& p) {
          return want.order.empty() || want.order == source.orders[p.order].name;
        });
      });
  if (no_point) throw s.error("no measured point is what this bound is about");
  return bound;
}

// ---- the tables ---------------------------------------------------------------------------------

using Member = std::optional<double> Measured::*;
const std::map<std::string, Member>& members() {
  static const std::map<std::string, Member> all = {{"l2_hit_rate", &Measured::l2_hit_rate},
                                                    {"l2_from", &Measured::l2_from},
                                                    {"l2_to", &Measured::l2_to},
                                                    {"llc_hit_rate", &Measured::llc_hit_rate},
                                                    {"dram_read_bytes", &Measured::dram_read_bytes},
                                                    {"time_ms", &Measured::time_ms},
                                                    {"profiled_ms", &Measured::profiled_ms},
                                                    {"speedup", &Measured::speedup},
                                                    {"bandwidth", &Measured::bandwidth}};
  return all;
}

/// One quantity: a column, or one over another.
struct Quantity {
  Member member;
  std::size_t column;
  std::optional<std::size_t> over;
  double scale;
};

/// Which row belongs where: index of launch, index of order.
using Place = std::pair<std::size_t, std::size_t>;

/// Rows of one launch and order: of its kernels, which add up, or repetitions, of which the median
/// counts.
double combined(const Csv& csv, const std::vector<const CsvRow*>& rows, std::size_t column,
                bool sum) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const CsvRow* row : rows) values.push_back(csv.number(*row, column));
  double total = 0;
  for (const double v : values) total += v;
  return sum ? total : median(std::move(values)).value_or(total);
}

class Tables {
 public:
  Tables(const Source& source, const std::vector<LaunchEntry>& entries)
      : source_(source), entries_(entries) {}

  void read(const Section& s) {
    std::vector<std::string> known = {"file", "repeated"};
    for (const auto& [name, member] : members()) known.push_back(name);
    s.allow(known);
    const std::string repeated = s.text("repeated");
    if (repeated != "sum" && repeated != "median") {
      throw s.error(s.line("repeated"),
                    fmt::format("'repeated' is 'sum' or 'median', not '{}'", repeated));
    }
    const Csv csv = read_csv(source_.file.parent_path() / s.text("file"));
    const std::vector<Quantity> quantities = quantities_of(s, csv);
    const bool sum = repeated == "sum";
    for (const auto& [place, all] : rows_of(csv)) {
      for (const Quantity& q : quantities) {
        std::vector<const CsvRow*> rows = all;
        std::erase_if(rows, [&](const CsvRow* row) { return row->fields[q.column].empty(); });
        if (rows.empty() || (sum && rows.size() != all.size())) continue;  // not measured
        double value = combined(csv, rows, q.column, sum) * q.scale;
        if (q.over) value /= combined(csv, rows, *q.over, sum);
        measured_[place].*q.member = value;
      }
    }
  }

  [[nodiscard]] const std::map<Place, Measured>& measured() const { return measured_; }

 private:
  static std::vector<Quantity> quantities_of(const Section& s, const Csv& csv) {
    std::vector<Quantity> result;
    for (const auto& [name, member] : members()) {
      if (!s.has(name)) continue;
      const Section q = s.section(name);
      q.allow({"column", "over", "scale"});
      result.push_back({member, csv.column(q.text("column")),
                        q.has("over") ? std::optional(csv.column(q.text("over"))) : std::nullopt,
                        q.maybe_number("scale").value_or(1)});
    }
    return result;
  }

  [[nodiscard]] std::map<Place, std::vector<const CsvRow*>> rows_of(const Csv& csv) const {
    const std::size_t launch = csv.column("launch");
    const std::size_t swizzle = csv.column("swizzle");
    std::map<Place, std::vector<const CsvRow*>> result;
    for (const CsvRow& row : csv.rows) {
      const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const LaunchEntry& e) {
        return e.launch.name == row.fields[launch];
      });
      if (entry == entries_.end()) {
        throw csv.error(row.line, fmt::format("no launch '{}' in {}", row.fields[launch],
                                              source_.file.filename().string()));
      }
      const std::size_t order = order_index(source_, row.fields[swizzle]);
      if (order == source_.orders.size()) {
        throw csv.error(row.line, fmt::format("no order '{}' in {}", row.fields[swizzle],
                                              source_.file.filename().string()));
      }
      result[{static_cast<std::size_t>(entry - entries_.begin()), order}].push_back(&row);
    }
    return result;
  }

  const Source& source_;
  const std::vector<LaunchEntry>& entries_;
  std::map<Place, Measured> measured_;
};

void add_launches(const Section& top, Source& source) {
  std::vector<LaunchEntry> entries;
  for (const Section& s : top.sections("launches")) {
    entries.push_back(read_launch(s, source));
    for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
      if (entries[i].launch.name == entries.back().launch.name) {
        throw s.error(s.line("name"), fmt::format("a launch '{}' stands in line {} already",
                                                  entries[i].launch.name, entries[i].line));
      }
    }
  }
  Tables tables(source, entries);
  for (const Section& s : top.sections("measured")) tables.read(s);
  for (const auto& [place, measured] : tables.measured()) {
    LaunchEntry& entry = entries[place.first];
    const bool fitted = entry.fitted && !entry.judged_orders.contains(place.second);
    entry.launch.points.push_back({place.second, fitted, measured});
  }
  for (LaunchEntry& entry : entries) {
    if (entry.launch.points.empty()) {
      throw top.error(entry.line, fmt::format("launch '{}' has no row in any table of [[measured]]",
                                              entry.launch.name));
    }
    source.launches.push_back(std::move(entry.launch));
  }
}

std::optional<vgpu::Language> read_language(const Section& top) {
  if (!top.has("language")) return std::nullopt;
  const std::string name = top.text("language");
  if (name == "hip") return vgpu::Language::kHip;
  if (name == "cuda") return vgpu::Language::kCuda;
  throw top.error(top.line("language"),
                  fmt::format("'language' is 'hip' or 'cuda', not '{}'", name));
}

}  // namespace

Source read_source(const fs::path& file) {
  const std::string text = read_file(file);
  toml::table table;
  try {
    table = toml::parse(text, file.string());
  } catch (const toml::parse_error& fault) {
    throw input_error(fmt::format("{}:{}: not valid TOML: {}", file.string(),
                                  fault.source().begin.line, fault.description()));
  }
  const Section top(file, table);
  top.allow({"title", "machine", "language", "moved_points", "time_spread", "least_dram_bytes",
             "orders", "measured", "launches", "bounds"});
  Source source;
  source.name = file.parent_path().filename().string();
  source.file = file;
  source.title = top.text("title");
  source.machine = top.text("machine");
  source.language = read_language(top);
  source.moved_points = top.number("moved_points");
  source.time_spread = top.number("time_spread");
  source.least_dram_bytes = top.maybe_number("least_dram_bytes").value_or(0);
  for (const Section& s : top.sections("orders")) {
    source.orders.push_back(read_order(s));
    if (order_index(source, source.orders.back().name) + 1 != source.orders.size()) {
      throw s.error(fmt::format("the order '{}' stands there twice", source.orders.back().name));
    }
  }
  add_launches(top, source);
  if (!top.has("bounds")) return source;  // points of which nothing is demanded
  for (const Section& s : top.sections("bounds")) source.bounds.push_back(read_bound(s, source));
  return source;
}

fs::path validation_directory() {
  if (const char* chosen = std::getenv("SWIZZLEPERF_VALIDATION"); chosen && *chosen) return chosen;
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  for (const char* place : {"validation", "share/swizzleperf/validation"}) {
    if (fs::is_directory(prefix / place)) return prefix / place;
  }
  throw input_error(fmt::format(
      "no measurements found in {0}/validation or {0}/share/swizzleperf/validation; set "
      "SWIZZLEPERF_VALIDATION to their directory",
      prefix.string()));
}

std::vector<Source> read_sources(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& item : fs::directory_iterator(directory, ignored)) {
    if (fs::is_regular_file(item.path() / "launches.toml")) {
      files.push_back(item.path() / "launches.toml");
    }
  }
  if (files.empty()) {
    throw input_error(fmt::format("{}: no folder in it holds a launches.toml", directory.string()));
  }
  std::sort(files.begin(), files.end());
  std::vector<Source> sources;
  sources.reserve(files.size());
  for (const fs::path& file : files) sources.push_back(read_source(file));
  return sources;
}

}  // namespace swizzleperf::validate
