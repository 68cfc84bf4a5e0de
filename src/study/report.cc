// See report.h.
#include "study/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/files.h"
#include "study/plot.h"

namespace swizzleperf::study {
namespace {

using Json = nlohmann::ordered_json;

// --- Cells --------------------------------------------------------------------------------------

enum class Style { kCount, kPercent, kRatio, kSeconds };

Style style_of(Figure f) {
  switch (f) {
    case Figure::kL2Before:
    case Figure::kL2After:
      return Style::kPercent;
    case Figure::kTimeRatio:
      return Style::kRatio;
    case Figure::kSeconds:
    case Figure::kSecondsToBest:
      return Style::kSeconds;
    default:
      return Style::kCount;
  }
}

std::string written(double value, Style style) {
  switch (style) {
    case Style::kPercent:
      return fmt::format("{:.1f} %", 100 * value);
    case Style::kRatio:
      return fmt::format("{:.3f}x", value);
    case Style::kSeconds:
      return fmt::format("{:.2f}", value);
    case Style::kCount:
      break;
  }
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string cell(const Over& over, Style style) {
  if (!over.mean) return "-";
  std::string text = written(*over.mean, style);
  if (over.deviation && *over.deviation > 0) text += " ± " + written(*over.deviation, style);
  return text;
}

std::string cell(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

/// What would end a cell or a row of a table.
std::string in_cell(const std::string& text) {
  if (text.empty()) return "-";
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string md_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string md_head(const std::vector<std::string>& names, std::size_t left) {
  std::vector<std::string> rule(names.size(), "---:");
  std::fill_n(rule.begin(), left, "---");
  return md_row(names) + md_row(rule);
}

std::string launch_of(const AttemptRow& key) {
  return key.size.empty() ? key.kernel : key.kernel + " " + key.size;
}

std::string who(const AttemptRow& key) {
  return key.model.empty() ? key.proposer : fmt::format("{} ({})", key.proposer, key.model);
}

// --- Tables -------------------------------------------------------------------------------------

std::string overall_table(const std::vector<Overall>& all) {
  std::string text =
      md_head({"context", "proposer", "runs", "failed", "attempts", "parsed", "bijective",
               "identity", "repeated", "runs faster", "L2 hits gained", "time ratio"},
              2);
  for (const Overall& o : all) {
    text += md_row({in_cell(o.key.context), in_cell(who(o.key)), fmt::to_string(o.configurations),
                    fmt::to_string(o.failed), fmt::to_string(o.attempts), fmt::to_string(o.parsed),
                    fmt::to_string(o.bijective), fmt::to_string(o.identity),
                    fmt::to_string(o.repeated), fmt::to_string(o.faster),
                    cell(o.l2_gain_points, "{:+.1f} points"), cell(o.time_ratio, "{:.3f}x")});
  }
  return text;
}

std::string groups_table(const std::vector<Group>& groups) {
  std::string text =
      md_head({"kernel", "machine", "context", "proposer", "trials", "attempts", "parsed",
               "bijective", "identity", "repeated", "built", "equal outputs", "L2 before",
               "L2 after", "time ratio", "tokens", "seconds", "seconds to best"},
              4);
  for (const Group& g : groups) {
    std::vector<std::string> cells = {in_cell(launch_of(g.key)), in_cell(g.key.machine),
                                      in_cell(g.key.context), in_cell(who(g.key)),
                                      fmt::to_string(g.trials)};
    if (g.failed == g.trials) {
      cells.push_back("failed: " + in_cell(g.reason));
      cells.resize(5 + kFigures, "");
    } else {
      for (std::size_t f = 0; f < kFigures; ++f) {
        cells.push_back(cell(g.over[f], style_of(static_cast<Figure>(f))));
      }
      if (g.failed > 0) cells[4] += fmt::format(" ({} failed)", g.failed);
    }
    text += md_row(cells);
  }
  return text;
}

std::string table_csv(const std::vector<Group>& groups) {
  std::string text = "kernel,size,machine,context,proposer,model,trials,failed,reason";
  for (std::size_t f = 0; f < kFigures; ++f) {
    const std::string_view name = figure_name(static_cast<Figure>(f));
    text += fmt::format(",{0}_mean,{0}_deviation,{0}_least,{0}_most", name);
  }
  text += "\n";
  for (const Group& g : groups) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}", csv_field(g.key.kernel), csv_field(g.key.size),
                    csv_field(g.key.machine), csv_field(g.key.context), csv_field(g.key.proposer),
                    csv_field(g.key.model), g.trials, g.failed, csv_field(g.reason));
    for (const Over& o : g.over) {
      text += fmt::format(",{},{},{},{}", csv_field(o.mean), csv_field(o.deviation),
                          csv_field(o.least), csv_field(o.most));
    }
    text += "\n";
  }
  return text;
}

// --- Hits and time ------------------------------------------------------------------------------

std::string correlation_table(const std::vector<Launches>& launches) {
  std::string text = md_head(
      {"kernel", "machine", "orders", "Pearson", "Spearman", "pairs", "of them contradict"}, 2);
  for (const Launches& l : launches) {
    text +=
        md_row({in_cell(launch_of(l.key)), in_cell(l.key.machine), fmt::to_string(l.points.size()),
                cell(l.pearson, "{:+.2f}"), cell(l.spearman, "{:+.2f}"), fmt::to_string(l.pairs),
                fmt::to_string(l.contradictions.size())});
  }
  return text;
}

struct Found {
  const Launches* launch;
  const Point* more_hits;
  const Point* faster;
  /// How far both figures disagree.
  [[nodiscard]] double size() const {
    return (more_hits->l2 - faster->l2) * (more_hits->time_ms / faster->time_ms - 1);
  }
};

/// The worst first.
std::vector<Found> contradictions(const std::vector<Launches>& launches) {
  std::vector<Found> all;
  for (const Launches& l : launches) {
    for (const auto& [more, less] : l.contradictions) {
      all.push_back({&l, &l.points[more], &l.points[less]});
    }
  }
  const auto key = [](const Found& f) {
    const AttemptRow& k = f.launch->key;
    return std::tie(k.kernel, k.size, k.machine, f.more_hits->order, f.faster->order);
  };
  std::sort(all.begin(), all.end(), [&](const Found& a, const Found& b) {
    return a.size() != b.size() ? a.size() > b.size() : key(a) < key(b);
  });
  return all;
}

std::string contradiction_table(const std::vector<Found>& all) {
  constexpr std::size_t kMost = 20;
  std::string text = md_head({"kernel", "machine", "order with more hits", "its L2 hits",
                              "its time ms", "faster order", "its L2 hits", "its time ms"},
                             3);
  for (std::size_t i = 0; i < std::min(kMost, all.size()); ++i) {
    const Found& f = all[i];
    text += md_row({in_cell(launch_of(f.launch->key)), in_cell(f.launch->key.machine),
                    in_cell(f.more_hits->order), fmt::format("{:.1f} %", 100 * f.more_hits->l2),
                    fmt::format("{:.4f}", f.more_hits->time_ms), in_cell(f.faster->order),
                    fmt::format("{:.1f} %", 100 * f.faster->l2),
                    fmt::format("{:.4f}", f.faster->time_ms)});
  }
  return text;
}

std::string contradictions_csv(const std::vector<Found>& all) {
  std::string text =
      "kernel,size,machine,more_hits,more_hits_formula,more_hits_l2,more_hits_time_ms,faster,"
      "faster_formula,faster_l2,faster_time_ms\n";
  for (const Found& f : all) {
    text += fmt::format("{},{},{},{},{},{:.6g},{:.6g},{},{},{:.6g},{:.6g}\n",
                        csv_field(f.launch->key.kernel), csv_field(f.launch->key.size),
                        csv_field(f.launch->key.machine), csv_field(f.more_hits->order),
                        csv_field(f.more_hits->formula), f.more_hits->l2, f.more_hits->time_ms,
                        csv_field(f.faster->order), csv_field(f.faster->formula), f.faster->l2,
                        f.faster->time_ms);
  }
  return text;
}

// --- Pictures -----------------------------------------------------------------------------------

Series& series_of(std::vector<Series>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == name; });
  if (found != all.end()) return *found;
  all.push_back({name, {}});
  return all.back();
}

std::string series_name(const std::string& proposer, const std::string& context) {
  return context.empty() ? proposer : proposer + ", " + context;
}

std::string hits_time(const std::vector<Launches>& launches) {
  Plot plot{"Every distinct order, by who found it first",
            "L2 hits gained over the order as it is, points",
            "speed over the order as it is",
            {},
            {},
            1.0};
  for (const Launches& l : launches) {
    for (std::size_t i = 1; i < l.points.size(); ++i) {
      const Point& p = l.points[i];
      series_of(plot.series, series_name(p.proposer, p.context))
          .points.emplace_back(100 * (p.l2 - l.points[0].l2), l.points[0].time_ms / p.time_ms);
    }
  }
  return svg(plot);
}

std::string best(const std::vector<Group>& groups) {
  Plot plot{"The best order of each run (mean over trials)",
            "",
            "speed over the order as it is",
            {},
            {},
            1.0};
  for (const Group& g : groups) {
    std::string launch = launch_of(g.key);
    auto at = std::find(plot.categories.begin(), plot.categories.end(), launch);
    if (at == plot.categories.end()) {
      plot.categories.push_back(launch);
      at = plot.categories.end() - 1;
    }
    const std::optional<double> ratio = g.of(Figure::kTimeRatio).mean;
    if (!ratio) continue;
    series_of(plot.series, series_name(who(g.key), g.key.context))
        .points.emplace_back(static_cast<double>(at - plot.categories.begin()), *ratio);
  }
  return svg(plot);
}

// --- JSON ---------------------------------------------------------------------------------------

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json names_json(const AttemptRow& key) {
  return {{"kernel", key.kernel},     {"size", key.size},
          {"machine", key.machine},   {"context", text_or_null(key.context)},
          {"proposer", key.proposer}, {"model", text_or_null(key.model)}};
}

Json groups_json(const std::vector<Group>& groups) {
  Json all = Json::array();
  for (const Group& g : groups) {
    Json one = names_json(g.key);
    one["trials"] = g.trials;
    one["failed"] = g.failed;
    one["reason"] = text_or_null(g.reason);
    for (std::size_t f = 0; f < kFigures; ++f) {
      const Over& o = g.over[f];
      one[std::string(figure_name(static_cast<Figure>(f)))] =
          o.mean ? Json{{"mean", *o.mean},
                        {"deviation", maybe(o.deviation)},
                        {"least", maybe(o.least)},
                        {"most", maybe(o.most)}}
                 : Json();
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json launches_json(const std::vector<Launches>& launches) {
  Json all = Json::array();
  for (const Launches& l : launches) {
    all.push_back({{"kernel", l.key.kernel},
                   {"size", l.key.size},
                   {"machine", l.key.machine},
                   {"orders", l.points.size()},
                   {"pearson", maybe(l.pearson)},
                   {"spearman", maybe(l.spearman)},
                   {"pairs", l.pairs},
                   {"contradictions", l.contradictions.size()}});
  }
  return all;
}

}  // namespace

Report make_report(const std::string& name, const std::vector<AttemptRow>& rows) {
  const std::vector<Group> groups = groups_of(rows);
  const std::vector<Launches> launches = launches_of(rows);
  const std::vector<Found> found = contradictions(launches);
  const Pooled all = pooled(launches);
  Report r;
  r.attempts_csv = attempts_csv(rows);
  r.table_csv = table_csv(groups);
  r.contradictions_csv = contradictions_csv(found);
  r.hits_time_svg = hits_time(launches);
  r.best_svg = best(groups);
  r.table_md = fmt::format(
      "# Study: {}\n\nL2 hits and times are predicted by replaying every request; a time ratio is "
      "the time of\nthe order as it is over that of the best order of a run, and L2 after is of "
      "that same order.\nWhat was not measured is '-'. Only the best order of a run is built and "
      "compared.\n\n## By context and proposer\n\n{}\n## Every configuration\n\n{}\n"
      "## Do more hits mean less time?\n\nOf hit rate and time over all distinct orders of a "
      "launch, the order as it is included; -1 is a proxy\nwithout fault. Pairs differ by more "
      "than {:.1f} points of hits and {:.1f} % of time.\n\n{}\nOver all {} orders, points of hits "
      "gained and logarithm of the time's ratio: Pearson {}, Spearman {}.\n",
      name, overall_table(overall_of(rows)), groups_table(groups), 100 * kSameL2, 100 * kSameTime,
      correlation_table(launches), all.orders, cell(all.pearson, "{:+.2f}"),
      cell(all.spearman, "{:+.2f}"));
  if (!found.empty()) {
    r.table_md += fmt::format(
        "\n{} pairs contradict: the order with more hits is slower. The largest (all are in "
        "contradictions.csv):\n\n{}",
        found.size(), contradiction_table(found));
  }
  r.json = {{"configurations", groups_json(groups)},
            {"launches", launches_json(launches)},
            {"orders", all.orders},
            {"pearson", maybe(all.pearson)},
            {"spearman", maybe(all.spearman)}};
  return r;
}

void write_report(const Report& report, const std::filesystem::path& directory) {
  write_file(directory / "attempts.csv", report.attempts_csv);
  write_file(directory / "table.csv", report.table_csv);
  write_file(directory / "table.md", report.table_md);
  write_file(directory / "contradictions.csv", report.contradictions_csv);
  write_file(directory / "hits_time.svg", report.hits_time_svg);
  write_file(directory / "best.svg", report.best_svg);
}

}  // namespace swizzleperf::study
