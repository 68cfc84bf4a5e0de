// The list of verbs. A new one is a line in each of the two lists here and a file in
// CMakeLists.txt.
#include <nlohmann/json.hpp>

#include "cli/verb.h"
#include "report/metrics.h"

namespace swizzleperf {

Verb check_verb();
Verb doctor_verb();
Verb explain_verb();
Verb machines_verb();
Verb optimize_verb();
Verb simulate_verb();
Verb trace_verb();
Verb validate_verb();
Verb verify_verb();

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {optimize_verb(), simulate_verb(), explain_verb(),
                                        trace_verb(),    verify_verb(),   check_verb(),
                                        validate_verb(), machines_verb(), doctor_verb()};
  return all;
}

nlohmann::ordered_json json_document() { return {{"schema_version", kSchemaVersion}}; }

/// What a program printed may be no UTF-8.
std::string to_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace swizzleperf
