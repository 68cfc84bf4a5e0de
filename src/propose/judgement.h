// What a proposed formula is, before anything is replayed: strict, and in words that help.
//
// Most proposals of language models fail here, and what they are told decides whether the next one
// is better: where the text goes wrong, which block is lost, that the order is the identity or was
// had before under another text. Two texts with one permutation are one order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "propose/proposer.h"
#include "swizzleperf/formula.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {

/// Orders that a run knows, by the hash of the permutation, in words: "attempt 3".
using KnownOrders = std::unordered_map<std::uint64_t, std::string>;

struct Judgement {
  AttemptOutcome outcome = AttemptOutcome::kMeasured;  ///< it may be measured
  std::string report;                                  ///< why not; or what holds elsewhere
  std::optional<Formula> formula;
  GridVerdict on_launch;
};

Judgement judge_formula(const std::string& text, const LaunchShape& shape, const KnownOrders& known,
                        unsigned threads);

/// The verdict over the declared range; nothing when that takes longer than `seconds`, since a
/// formula may loop as long as it likes. (A good one takes half a second.)
std::optional<RangeVerdict> verify_range_within(const Formula& formula, unsigned threads,
                                                double seconds);

}  // namespace swizzleperf
