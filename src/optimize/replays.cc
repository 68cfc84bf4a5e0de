// See replays.h.
#include "optimize/replays.h"

#include <fmt/format.h>

#include "report/metrics.h"

namespace swizzleperf {

using nlohmann::json;

namespace {

Score score_of(const json& record) {
  return {record.at("time_ms"), record.at("l2_requests"), record.at("l2_misses"),
          record.at("hbm_bytes")};
}

}  // namespace

Score Replays::score(const Candidate& candidate, std::size_t rung) {
  return score_of(record_of(candidate, rung));
}

json Replays::exact(const Candidate& candidate) {
  return record_of(candidate, rungs().size()).at("result");
}

json Replays::last_sample(const Candidate& candidate) {
  return record_of(candidate, rungs().size() - 1).at("result");
}

std::pair<Score, json> Replays::exact(const Candidate& candidate,
                                      const std::function<Permutation()>& permutation) {
  const json record = record_of(candidate, rungs().size(), permutation);
  return {score_of(record), record.at("result")};
}

json Replays::record_of(const Candidate& candidate, std::size_t rung) {
  return record_of(candidate, rung, [&] { return permutation_of(candidate.spec, launch_.shape); });
}

json Replays::record_of(const Candidate& candidate, std::size_t rung,
                        const std::function<Permutation()>& permutation) {
  if (auto known = journal_.find(rung, candidate.spec)) return *std::move(known);
  const Permutation order = permutation();
  const SimResult result =
      rung == rungs().size() ? replayer_.exact(order) : replays_.replay(order, rung);
  const Score score = swizzleperf::score_of(result);
  json record = {{"rung", rung},
                 {"spec", candidate.spec},
                 {"hash", fmt::format("{:016x}", candidate.hash)},
                 {"time_ms", score.time_ms},
                 {"l2_requests", score.l2_requests},
                 {"l2_misses", score.l2_misses},
                 {"hbm_bytes", score.hbm_bytes},
                 {"result", to_json(result, launch_.trace.buffers)}};
  journal_.append(record);
  return record;
}

SimResult from_json(const json& j) {
  SimResult r;
  r.l2 = {j.at("l2").at("requests"), j.at("l2").at("hits")};
  r.hbm_read_bytes = j.at("hbm").at("read_bytes");
  r.hbm_write_bytes = j.at("hbm").at("write_bytes");
  r.time_ms = j.at("time_ms");
  for (const Bound b : {Bound::kCompute, Bound::kL2, Bound::kFabric, Bound::kLastLevel,
                        Bound::kMemory, Bound::kLatency, Bound::kDispatch}) {
    if (j.at("bound") == bound_name(b)) r.bound = b;
  }
  return r;
}

}  // namespace swizzleperf
