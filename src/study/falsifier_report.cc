// See falsifier_report.h.
#include "study/falsifier_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/launch_text.h"
#include "report/table.h"

namespace swizzleperf::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUs = 1000;  // of a millisecond

double rate(const Falsified& f, double hits) { return hits / f.requests; }

// --- JSON and CSV -------------------------------------------------------------------------------

Json exhibit_json(const Falsified& f, const Exhibit& e) {
  return {{"number", e.number},
          {"hit_rate", rate(f, e.hits)},
          {"time_ms", e.time_ms},
          {"copies",
           {{"number", e.copies.number},
            {"mean_ms", e.copies.mean_ms},
            {"deviation_ms", e.copies.deviation_ms},
            {"least_ms", e.copies.least_ms},
            {"most_ms", e.copies.most_ms}}},
          {"blocks_of_die", e.blocks_of_die},
          {"formula", e.formula}};
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// --- Words --------------------------------------------------------------------------------------

std::string percent(double share, int digits = 2) {
  return fmt::format("{:.{}f}", 100 * share, digits);
}

std::string thousands(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string correlation_words(const std::optional<double>& r) {
  return r ? fmt::format("{:+.3f}", *r) : "undefined, one of them never changes";
}

/// A die a bracket.
std::string dies_words(const Exhibit& e) {
  std::string text;
  for (const auto& blocks : e.blocks_of_die)
    if (!blocks.empty()) text += fmt::format("({}) ", fmt::join(blocks, " "));
  text.pop_back();
  return text;
}

std::string exhibit_words(const Falsified& f, const std::string& name, const Exhibit& e) {
  return wrap(
             fmt::format("{}: {} % hits; {:.3f} us with equal CUs, {:.3f} us (deviation {:.3f}) as "
                         "modelled, over {} copies.",
                         name, percent(rate(f, e.hits)), kUs * e.time_ms, kUs * e.copies.mean_ms,
                         kUs * e.copies.deviation_ms, e.copies.number),
             output_width()) +
         wrap("  " + dies_words(e), output_width(), 2) + "  " + e.formula + "\n";
}

std::string levels_table(const Falsified& f) {
  Table table{
      {{"L2 hit %", true}, {"ways", true}, {"fastest us", true}, {"mean", true}, {"slowest", true}},
      {}};
  // Dozens of levels are read, hundreds are in the CSV.
  constexpr std::size_t kMostRows = 40;
  const std::size_t stride = (f.tally.levels.size() + kMostRows - 1) / kMostRows;
  std::size_t i = 0;
  for (const auto& [hits, level] : f.tally.levels) {
    const bool shown = i % stride == 0 || i + 1 == f.tally.levels.size();
    ++i;
    if (!shown) continue;
    table.rows.push_back(
        {percent(rate(f, hits)), thousands(level.deals),
         fmt::format("{:.3f}", kUs * level.fastest.time_ms),
         fmt::format("{:.3f}", kUs * level.time_sum / static_cast<double>(level.deals)),
         fmt::format("{:.3f}", kUs * level.slowest.time_ms)});
  }
  return render(table, output_width());
}

std::string pairs_words(const Tally& tally) {
  const Pairs pairs = count_pairs(tally);
  const double ordered = pairs.agree + pairs.contradict;
  if (ordered <= 0) return "No two ways differ in both.";
  return fmt::format("Of all pairs that differ in both, {} % contradict: more hits, and slower.",
                     percent(pairs.contradict / ordered));
}

std::string verdict_words(const Launch& launch, const Falsified& f) {
  if (!f.worst) {
    return "Not refuted: of the fastest and slowest ways of each hit count none with more hits is "
           "slower.";
  }
  const Refutation& c = *f.worst;
  const std::string points =
      percent(rate(f, c.more_hits.hits) - rate(f, c.fewer_hits.hits), 1) + " points";
  const std::string slower =
      fmt::format("{} % more time (standard error {}), as the mean over copies",
                  percent(c.slower_by()), percent(c.standard_error()));
  if (c.stands()) {
    return fmt::format(
        "The belief is refuted on this launch: {} more hits come with {}. The model "
        "states an error of {} % for ratios of times, so this {}.",
        points, slower, percent(launch.machine.error_time, 0),
        c.slower_by() > launch.machine.error_time ? "is more than it may be wrong by"
                                                  : "is worth a measurement and not yet a fact");
  }
  if (c.slower_by() <= 0) {
    return fmt::format(
        "Not refuted: the pair that looked worst, {} more hits, is not slower over "
        "copies of its own.",
        points);
  }
  return fmt::format("Not refuted beyond chance: at worst {} more hits come with {}.", points,
                     slower);
}

// --- The picture --------------------------------------------------------------------------------

/// A linear scale from values to pixels.
struct Scale {
  double low, high;   // values
  double begin, end;  // pixels
  double operator()(double value) const {
    return high > low ? begin + (value - low) / (high - low) * (end - begin) : (begin + end) / 2;
  }
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '&')
      escaped += "&amp;";
    else
      escaped += c;
  }
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"11\">{}</text>\n", x, y,
      anchor, escaped);
}

std::string mark(double x, double y, const char* colour, const std::string& name, bool left) {
  return fmt::format(
             "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"none\" stroke=\"{}\" "
             "stroke-width=\"2\"/>\n",
             x, y, colour) +
         text_at(left ? x - 9 : x + 9, y + 4, left ? "end" : "start", name);
}

/// Squares of a few pixels, however many hit counts and times there are.
std::string cells(const Falsified& f, const Scale& x, const Scale& y) {
  constexpr double kPixels = 6;
  std::map<std::pair<int, int>, double> deals_at;
  double most = 1;
  for (const auto& [hits, level] : f.tally.levels) {
    for (const auto& [bin, deals] : level.by_time) {
      const double time = (bin_begin_ms(bin) + bin_begin_ms(bin + 1)) / 2;
      double& here = deals_at[{static_cast<int>(x(rate(f, hits)) / kPixels),
                               static_cast<int>(y(kUs * time) / kPixels)}];
      here += static_cast<double>(deals);
      most = std::max(most, here);
    }
  }
  std::string svg;
  for (const auto& [place, deals] : deals_at)
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#1f5fa8\" "
        "fill-opacity=\"{:.2f}\"/>\n",
        place.first * kPixels, place.second * kPixels, kPixels, kPixels,
        0.08 + 0.92 * std::log(deals + 1) / std::log(most + 1));
  return svg;
}

}  // namespace

Json to_json(const Launch& launch, const Falsified& f) {
  const Pairs pairs = count_pairs(f.tally);
  Json levels = Json::array();
  for (const auto& [hits, level] : f.tally.levels)
    levels.push_back({{"hit_rate", rate(f, hits)},
                      {"deals", level.deals},
                      {"fastest_ms", level.fastest.time_ms},
                      {"mean_ms", level.time_sum / static_cast<double>(level.deals)},
                      {"slowest_ms", level.slowest.time_ms}});
  Json worst;
  if (f.worst) {
    worst = {{"more_hits", exhibit_json(f, f.worst->more_hits)},
             {"fewer_hits", exhibit_json(f, f.worst->fewer_hits)},
             {"slower_by", f.worst->slower_by()},
             {"standard_error", f.worst->standard_error()},
             {"stands", f.worst->stands()}};
  }
  const Trace& t = launch.trace;
  return {
      {"machine", launch.machine.name},
      {"kernel", t.kernel},
      {"grid", {t.grid.x, t.grid.y, t.grid.z}},
      {"deals", f.tally.deals},
      {"requests", f.requests},
      {"pearson", optional_json(pearson(f.tally))},
      {"spearman", optional_json(spearman(f.tally))},
      {"pairs", {{"agree", pairs.agree}, {"contradict", pairs.contradict}, {"tied", pairs.tied}}},
      {"error_time", launch.machine.error_time},
      {"levels", std::move(levels)},
      {"most_hits", exhibit_json(f, f.most_hits)},
      {"fastest", exhibit_json(f, f.fastest)},
      {"contradiction", std::move(worst)},
      {"replayed", f.replayed},
      {"seconds", f.seconds}};
}

std::string histogram_csv(const Falsified& f) {
  std::string text = "hit_rate,time_ms_from,time_ms_to,deals\n";
  for (const auto& [hits, level] : f.tally.levels)
    for (const auto& [bin, deals] : level.by_time)
      text += fmt::format("{:.6f},{:.6g},{:.6g},{}\n", rate(f, hits), bin_begin_ms(bin),
                          bin_begin_ms(bin + 1), deals);
  return text;
}

std::string histogram_svg(const Launch& launch, const Falsified& f) {
  int first = time_bin(f.fastest.time_ms);
  int last = first;
  for (const auto& [hits, level] : f.tally.levels)
    last = std::max(last, level.by_time.rbegin()->first);
  const Scale x{rate(f, f.tally.levels.begin()->first), rate(f, f.tally.levels.rbegin()->first), 90,
                690};
  const Scale y{kUs * bin_begin_ms(first), kUs * bin_begin_ms(last + 1), 420, 50};
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"480\" "
      "font-family=\"sans-serif\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n";
  svg += text_at(380, 20, "middle",
                 fmt::format("{} ways to deal {} blocks to {} {}s of {}", thousands(f.tally.deals),
                             launch.trace.blocks.size(), launch.machine.dies,
                             launch.machine.die_word, launch.machine.title));
  svg += cells(f, x, y);
  for (int i = 0; i <= 4; ++i) {
    const double hit = x.low + (x.high - x.low) * i / 4;
    const double time = y.low + (y.high - y.low) * i / 4;
    svg += text_at(x(hit), 450, "middle", fmt::format("{:.1f} %", 100 * hit));
    svg += text_at(70, y(time) + 4, "end", fmt::format("{:.3f}", time));
  }
  svg += text_at(380, 470, "middle", "L2 hit rate");
  svg += text_at(20, 38, "start", "time in us, equal CUs");
  const auto marked = [&](const Exhibit& e, const char* colour, const std::string& name) {
    const double at = x(rate(f, e.hits));
    return mark(at, y(kUs * e.time_ms), colour, name, at > 380);
  };
  if (f.most_hits.number == f.fastest.number) {
    svg += marked(f.fastest, "#2a8f2a", "most hits, fastest");
  } else {
    svg += marked(f.most_hits, "#2a8f2a", "most hits");
    svg += marked(f.fastest, "#d08000", "fastest");
  }
  if (f.worst) {
    svg += marked(f.worst->more_hits, "#c02020", "more hits, slower");
    svg += marked(f.worst->fewer_hits, "#c02020", "than this");
  }
  return svg + "</svg>\n";
}

std::string in_words(const Launch& launch, const Falsified& f) {
  const Machine& m = launch.machine;
  std::string text = fmt::format("{} on {}\n", launch.trace.kernel, m.title);
  text += wrap(fmt::format("{}. All {} ways to deal them to {} {}s, up to the names of {}s, every "
                           "request replayed, all CUs equal.",
                           launch_words(launch.trace.grid, launch.trace.block),
                           thousands(f.tally.deals), m.dies, m.die_word, m.die_word),
               output_width());
  text += "\n" + levels_table(f) + "\n";
  text += wrap(fmt::format("Hits against time: Pearson {}, Spearman {}. {}",
                           correlation_words(pearson(f.tally)),
                           correlation_words(spearman(f.tally)), pairs_words(f.tally)),
               output_width());
  text += "\n" + exhibit_words(f, "Most hits", f.most_hits);
  text += exhibit_words(f, "Fastest", f.fastest);
  if (f.worst) {
    text += exhibit_words(f, "More hits, slower", f.worst->more_hits);
    text += exhibit_words(f, "than", f.worst->fewer_hits);
  }
  return text + "\n" + wrap(verdict_words(launch, f), output_width());
}

}  // namespace swizzleperf::study
