// The JSON of words.h; docs/json.md says what the keys mean.
#include <fmt/format.h>

#include "explain/words.h"
#include "report/metrics.h"

namespace swizzleperf {
namespace {

using Json = nlohmann::ordered_json;

Json share(double part, double whole) { return whole > 0 ? Json(part / whole) : Json(); }

/// `all` is what the array is a part of.
Json tallies(const ArrayMisses& array, const ArrayMisses& all) {
  const MissTally misses = array.misses();
  Json by_class = Json::object();
  for (std::size_t c = 0; c < kMissClasses; ++c) {
    const MissTally& tally = array.by_class[c];
    by_class[std::string(miss_class_name(static_cast<MissClass>(c)))] = {
        {"requests", tally.requests},
        {"bytes", tally.bytes},
        {"share", share(tally.requests, misses.requests)},
        {"share_of_class", share(tally.requests, all.by_class[c].requests)}};
  }
  return {{"requests", array.requests},
          {"hits", array.requests - misses.requests},
          {"hit_rate", share(array.requests - misses.requests, array.requests)},
          {"misses", misses.requests},
          {"fetched_bytes", misses.bytes},
          {"by_class", by_class}};
}

Json classes(const Launch& launch, const Classified& c) {
  const ArrayMisses total = c.total();
  Json arrays = Json::array();
  for (std::size_t a = 0; a < c.arrays.size(); ++a) {
    Json array = {{"name", launch.trace.buffers[a].name}};
    array.update(tallies(c.arrays[a], total));
    arrays.push_back(std::move(array));
  }
  return {{"arrays", arrays},
          {"total", tallies(total, total)},
          {"fully_associative_misses", c.associative_misses},
          {"written_bytes", c.written_bytes},
          {"metrics", to_json(c.result, launch.trace.buffers)}};
}

Json working_set_json(const Launch& launch, const WorkingSet& set) {
  Json arrays = Json::array();
  for (std::size_t a = 0; a < set.by_array.size(); ++a) {
    arrays.push_back({{"name", launch.trace.buffers[a].name}, {"bytes", set.by_array[a]}});
  }
  return {{"blocks", set.blocks},
          {"bytes", set.bytes},
          {"times_l2", set.bytes / static_cast<double>(launch.machine.l2.bytes)},
          {"arrays", arrays}};
}

Json limit_json(const Launch& launch, const TimeLimit& limit) {
  return {{"fetched_bytes", limit.fetched_bytes},
          {"hbm", {{"read_bytes", limit.read_bytes}, {"write_bytes", limit.written_bytes}}},
          {"level_ms",
           {{"compute", limit.level_ms[0]},
            {"l2", limit.level_ms[1]},
            {"fabric", limit.level_ms[2]},
            {"llc", launch.machine.llc ? Json(limit.level_ms[3]) : Json()},
            {"hbm", limit.level_ms[4]},
            {"dispatch", limit.dispatch_ms}}},
          {"time_ms", limit.time_ms},
          {"bound", bound_name(limit.bound)}};
}

Json what_if_json(const Launch& launch, const Explanation& x, const std::optional<WhatIf>& w) {
  if (!w) return {};
  Json paddings = Json::array();
  for (const Padding& p : w->paddings) {
    paddings.push_back({{"array", launch.trace.buffers[p.buffer].name},
                        {"stride_bytes", p.stride_bytes},
                        {"pad_bytes", p.pad_bytes}});
  }
  Json orders = Json::array();
  for (std::size_t i = 0; i < w->orders.size(); ++i) {
    Json order = {{"swizzle", x.orders[i].swizzle}};
    order.update(classes(launch, w->orders[i]));
    orders.push_back(std::move(order));
  }
  return {{"paddings", paddings}, {"orders", orders}};
}

}  // namespace

Json to_json(const Launch& launch, const Explanation& x) {
  const Trace& t = launch.trace;
  Json orders = Json::array();
  for (const ExplainedOrder& o : x.orders) {
    Json order = {{"swizzle", o.swizzle}};
    order.update(classes(launch, o.misses));
    order["working_set"] = working_set_json(launch, o.working_set);
    orders.push_back(std::move(order));
  }
  Json grouped = Json::array();
  for (const auto& [spec, set] : x.grouped) {
    grouped.push_back({{"swizzle", spec}, {"working_set", working_set_json(launch, set)}});
  }
  Json words = Json::array();
  for (const Paragraph& p : explain_in_words(launch, x)) {
    words.push_back({{"heading", p.heading}, {"sentences", p.sentences}});
  }
  const double identity_ms = x.identity().misses.result.time_ms;
  return {{"machine", launch.machine.name},
          {"kernel", t.kernel},
          {"grid", {t.grid.x, t.grid.y, t.grid.z}},
          {"block", {t.block.x, t.block.y, t.block.z}},
          {"blocks_per_cu", launch.occupancy.blocks_per_cu},
          {"occupancy_limit", launch.occupancy.limit},
          {"l2_bytes", launch.machine.l2.bytes},
          {"candidates", x.candidates > 0 ? Json(x.candidates) : Json()},
          {"orders", orders},
          {"speedup", x.speedup_at(x.order().misses.result.time_ms)},
          {"error_time", launch.machine.error_time},
          {"limits",
           {{"any_order", limit_json(launch, x.any_order)},
            {"this_order", limit_json(launch, x.this_order)},
            {"most_speedup", x.speedup_at(x.any_order.time_ms)},
            {"gained", share(identity_ms - x.order().misses.result.time_ms,
                             identity_ms - x.any_order.time_ms)}}},
          {"what_if",
           {{"padded_rows", what_if_json(launch, x, x.padded)},
            {"hashed_sets", what_if_json(launch, x, x.hashed)}}},
          {"grouped", grouped},
          {"words", words}};
}

}  // namespace swizzleperf
