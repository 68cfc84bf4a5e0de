// See tally.h.
#include "study/tally.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace swizzleperf::study {
namespace {

using nlohmann::json;

constexpr double kBin = 0.001;

/// Ranks from 0 in ascending order, equal values sharing the mean of theirs, as first rank and
/// count -> that mean.
double shared_rank(double first, double count) { return first + (count - 1) / 2; }

std::optional<double> correlation(double n, double a, double b, double aa, double bb, double ab) {
  const double spread = (aa - a * a / n) * (bb - b * b / n);
  if (!(spread > 0)) return std::nullopt;
  return (ab - a * b / n) / std::sqrt(spread);
}

}  // namespace

int time_bin(double time_ms) {
  return static_cast<int>(std::floor(std::log(time_ms) / std::log1p(kBin)));
}

double bin_begin_ms(int bin) { return std::exp(bin * std::log1p(kBin)); }

void Tally::add(std::uint64_t number, double hits, double time_ms, const Origin& origin) {
  const double h = hits - origin.hits;
  const double t = time_ms - origin.time_ms;
  deals += 1;
  hits_sum += h;
  time_sum += t;
  hits_squares += h * h;
  time_squares += t * t;
  products += h * t;
  HitLevel& level = levels[hits];
  if (level.deals == 0 || time_ms < level.fastest.time_ms) level.fastest = {number, time_ms};
  if (level.deals == 0 || time_ms > level.slowest.time_ms) level.slowest = {number, time_ms};
  level.deals += 1;
  level.time_sum += time_ms;
  level.by_time[time_bin(time_ms)] += 1;
}

void Tally::add(const Tally& next) {
  deals += next.deals;
  hits_sum += next.hits_sum;
  time_sum += next.time_sum;
  hits_squares += next.hits_squares;
  time_squares += next.time_squares;
  products += next.products;
  for (const auto& [hits, other] : next.levels) {
    HitLevel& level = levels[hits];
    if (level.deals == 0 || other.fastest.time_ms < level.fastest.time_ms)
      level.fastest = other.fastest;
    if (level.deals == 0 || other.slowest.time_ms > level.slowest.time_ms)
      level.slowest = other.slowest;
    level.deals += other.deals;
    level.time_sum += other.time_sum;
    for (const auto& [bin, count] : other.by_time) level.by_time[bin] += count;
  }
}

json to_json(const Tally& t) {
  json levels = json::array();
  for (const auto& [hits, level] : t.levels) {
    json bins = json::array();
    for (const auto& [bin, count] : level.by_time) bins.push_back({bin, count});
    levels.push_back({hits, level.deals, level.time_sum, level.fastest.number,
                      level.fastest.time_ms, level.slowest.number, level.slowest.time_ms,
                      std::move(bins)});
  }
  return {{"deals", t.deals},
          {"sums", {t.hits_sum, t.time_sum, t.hits_squares, t.time_squares, t.products}},
          {"levels", std::move(levels)}};
}

Tally tally_from_json(const json& from) {
  Tally t;
  from.at("deals").get_to(t.deals);
  const json& sums = from.at("sums");
  sums.at(0).get_to(t.hits_sum);
  sums.at(1).get_to(t.time_sum);
  sums.at(2).get_to(t.hits_squares);
  sums.at(3).get_to(t.time_squares);
  sums.at(4).get_to(t.products);
  for (const json& row : from.at("levels")) {
    HitLevel& level = t.levels[row.at(0).get<double>()];
    row.at(1).get_to(level.deals);
    row.at(2).get_to(level.time_sum);
    level.fastest = {row.at(3).get<std::uint64_t>(), row.at(4).get<double>()};
    level.slowest = {row.at(5).get<std::uint64_t>(), row.at(6).get<double>()};
    for (const json& bin : row.at(7))
      level.by_time[bin.at(0).get<int>()] = bin.at(1).get<std::uint64_t>();
  }
  return t;
}

std::optional<double> pearson(const Tally& t) {
  return correlation(static_cast<double>(t.deals), t.hits_sum, t.time_sum, t.hits_squares,
                     t.time_squares, t.products);
}

std::optional<double> spearman(const Tally& t) {
  std::map<int, double> bin_rank;  // first the counts
  for (const auto& [hits, level] : t.levels)
    for (const auto& [bin, count] : level.by_time) bin_rank[bin] += static_cast<double>(count);
  double first = 0;
  for (auto& [bin, value] : bin_rank) {
    const double count = value;
    value = shared_rank(first, count);
    first += count;
  }
  const auto n = static_cast<double>(t.deals);
  const double middle = (n - 1) / 2;
  double squares_h = 0;
  double squares_t = 0;
  double products = 0;
  first = 0;
  for (const auto& [hits, level] : t.levels) {
    const double h = shared_rank(first, static_cast<double>(level.deals)) - middle;
    first += static_cast<double>(level.deals);
    for (const auto& [bin, deals] : level.by_time) {
      const double r = bin_rank[bin] - middle;
      const auto count = static_cast<double>(deals);
      squares_h += count * h * h;
      squares_t += count * r * r;
      products += count * h * r;
    }
  }
  return correlation(n, 0, 0, squares_h, squares_t, products);
}

Pairs count_pairs(const Tally& t) {
  std::map<int, double> lower;  // of the levels with fewer hits, by time
  double lower_all = 0;
  Pairs pairs;
  for (const auto& [hits, level] : t.levels) {
    auto it = lower.begin();
    double faster = 0;  // among the lower levels
    for (const auto& [bin, deals] : level.by_time) {
      for (; it != lower.end() && it->first < bin; ++it) faster += it->second;
      const auto same = lower.find(bin);
      const double tied = same == lower.end() ? 0 : same->second;
      const auto count = static_cast<double>(deals);
      pairs.contradict += count * faster;
      pairs.tied += count * tied;
      pairs.agree += count * (lower_all - faster - tied);
    }
    const auto all = static_cast<double>(level.deals);
    pairs.tied += all * (all - 1) / 2;
    for (const auto& [bin, deals] : level.by_time) lower[bin] += static_cast<double>(deals);
    lower_all += all;
  }
  return pairs;
}

}  // namespace swizzleperf::study
