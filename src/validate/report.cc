// See report.h.
#include "validate/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf::validate {

namespace {
bool is_identity(const Source& source, const MeasuredPoint& point) {
  return source.orders[point.order].swizzle == "identity";
}
}  // namespace

void finish(SourceResult& result) {
  for (JudgedPoint& p : result.points) {
    const auto identity =
        std::find_if(result.points.begin(), result.points.end(), [&](const JudgedPoint& other) {
          return other.launch == p.launch && is_identity(*result.source, *other.point);
        });
    p.identity = identity != result.points.end() ? &*identity : nullptr;
  }
  for (const Bound& bound : result.source->bounds) {
    result.verdicts.push_back(judge(bound, *result.source, result.points));
  }
}

bool all_hold(std::span<const SourceResult> results) {
  for (const SourceResult& r : results) {
    for (const BoundVerdict& v : r.verdicts) {
      if (v.holds == false) return false;
    }
  }
  return true;
}

namespace {

// ---- what both say ------------------------------------------------------------------------------

/// The selections that figures are printed for: all, fitted, judged, and what bounds name beside.
std::vector<Selection> selections_of(const Source& source) {
  using Over = Selection::Over;
  std::vector<Selection> result = {
      {Over::kAll, {}, "", ""}, {Over::kFitted, {}, "", ""}, {Over::kJudged, {}, "", ""}};
  for (const Bound& b : source.bounds) {
    const Selection& s = b.selection;
    if (s.launch.empty() && std::find(result.begin(), result.end(), s) == result.end()) {
      result.push_back(s);
    }
  }
  return result;
}

std::string_view over_word(Selection::Over over) {
  switch (over) {
    case Selection::Over::kFitted:
      return "fitted";
    case Selection::Over::kJudged:
      return "judged";
    case Selection::Over::kAll:
      break;
  }
  return "all";
}

std::string words_of(const Selection& s) {
  if (!s.launch.empty()) return fmt::format("{}, {}", s.launch, s.order);
  std::string words(over_word(s.over));
  if (!s.kernels.empty()) words += fmt::format(" of {}", fmt::join(s.kernels, ", "));
  return words;
}

std::string words_of(double value, Unit unit) {
  switch (unit) {
    case Unit::kPoints:
      return fmt::format("{:.1f} points", value);
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::kPercent:
      return fmt::format("{:.1f} %", value);
    case Unit::kCount:
      return fmt::format("{:.0f}", value);
    case Unit::kCorrelation:
      break;
  }
  return fmt::format("{:.2f}", value);
}

std::string words_of(const std::optional<double>& value, Unit unit) {
  return value ? words_of(*value, unit) : "-";
}

// ---- JSON ---------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
Json or_null(const std::optional<bool>& value) { return value ? Json(*value) : Json(); }

Json measured_json(const Measured& m) {
  return {{"l2_hit_rate", or_null(m.l2_hit_rate)},
          {"l2_hit_rate_range", m.l2_from && m.l2_to ? Json({*m.l2_from, *m.l2_to}) : Json()},
          {"llc_hit_rate", or_null(m.llc_hit_rate)},
          {"dram_read_bytes", or_null(m.dram_read_bytes)},
          {"time_ms", or_null(m.time_ms)},
          {"profiled_ms", or_null(m.profiled_ms)},
          {"speedup", or_null(m.speedup)},
          {"bandwidth", or_null(m.bandwidth)}};
}

Json point_json(const Source& source, const JudgedPoint& p) {
  const Predicted& m = p.predicted;
  return {{"machine", source.machine},
          {"source", source.name},
          {"launch", p.launch->name},
          {"kernel", p.launch->kernel},
          {"swizzle", source.orders[p.point->order].name},
          {"fitted", p.point->fitted},
          {"measured", measured_json(p.point->measured)},
          {"predicted",
           {{"l2_hit_rate", m.l2_hit_rate},
            {"llc_hit_rate", or_null(m.llc_hit_rate)},
            {"dram_read_bytes", m.dram_read_bytes},
            {"time_ms", m.time_ms},
            {"speedup", or_null(predicted_speedup(p))},
            {"bandwidth", m.bandwidth},
            {"bound", m.bound}}},
          {"error",
           {{"l2_points", or_null(l2_error(p))},
            {"llc_points", or_null(llc_error(p))},
            {"dram_read", or_null(dram_error(p))}}}};
}

Json selection_json(const Selection& s) {
  return {{"over", over_word(s.over)},
          {"kernels", s.kernels.empty() ? Json() : Json(s.kernels)},
          {"launch", s.launch.empty() ? Json() : Json(s.launch)},
          {"swizzle", s.order.empty() ? Json() : Json(s.order)}};
}

Json figures_json(const SourceResult& r, const Selection& selection) {
  Json figures = selection_json(selection);
  const Group group = select(*r.source, r.points, selection);
  figures["points"] = group.points.size();
  for (const Statistic& s : statistics()) {
    if (s.unit != Unit::kPercent) figures[std::string(s.name)] = or_null(s.of(group));
  }
  return figures;
}

Json bound_json(const BoundVerdict& v) {
  Json bound = {{"statistic", v.bound->statistic->name}};
  bound.update(selection_json(v.bound->selection));
  bound["at_least"] = or_null(v.bound->at_least);
  bound["at_most"] = or_null(v.bound->at_most);
  bound["value"] = or_null(v.value);
  bound["holds"] = or_null(v.holds);
  return bound;
}

const TimeRank* rank_of(const MeasuredLaunch& launch, const std::vector<TimeRank>& ranks) {
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const TimeRank& r) { return r.launch == &launch; });
  return found != ranks.end() ? &*found : nullptr;
}

Json launch_json(const SourceResult& r, std::size_t launch, const std::vector<TimeRank>& ranks) {
  const MeasuredLaunch& l = r.source->launches[launch];
  const PredictedLaunch& p = r.launches[launch];
  const TimeRank* rank = rank_of(l, ranks);
  return {{"launch", l.name},
          {"sampled_share", p.sampled_share},
          {"blocks_per_cu",
           {{"measured", l.blocks_per_cu != 0 ? Json(l.blocks_per_cu) : Json()},
            {"predicted", p.blocks_per_cu}}},
          {"time_spread", rank ? Json(rank->spread) : Json()},
          {"time_rank", rank ? Json(rank->correlation) : Json()},
          {"counts", rank ? Json(rank->spread > r.source->time_spread) : Json()}};
}

Json source_json(const SourceResult& r) {
  Json source = {{"source", r.source->name}, {"machine", r.source->machine}};
  source["figures"] = Json::array();
  for (const Selection& s : selections_of(*r.source)) {
    source["figures"].push_back(figures_json(r, s));
  }
  source["launches"] = Json::array();
  const std::vector<TimeRank> ranks = time_ranks(select(*r.source, r.points, {}));
  for (std::size_t i = 0; i < r.launches.size(); ++i) {
    source["launches"].push_back(launch_json(r, i, ranks));
  }
  source["bounds"] = Json::array();
  for (const BoundVerdict& v : r.verdicts) source["bounds"].push_back(bound_json(v));
  return source;
}

}  // namespace

Json to_json(std::span<const SourceResult> results) {
  Json document = {{"ok", all_hold(results)}};
  document["summary"] = Json::array();
  for (const SourceResult& r : results) document["summary"].push_back(source_json(r));
  document["points"] = Json::array();
  for (const SourceResult& r : results) {
    for (const JudgedPoint& p : r.points) {
      if (p.shown) document["points"].push_back(point_json(*r.source, p));
    }
  }
  return document;
}

// ---- console ------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kWidth = 100;

/// A quantity of the table: which points have it, and its cells of a row.
struct Quantity {
  std::vector<Column> columns;
  bool (*measured)(const Measured&);
  std::vector<std::string> (*cells)(const Source&, const JudgedPoint&);
};

std::string number(const std::optional<double>& value, double scale, int digits) {
  return value ? fmt::format("{:.{}f}", *value * scale, digits) : "-";
}
std::string signed_number(const std::optional<double>& value, double scale) {
  return value ? fmt::format("{:+.1f}", *value * scale) : "-";
}

/// Four digits, of which at most three behind the point.
std::string milliseconds(const std::optional<double>& value) {
  return number(value, 1, value < 10 ? 3 : value < 100 ? 2 : 1);
}

std::vector<std::string> l2_cells(const Source& /*source*/, const JudgedPoint& p) {
  const Measured& m = p.point->measured;
  const std::string measured = m.l2_from && m.l2_to
                                   ? fmt::format("{:.0f}-{:.0f}", 100 * *m.l2_from, 100 * *m.l2_to)
                                   : number(m.l2_hit_rate, 100, 1);
  return {measured, number(p.predicted.l2_hit_rate, 100, 1), signed_number(l2_error(p), 1)};
}

std::vector<std::string> llc_cells(const Source& /*source*/, const JudgedPoint& p) {
  return {number(p.point->measured.llc_hit_rate, 100, 1), number(p.predicted.llc_hit_rate, 100, 1),
          signed_number(llc_error(p), 1)};
}

std::vector<std::string> dram_cells(const Source& source, const JudgedPoint& p) {
  const std::optional<double>& measured = p.point->measured.dram_read_bytes;
  const std::string error = signed_number(dram_error(p), 100);
  return {measured ? bytes_words(*measured) : "-", bytes_words(p.predicted.dram_read_bytes),
          dram_counts(source, p) ? error : "-"};
}

std::vector<std::string> time_cells(const Source& /*source*/, const JudgedPoint& p) {
  return {milliseconds(p.point->measured.time_ms), milliseconds(p.predicted.time_ms)};
}

std::vector<std::string> speedup_cells(const Source& /*source*/, const JudgedPoint& p) {
  return {number(p.point->measured.speedup, 1, 2), number(predicted_speedup(p), 1, 2)};
}

std::vector<std::string> bandwidth_cells(const Source& /*source*/, const JudgedPoint& p) {
  return {number(p.point->measured.bandwidth, 1e-12, 1), number(p.predicted.bandwidth, 1e-12, 1)};
}

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = {
      {{{"L2 %", true}, {"model", true}, {"error", true}},
       [](const Measured& m) { return m.l2_hit_rate || m.l2_from; },
       l2_cells},
      {{{"LLC %", true}, {"model", true}, {"error", true}},
       [](const Measured& m) { return m.llc_hit_rate.has_value(); },
       llc_cells},
      {{{"DRAM", true}, {"model", true}, {"err %", true}},
       [](const Measured& m) { return m.dram_read_bytes.has_value(); },
       dram_cells},
      {{{"ms", true}, {"model", true}},
       [](const Measured& m) { return m.time_ms.has_value(); },
       time_cells},
      {{{"speed", true}, {"model", true}},
       [](const Measured& m) { return m.speedup.has_value(); },
       speedup_cells},
      {{{"TB/s", true}, {"model", true}},
       [](const Measured& m) { return m.bandwidth.has_value(); },
       bandwidth_cells}};
  return all;
}

std::vector<Quantity> quantities_of(const SourceResult& r) {
  std::vector<Quantity> result;
  for (const Quantity& q : quantities()) {
    const bool any = std::any_of(r.points.begin(), r.points.end(), [&](const JudgedPoint& p) {
      return q.measured(p.point->measured);
    });
    if (any) result.push_back(q);
  }
  return result;
}

std::string heading(const SourceResult& r, std::size_t launch, const std::vector<TimeRank>& ranks) {
  const MeasuredLaunch& l = r.source->launches[launch];
  std::string text = fmt::format("{}: {}", l.name, r.launches[launch].words);
  if (r.launches[launch].sampled_share < 1) {
    text += fmt::format("; {:.2g} % replayed", 100 * r.launches[launch].sampled_share);
  }
  if (l.blocks_per_cu != 0 && l.blocks_per_cu != r.launches[launch].blocks_per_cu) {
    text += fmt::format("; {} a CU measured", l.blocks_per_cu);
  }
  if (const TimeRank* rank = rank_of(l, ranks)) {
    text += fmt::format("; times spread by {:.1f} %, rank correlation {:.2f}", 100 * rank->spread,
                        rank->correlation);
    if (rank->spread <= r.source->time_spread) text += " (does not count)";
  }
  return wrap(text, kWidth, 2);
}

/// All rows in one table, so that columns align; headings are put between its lines.
std::string points_text(const SourceResult& r) {
  Table table{{{"order"}, {"fit"}}, {}};
  const std::vector<Quantity> columns = quantities_of(r);
  for (const Quantity& q : columns) {
    table.columns.insert(table.columns.end(), q.columns.begin(), q.columns.end());
  }
  for (const JudgedPoint& p : r.points) {
    if (!p.shown) continue;
    table.rows.push_back({r.source->orders[p.point->order].name, p.point->fitted ? "yes" : "no"});
    for (const Quantity& q : columns) {
      const std::vector<std::string> cells = q.cells(*r.source, p);
      table.rows.back().insert(table.rows.back().end(), cells.begin(), cells.end());
    }
  }
  std::istringstream lines(render(table, kWidth));
  std::string line;
  std::getline(lines, line);
  std::string text = line + "\n";
  const std::vector<TimeRank> ranks = time_ranks(select(*r.source, r.points, {}));
  for (std::size_t l = 0; l < r.launches.size(); ++l) {
    text += "\n" + heading(r, l, ranks);
    for (const JudgedPoint& p : r.points) {
      if (!p.shown || p.launch != &r.source->launches[l]) continue;
      std::getline(lines, line);
      text += line + "\n";
    }
  }
  return text;
}

std::string figures_text(const SourceResult& r) {
  std::vector<Selection> selections = selections_of(*r.source);
  std::vector<Group> groups;
  Table table{{{"figure"}}, {}};
  std::erase_if(selections,
                [&](const Selection& s) { return select(*r.source, r.points, s).points.empty(); });
  std::vector<std::string> sizes = {"points"};
  for (const Selection& s : selections) {
    groups.push_back(select(*r.source, r.points, s));
    table.columns.push_back({words_of(s), true});
    sizes.push_back(fmt::format("{}", groups.back().points.size()));
  }
  table.rows.push_back(sizes);
  for (const Statistic& s : statistics()) {
    if (s.unit == Unit::kPercent) continue;
    std::vector<std::string> row = {std::string(s.words)};
    bool any = false;
    for (const Group& g : groups) {
      const std::optional<double> value = s.of(g);
      row.push_back(words_of(value, s.unit));
      any = any || value.has_value();
    }
    if (any) table.rows.push_back(row);
  }
  return render(table, kWidth);
}

std::string verdicts_text(const SourceResult& r) {
  Table table{
      {{"holds"}, {"bound"}, {"at least", true}, {"at most", true}, {"value", true}, {"of"}}, {}};
  for (const BoundVerdict& v : r.verdicts) {
    const Unit unit = v.bound->statistic->unit;
    std::string holds = "no data";
    if (v.holds) holds = *v.holds ? "yes" : "NO";
    table.rows.push_back({holds, std::string(v.bound->statistic->words),
                          words_of(v.bound->at_least, unit), words_of(v.bound->at_most, unit),
                          words_of(v.value, unit), words_of(v.bound->selection)});
  }
  return render(table, kWidth);
}

}  // namespace

std::string to_console(std::span<const SourceResult> results) {
  std::string text;
  for (const SourceResult& r : results) {
    const std::string title = fmt::format("{} (validation/{})", r.source->title, r.source->name);
    text += fmt::format("{}\n{}\n{}\n{}\n{}\n", title, std::string(title.size(), '='),
                        points_text(r), figures_text(r), verdicts_text(r));
  }
  std::size_t held = 0;
  std::size_t all = 0;
  for (const SourceResult& r : results) {
    for (const BoundVerdict& v : r.verdicts) {
      all += v.holds ? 1 : 0;
      held += v.holds.value_or(false) ? 1 : 0;
    }
  }
  return text + fmt::format("{} of {} bounds hold.\n", held, all);
}

}  // namespace swizzleperf::validate
