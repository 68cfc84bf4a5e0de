// See counters.h.
#include "measure/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace swizzleperf::measure {
namespace {

constexpr double kTolerance = 2;  // over what the model counts on: peaks are up to 1.4 times that
constexpr std::size_t kMostNames = 5;

/// Nothing that counts can be negative, infinite or no number.
void refuse_nonsense(std::optional<double>& value, const char* what, Counters& counters) {
  if (!value || (std::isfinite(*value) && *value >= 0)) return;
  counters.notes.push_back(fmt::format("{} were given as {}: refused", what, *value));
  value.reset();
}

void refuse_all_zero(Counters& c) {
  const auto zero = [](const std::optional<double>& value) { return !value || *value == 0; };
  const bool any = c.l2_requests || c.l2_hits || c.dram_read_bytes || c.dram_write_bytes;
  if (!any || !zero(c.l2_requests) || !zero(c.l2_hits) || !zero(c.dram_read_bytes) ||
      !zero(c.dram_write_bytes))
    return;
  c.l2_requests = c.l2_hits = c.dram_read_bytes = c.dram_write_bytes = std::nullopt;
  c.notes.emplace_back("all counters are zero: taken as not counted");
}

void refuse_more_hits_than_requests(Counters& c) {
  if (!c.l2_hits || !c.l2_requests || *c.l2_hits <= *c.l2_requests) return;
  c.notes.push_back(fmt::format("L2 hits ({:.0f}) exceed L2 requests ({:.0f}): both refused",
                                *c.l2_hits, *c.l2_requests));
  c.l2_hits = c.l2_requests = std::nullopt;
}

/// L2 cannot miss and nothing come from or go to memory.
void refuse_misses_without_bytes(Counters& c) {
  if (!c.l2_hits || !c.l2_requests || !c.dram_read_bytes || !c.dram_write_bytes) return;
  if (*c.dram_read_bytes > 0 || *c.dram_write_bytes > 0 || *c.l2_requests <= *c.l2_hits) return;
  c.notes.push_back(fmt::format(
      "no byte was counted behind L2 though it missed {:.0f} times: taken as not counted",
      *c.l2_requests - *c.l2_hits));
  c.dram_read_bytes = c.dram_write_bytes = std::nullopt;
}

void refuse_too_fast(std::optional<double>& bytes, const char* what, double most, Counters& c) {
  if (!bytes || !c.milliseconds || *c.milliseconds <= 0) return;
  const double rate = *bytes / (*c.milliseconds * 1e6);
  if (rate <= kTolerance * most) return;
  c.notes.push_back(fmt::format(
      "{:.4g} bytes {} in {:.4g} ms would be {:.0f} % of the {:.3g} TB/s counted on: refused",
      *bytes, what, *c.milliseconds, 100 * rate / most, most / 1000));
  bytes.reset();
}

}  // namespace

void judge(Counters& c, double memory_bytes_per_ns) {
  refuse_nonsense(c.l2_requests, "L2 requests", c);
  refuse_nonsense(c.l2_hits, "L2 hits", c);
  refuse_nonsense(c.dram_read_bytes, "bytes read", c);
  refuse_nonsense(c.dram_write_bytes, "bytes written", c);
  refuse_nonsense(c.milliseconds, "milliseconds", c);
  if (c.milliseconds && *c.milliseconds == 0) c.milliseconds.reset();
  refuse_all_zero(c);
  refuse_more_hits_than_requests(c);
  refuse_misses_without_bytes(c);
  refuse_too_fast(c.dram_read_bytes, "read", memory_bytes_per_ns, c);
  refuse_too_fast(c.dram_write_bytes, "written", memory_bytes_per_ns, c);
  if (c.l2_hits && c.l2_requests && *c.l2_requests > 0) c.l2_hit_rate = *c.l2_hits / *c.l2_requests;
}

std::string some_of(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    if (i > 0) text += last ? " and " : ", ";
    text += names[i];
  }
  return shown == names.size() ? text : fmt::format("{} and {} others", text, names.size() - shown);
}

std::string last_line(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const std::size_t end = text.find_last_not_of(kSpace);
  if (end == std::string::npos) return "";
  const std::size_t newline = text.find_last_of('\n', end);
  const std::size_t begin =
      text.find_first_not_of(kSpace, newline == std::string::npos ? 0 : newline);
  return text.substr(begin, end + 1 - begin);
}

}  // namespace swizzleperf::measure
