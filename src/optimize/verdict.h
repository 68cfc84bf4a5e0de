// When is a swizzle worth taking? A pure function, so that it can be argued with.
//
// The model states its own error (machine file: error_time, error_l2_points). A candidate is taken
// when its predicted time is better by more than that, or when time is the same within it but
// misses of L2 fall by more than the stated error without more memory traffic: then it saves energy
// and fabric bandwidth, and what it does to time only a GPU can tell. Everything else is "keep the
// identity", which is a result, not a failure.
#pragma once

#include <string>

#include "swizzleperf/machine.h"
#include "swizzleperf/simulate.h"

namespace swizzleperf {

struct Verdict {
  enum class Decision { kFaster, kLessTraffic, kKeepIdentity };
  Decision decision = Decision::kKeepIdentity;
  std::string reason;  ///< one sentence with the figures
};

std::string_view decision_name(Verdict::Decision decision);

/// `best` may be null: there was no candidate.
Verdict judge(const Machine& machine, const SimResult& identity, const SimResult* best);

}  // namespace swizzleperf
