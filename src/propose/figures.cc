// See figures.h.
#include "propose/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/launch_text.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

double number(const json& metrics, const char* key) { return metrics.at(key).get<double>(); }

json hit_rate(const json& level) { return level.is_null() ? json() : level.at("hit_rate"); }

double hbm_bytes(const json& metrics) {
  return number(metrics.at("hbm"), "read_bytes") + number(metrics.at("hbm"), "write_bytes");
}

std::string percent(const json& rate) {
  return rate.is_null() ? "unknown" : fmt::format("{:.1f} %", 100 * rate.get<double>());
}

std::string before_and_now(std::string_view what, const std::string& before,
                           const std::string& now) {
  return fmt::format("{} {} before, {} now", what, before, now);
}

std::string time_words(const json& m, const json& base) {
  const double before = number(base, "time_ms");
  const double now = number(m, "time_ms");
  return fmt::format("predicted time {:.4f} ms before, {:.4f} ms now ({:.3f}x)", before, now,
                     before / now);
}

std::string misses_words(const json& m, const json& base) {
  std::vector<std::string> parts;
  const json& now = m.at("by_buffer");
  const json& before = base.at("by_buffer");
  for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i) {
    parts.push_back(fmt::format("{} {} ({} before)", now[i].at("name").get<std::string>(),
                                count_words(number(now[i], "l2_misses")),
                                count_words(number(before[i], "l2_misses"))));
  }
  return parts.empty() ? "" : fmt::format("L2 misses by argument: {}.", fmt::join(parts, ", "));
}

/// Least and most of what the dies have.
template <class Value>
std::pair<double, double> extremes(const json& m, Value value) {
  std::pair<double, double> out{0, 0};
  bool first = true;
  for (const json& die : m.at("per_domain")) {
    const double v = value(die);
    out = first ? std::pair(v, v) : std::pair(std::min(out.first, v), std::max(out.second, v));
    first = false;
  }
  return out;
}

std::string balance_words(const json& m, const json& base) {
  if (m.at("per_domain").size() < 2) return "";
  const auto [least, most] = extremes(m, [](const json& die) { return number(die, "blocks"); });
  const auto [first, last] = extremes(m, [](const json& die) { return number(die, "finish_ms"); });
  const std::string blocks = least == most ? fmt::format("{:.0f} blocks each", least)
                                           : fmt::format("{:.0f} to {:.0f} blocks", least, most);
  return fmt::format(
      "{}The dies have {} and end between {:.4f} and {:.4f} ms: the last one {:.1f} % after their "
      "mean, {:.1f} % before.",
      loses_balance(m, base) ? "Balance is lost. " : "", blocks, first, last,
      100 * number(m, "imbalance"), 100 * number(base, "imbalance"));
}

}  // namespace

json brief(const json& m, const json& base) {
  json misses = json::array();
  for (const json& b : m.at("by_buffer")) {
    misses.push_back({{"argument", b.at("name")}, {"misses", b.at("l2_misses")}});
  }
  return {{"time_ms", m.at("time_ms")},
          {"speedup", number(base, "time_ms") / number(m, "time_ms")},
          {"bound", m.at("bound")},
          {"l2_hit_rate", hit_rate(m.at("l2"))},
          {"llc_hit_rate", hit_rate(m.at("llc"))},
          {"hbm_read_bytes", m.at("hbm").at("read_bytes")},
          {"hbm_write_bytes", m.at("hbm").at("write_bytes")},
          {"imbalance", m.at("imbalance")},
          {"l2_misses", misses}};
}

bool loses_balance(const json& m, const json& base) {
  constexpr double kMore = 0.05;  // of the mean time; the identity's dies differ by some percent
  return number(m, "imbalance") > number(base, "imbalance") + kMore &&
         number(m, "time_ms") > number(base, "time_ms");
}

std::string measured_words(const json& m, const json& base) {
  std::string words =
      before_and_now("L2 hits", percent(hit_rate(base.at("l2"))), percent(hit_rate(m.at("l2"))));
  if (!m.at("llc").is_null()) {
    words += "; " + before_and_now("last-level hits", percent(hit_rate(base.at("llc"))),
                                   percent(hit_rate(m.at("llc"))));
  }
  words += "; " + before_and_now("memory traffic", bytes_words(hbm_bytes(base)),
                                 bytes_words(hbm_bytes(m)));
  words += fmt::format("; {}, bound by {} before, by {} now.", time_words(m, base),
                       base.at("bound").get<std::string>(), m.at("bound").get<std::string>());
  for (const std::string& more : {misses_words(m, base), balance_words(m, base)}) {
    if (!more.empty()) words += " " + more;
  }
  return words;
}

std::string objective_words(const json& m, const json& base, std::string_view objective) {
  if (objective == "l2") {
    return before_and_now("cache hits", percent(hit_rate(base.at("l2"))),
                          percent(hit_rate(m.at("l2"))));
  }
  if (objective == "hbm") {
    return before_and_now("memory traffic", bytes_words(hbm_bytes(base)),
                          bytes_words(hbm_bytes(m)));
  }
  return time_words(m, base);
}

}  // namespace swizzleperf
