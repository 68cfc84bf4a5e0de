// See proposer.h.
#include "propose/proposer.h"

namespace swizzleperf {

std::string_view outcome_name(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kMeasured:
      return "measured";
    case AttemptOutcome::kLostBalance:
      return "lost_balance";
    case AttemptOutcome::kSyntax:
      return "syntax";
    case AttemptOutcome::kNotABijection:
      return "not_a_bijection";
    case AttemptOutcome::kIdentity:
      return "identity";
    case AttemptOutcome::kRepeat:
      return "repeat";
    case AttemptOutcome::kHostChanged:
      return "host_changed";
    case AttemptOutcome::kNotBuilt:
      return "not_built";
    case AttemptOutcome::kDifferentOutput:
      return "different_output";
    case AttemptOutcome::kNoReply:
      break;
  }
  return "no_reply";
}

}  // namespace swizzleperf
