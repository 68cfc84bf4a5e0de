// The list of verbs. A new one is a line in each of the two lists here and a file in
// CMakeLists.txt; what also works on a GPU node is in node.cc as well.
#include "cli/verb.h"

namespace swizzleperf {

Verb check_verb();
Verb context_verb();
Verb doctor_verb();
Verb explain_verb();
Verb machines_verb();
Verb measure_verb();
Verb optimize_verb();
Verb simulate_verb();
Verb study_verb();
Verb trace_verb();
Verb validate_verb();
Verb verify_verb();

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {optimize_verb(), simulate_verb(), explain_verb(),
                                        context_verb(),  study_verb(),    trace_verb(),
                                        verify_verb(),   check_verb(),    measure_verb(),
                                        validate_verb(), machines_verb(), doctor_verb()};
  return all;
}

}  // namespace swizzleperf
