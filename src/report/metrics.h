// Replay results as JSON: the one place that names the keys others rely on (docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "swizzleperf/simulate.h"

namespace swizzleperf {

constexpr int kSchemaVersion = 1;

/// {l1, l2: {requests, hits, hit_rate}, llc, hbm: {read_bytes, write_bytes}, per_domain, time_ms,
/// bound, ...}. A level that the machine lacks is null.
nlohmann::json to_json(const SimResult& result, const std::vector<Buffer>& buffers);

}  // namespace swizzleperf
