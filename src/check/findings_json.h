// Findings as JSON: between the process that runs the program and ours, and for the user.
#pragma once

#include <nlohmann/json.hpp>

#include "swizzleperf/check.h"

namespace swizzleperf {

/// All but what was written, which may be large: see written_bytes().
nlohmann::ordered_json to_json(const LaunchFindings& findings);

/// The inverse. Throws nlohmann::json::exception.
LaunchFindings findings_from_json(const nlohmann::ordered_json& json);

/// LaunchFindings::written as bytes for a file, and back.
std::string written_bytes(const std::vector<WrittenRun>& runs);
std::vector<WrittenRun> written_from_bytes(const std::string& bytes);

}  // namespace swizzleperf
