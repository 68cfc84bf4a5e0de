// See facts.h.
#include "context/facts.h"

#include <algorithm>

#include "context/sharing.h"
#include "explain/explain.h"
#include "explain/words.h"
#include "report/arrays.h"
#include "report/metrics.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

json spread(const Spread& s) {
  return {{"least", s.least}, {"median", s.median}, {"most", s.most}};
}

json part(std::uint64_t some, std::uint64_t all) {
  return all > 0 ? json(static_cast<double>(some) / static_cast<double>(all)) : json();
}

// --- Locality -----------------------------------------------------------------------------------

json pairs_json(const PairSharing& p) {
  return {{"distance", p.distance},           {"pairs", p.pairs}, {"of", p.pairs + p.skipped},
          {"share", part(p.shared, p.lines)}, {"least", p.least}, {"most", p.most}};
}

json row_json(const RowSharing& r) {
  if (r.rows == 0) return {};
  return {{"rows", r.rows},
          {"of", r.rows + r.skipped},
          {"by_all", part(r.by_all, r.lines)},
          {"by_any", part(r.by_any, r.lines)},
          {"outside", part(r.outside, r.lines)}};
}

json axes_json(const ArraySharing& array) {
  json axes = json::array();
  for (const AxisSharing& axis : array.axes) {
    json distances = json::array();
    for (const PairSharing& p : axis.pairs) distances.push_back(pairs_json(p));
    axes.push_back({{"axis", axis.axis},
                    {"extent", axis.extent},
                    {"distances", distances},
                    {"row", row_json(axis.row)}});
  }
  return axes;
}

json locality(const Trace& trace, const LineTrace& lines, unsigned threads) {
  const std::vector<ArrayTraffic> traffic = traffic_by_array(trace);
  json arrays = json::array();
  for (const ArraySharing& array : measure_sharing(lines, threads)) {
    const Buffer& buffer = trace.buffers[array.buffer];
    arrays.push_back({{"name", buffer.name},
                      {"bytes", buffer.bytes},
                      {"loaded_bytes", traffic[array.buffer].loaded_bytes},
                      {"stored_bytes", traffic[array.buffer].stored_bytes},
                      {"blocks", array.blocks},
                      {"lines", array.lines},
                      {"lines_of_block", spread(array.lines_of_block)},
                      {"bytes_of_block", array.lines_of_block.median * lines.line_bytes},
                      {"blocks_of_line", spread(array.blocks_of_line)},
                      {"axes", axes_json(array)}});
  }
  return {{"line_bytes", lines.line_bytes}, {"arrays", arrays}};
}

/// By block, what it asks of L2 and how many wave instructions it issues.
json work(const LineTrace& lines) {
  std::vector<double> requests;
  std::vector<double> instructions;
  for (const BlockLines& block : lines.blocks) {
    const LineTemplate& t = lines.templates[block.template_index];
    requests.push_back(static_cast<double>(t.requests.size()));
    instructions.push_back(0);
    for (const LineInterval& i : t.intervals) instructions.back() += i.cost.instructions;
  }
  return {{"requests_of_block", spread(spread_of(std::move(requests)))},
          {"instructions_of_block", spread(spread_of(std::move(instructions)))}};
}

json set_json(const Trace& trace, const WorkingSet& set, const char* times, const json& of_bytes) {
  json arrays = json::array();
  for (std::size_t a = 0; a < set.by_array.size(); ++a) {
    if (set.by_array[a] > 0) {
      arrays.push_back({{"name", trace.buffers[a].name}, {"bytes", set.by_array[a]}});
    }
  }
  return {{"blocks", set.blocks},
          {"bytes", set.bytes},
          {times, of_bytes.is_null() ? json() : json(set.bytes / of_bytes.get<double>())},
          {"arrays", arrays}};
}

json in_flight(const Launch& launch, const LineTrace& lines) {
  const Machine& m = launch.machine;
  const std::uint32_t per_cu = launch.occupancy.blocks_per_cu;
  const std::vector<std::uint32_t> order = permutation_of("identity", launch.shape);
  return {{"die", set_json(launch.trace, working_set(lines, m, per_cu, order), "times_l2",
                           json(m.l2.bytes))},
          {"device", set_json(launch.trace, device_working_set(lines, m, per_cu, order),
                              "times_llc", m.llc ? json(m.llc->bytes) : json())}};
}

/// The order as it is, replayed whole.
json profile(const Launch& launch, const ContextRequest& request) {
  const Explanation x = explain(launch, {"identity", request.seed, request.threads, false});
  const json all = to_json(launch, x);
  return {{"identity", all.at("orders").front()}, {"limits", all.at("limits")}};
}

// --- Machine ------------------------------------------------------------------------------------

/// How many blocks a die gets where dies have queues of their own.
json blocks_per_die(const Machine& m, std::uint64_t blocks) {
  if (m.dispatch != Dispatch::kRoundRobinPerDie) return {};
  const std::uint64_t round = std::uint64_t{m.dies} * m.dispatch_chunk;
  const std::uint64_t whole = blocks / round * m.dispatch_chunk;
  const std::uint64_t rest = blocks % round;
  const std::uint64_t last = (m.dies - 1) * std::uint64_t{m.dispatch_chunk};
  return {{"least", whole + (rest > last ? rest - last : 0)},
          {"most", whole + std::min<std::uint64_t>(rest, m.dispatch_chunk)}};
}

json machine_json(const Launch& launch) {
  const Machine& m = launch.machine;
  const std::uint64_t slots = std::uint64_t{m.cus_per_die} * launch.occupancy.blocks_per_cu;
  return {{"name", m.name},
          {"title", m.title},
          {"vendor", m.vendor},
          {"die_word", m.die_word},
          {"dies", m.dies},
          {"cus_per_die", m.cus_per_die},
          {"l2_bytes", m.l2.bytes},
          {"l2_line_bytes", m.l2.line_bytes},
          {"llc_bytes", m.llc ? json(m.llc->bytes) : json()},
          {"lines_have_home", m.lines_have_home != 0},
          {"blocks_per_cu", launch.occupancy.blocks_per_cu},
          {"occupancy_limit", launch.occupancy.limit},
          {"slots_per_die", slots},
          {"slots", slots * m.dies},
          {"dispatch", m.dispatch == Dispatch::kSingleQueue ? "single-queue" : "round-robin"},
          {"dispatch_chunk", m.dispatch_chunk},
          {"blocks_per_die", blocks_per_die(m, launch.trace.grid.count())}};
}

json every_number(const Machine& m) {
  json numbers = json::array();
  for (const Provenance& p : m.provenance) {
    numbers.push_back({{"key", p.key},
                       {"value", p.value},
                       {"kind", p.kind},
                       {"source", p.source},
                       {"note", p.note.empty() ? json() : json(p.note)}});
  }
  return {{"name", m.name}, {"title", m.title},       {"vendor", m.vendor},
          {"arch", m.arch}, {"die_word", m.die_word}, {"numbers", numbers}};
}

/// Under the names of HIP's device properties, as a program is told them.
json device_attributes(const Machine& m) {
  vgpu::ProgramSpec spec;
  set_target(spec, m);
  const vgpu::VirtualDevice d = spec.device.value_or(vgpu::VirtualDevice{});
  constexpr std::uint32_t kRegistersOfUnit = 65536;
  return {{"name", d.name},
          {"gcnArchName", m.arch},
          {"major", d.major},
          {"minor", d.minor},
          {"multiProcessorCount", d.compute_units},
          {"clockRate", static_cast<std::uint64_t>(d.clock_ghz * 1e6)},
          {"warpSize", m.wave},
          {"l2CacheSize", d.l2_bytes},
          {"sharedMemPerBlock", d.block_lds_bytes},
          {"sharedMemPerBlockOptin", d.most_block_lds_bytes},
          {"maxSharedMemoryPerMultiProcessor", d.lds_bytes},
          {"maxThreadsPerMultiProcessor", d.simds * d.waves_per_simd * m.wave},
          {"maxBlocksPerMultiProcessor", d.blocks},
          {"regsPerBlock", kRegistersOfUnit}};
}

}  // namespace

json kernel_facts(const Launch& launch, const ContextRequest& request) {
  const Trace& t = launch.trace;
  return {{"context", context_name(request.kind)},
          {"kernel", t.kernel},
          {"grid", {t.grid.x, t.grid.y, t.grid.z}},
          {"block", {t.block.x, t.block.y, t.block.z}},
          {"blocks", t.grid.count()},
          {"objective", objective_name(request.objective)}};
}

json aware_facts(const Launch& launch, const ContextRequest& request) {
  const LineTrace lines = make_lines(launch.trace, launch.machine, launch.occupancy.blocks_per_cu);
  return {{"locality", locality(launch.trace, lines, request.threads)},
          {"work", work(lines)},
          {"in_flight", in_flight(launch, lines)},
          {"profile", profile(launch, request)},
          {"machine", machine_json(launch)}};
}

json overload_facts(const Launch& launch, const ContextRequest& request) {
  return {{"machine", every_number(launch.machine)},
          {"device", device_attributes(launch.machine)},
          {"profile", profile(launch, request)}};
}

}  // namespace swizzleperf
