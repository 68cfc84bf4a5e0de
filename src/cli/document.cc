// Documents of JSON, for every verb alike.
#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "report/metrics.h"

namespace swizzleperf {

nlohmann::ordered_json json_document() { return {{"schema_version", kSchemaVersion}}; }

/// What a program printed may be no UTF-8.
std::string to_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace swizzleperf
