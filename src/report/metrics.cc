// See metrics.h.
#include "report/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace swizzleperf {
namespace {

using nlohmann::json;

/// Counts from a sample are estimates, but nobody counts fractions of a request.
json count(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

json level(const LevelCounts& counts) {
  return {{"requests", count(counts.requests)},
          {"hits", count(counts.hits)},
          {"hit_rate", counts.requests > 0 ? json(counts.hit_rate()) : json()}};
}

}  // namespace

json to_json(const SimResult& r, const std::vector<Buffer>& buffers) {
  json domains = json::array();
  for (const DomainCounts& d : r.per_domain) {
    domains.push_back({{"l2", level(d.l2)}, {"blocks", d.blocks}, {"finish_ms", d.finish_ms}});
  }
  json by_buffer = json::array();
  for (std::size_t i = 0; i < r.misses_by_buffer.size() && i < buffers.size(); ++i) {
    by_buffer.push_back({{"name", buffers[i].name}, {"l2_misses", count(r.misses_by_buffer[i])}});
  }
  return {
      {"exact", r.exact},
      {"sampled_share", r.sampled_share},
      {"l1", level(r.l1)},
      {"l2", level(r.l2)},
      {"merged_requests", count(r.merged_requests)},
      {"llc", r.llc ? level(*r.llc) : json()},
      {"hbm", {{"read_bytes", count(r.hbm_read_bytes)}, {"write_bytes", count(r.hbm_write_bytes)}}},
      {"per_domain", domains},
      {"by_buffer", by_buffer},
      {"time_ms", r.time_ms},
      {"bound", bound_name(r.bound)},
      {"utilisation",
       {{"compute", r.utilisation[0]},
        {"l2", r.utilisation[1]},
        {"fabric", r.utilisation[2]},
        {"llc", r.llc ? json(r.utilisation[3]) : json()},
        {"hbm", r.utilisation[4]}}},
      {"imbalance", r.imbalance}};
}

}  // namespace swizzleperf
