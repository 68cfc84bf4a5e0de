// See result.h.
#include "optimize/result.h"

#include <fmt/format.h>

#include "report/metrics.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

json proof_json(const Proof& proof) {
  return {{"launch_blocks", proof.launch_blocks},
          {"range", {{"checked", proof.range.checked}, {"failed", proof.range.failed}}},
          {"guard", proof.guard.condition.empty() ? json() : json(proof.guard.condition)},
          {"guarded_share", proof.guarded_share}};
}

json comparison_json(const vgpu::BlockComparison& c) {
  const bool equal = c.first_difference.empty();
  return {{"equal", equal},
          {"blocks_compared", c.blocks_compared},
          {"bytes_compared", c.bytes_compared},
          {"bytes_not_zero", c.bytes_not_zero},
          {"first_difference", equal ? json() : json(c.first_difference)}};
}

/// What was built and compared is said even where the patch is not offered.
json applied_json(const OptimizeOutcome& o) {
  json applied = {{"built", o.built ? json(*o.built) : json()},
                  {"comparison", o.applied ? comparison_json(o.applied->comparison) : json()}};
  if (!o.applied || !o.not_applied.empty()) {
    applied.update({{"patch", nullptr}, {"reason", o.not_applied}});
    return applied;
  }
  json remaps = json::array();
  for (const splice::Remap& r : o.applied->splice.existing_remaps) {
    remaps.push_back({{"where", r.where}, {"what", r.what}});
  }
  applied.update({{"patch", "best.patch"},
                  {"changed", o.applied->splice.changed},
                  {"existing_remaps", remaps},
                  {"notes", o.applied->splice.notes}});
  return applied;
}

json second_opinion_json(const std::optional<SecondOpinion>& opinion) {
  if (!opinion) return {};
  return {{"l2_index", "hashed"},
          {"speedup", opinion->speedup},
          {"l2_hit_rate", {opinion->identity_hit_rate, opinion->best_hit_rate}},
          {"caveat", opinion->caveat.empty() ? json() : json(opinion->caveat)}};
}

json attempt_json(const Attempt& a) {
  json row = to_json(a);
  const json& m = a.metrics;
  row["time_ms"] = m.is_null() ? json() : m.at("time_ms");
  row["l2_hit_rate"] = m.is_null() ? json() : m.at("l2").at("hit_rate");
  row["hbm_bytes"] = m.is_null() ? json()
                                 : json(m.at("hbm").at("read_bytes").get<double>() +
                                        m.at("hbm").at("write_bytes").get<double>());
  return row;
}

std::string_view ending_name(Ending::Why why) {
  switch (why) {
    case Ending::Why::kBudget:
      return "budget";
    case Ending::Why::kFailed:
      return "failed";
    case Ending::Why::kWaiting:
      return "waiting";
    case Ending::Why::kDone:
      break;
  }
  return "done";
}

/// One entry a proposer that was asked in rounds.
json proposers_json(const OptimizeOutcome& o) {
  json all = json::array();
  for (const Ending& end : o.endings) {
    const Tally tally = tally_of(o.history, end.proposer);
    const llm::Spent& spent = o.spent.at(end.proposer);
    const bool tokens = !spent.usage_unknown && spent.calls > 0;
    all.push_back({{"proposer", end.proposer},
                   {"attempts", tally.attempts},
                   {"valid", tally.valid},
                   {"best", tally.best ? json(tally.best->number) : json()},
                   {"calls", spent.calls},
                   {"prompt_tokens", tokens ? json(spent.prompt_tokens) : json()},
                   {"completion_tokens", tokens ? json(spent.completion_tokens) : json()},
                   {"seconds", spent.seconds},
                   {"ended", ending_name(end.why)},
                   {"reason", end.sentence.empty() ? json() : json(end.sentence)}});
  }
  return all;
}

}  // namespace

json result_json(const OptimizeRequest& request, const OptimizeOutcome& o, double seconds) {
  const Launch& l = o.launch;
  json attempts = json::array();
  for (const Attempt& a : o.history.attempts) attempts.push_back(attempt_json(a));
  json best;
  if (const Attempt* a = o.history.best()) {
    const std::optional<Swizzle>& s = o.best_swizzle;
    best = {{"swizzle", a->spec},
            {"attempt", a->number},
            {"proposer", a->proposer},
            {"words", s ? s->words : a->proposal.summary},
            {"reason", a->proposal.reason},
            {"formula", s ? json(s->formula.text()) : json()},
            {"code", s ? json(o.code) : json()},
            {"metrics", o.best},
            {"proof", o.proof ? proof_json(*o.proof) : json()},
            {"applied", applied_json(o)}};
  }
  return {{"schema_version", kSchemaVersion},
          {"program", l.trace.program},
          {"kernel", l.trace.kernel},
          {"machine", l.machine.name},
          {"objective", objective_name(request.objective)},
          {"seed", request.seed},
          {"grid", {l.trace.grid.x, l.trace.grid.y, l.trace.grid.z}},
          {"block", {l.trace.block.x, l.trace.block.y, l.trace.block.z}},
          {"blocks_per_cu", l.occupancy.blocks_per_cu},
          {"occupancy_limit", l.occupancy.limit},
          {"baseline", {{"swizzle", "identity"}, {"metrics", o.baseline}}},
          {"best", best},
          {"verdict",
           {{"decision", decision_name(o.verdict.decision)},
            {"reason", o.verdict.reason},
            {"second_opinion", second_opinion_json(o.second_opinion)}}},
          {"blocks",
           {{"repeated", o.blocks.repeated.blocks},
            {"overlapping", o.blocks.same.blocks},
            {"communicating", o.blocks.communication.blocks},
            {"warnings", o.warnings}}},
          {"attempts", attempts},
          {"totals",
           {{"candidates", o.search.candidates},
            {"refused", o.search.refused.size()},
            {"seconds", seconds},
            {"proposers", proposers_json(o)}}}};
}

}  // namespace swizzleperf
