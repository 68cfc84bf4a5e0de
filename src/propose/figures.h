// What a proposer is told of a replay: the few figures that it can act on, as JSON and as words.
//
// The full metrics of a replay (report/metrics.h) are some kilobytes, with which ten attempts would
// fill a prompt. What a proposer acts on is what changed against the identity, which argument's
// lines still miss, what binds, and whether the dies end together.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "propose/proposer.h"

namespace swizzleperf {

/// {time_ms, speedup, bound, l2_hit_rate, llc_hit_rate, hbm_read_bytes, hbm_write_bytes, imbalance,
/// l2_misses: [{argument, misses}]} of full metrics; `baseline` is the identity's.
nlohmann::json brief(const nlohmann::json& metrics, const nlohmann::json& baseline);

/// Whether the dies end further apart than under the identity, and later.
bool loses_balance(const nlohmann::json& metrics, const nlohmann::json& baseline);

/// Two to four sentences: before and after.
std::string measured_words(const nlohmann::json& metrics, const nlohmann::json& baseline);

/// The one figure that a proposer who may know nothing of hardware is judged by.
std::string objective_words(const nlohmann::json& metrics, const nlohmann::json& baseline,
                            std::string_view objective);

}  // namespace swizzleperf
