// A question as a proposer gets it: JSON for programs, text for language models and people.
//
// Both say the same: the launch, the context (src/context), the language, what was tried and what
// became of it. The history is what grows, so it is bounded: all attempts in a line each, up to a
// number; the best and those of the last round in full. A proposer that is told less than it has
// tried would try it again, so what is left out is said to be left out, and a repeat is refused.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "propose/proposer.h"
#include "swizzleperf/machine.h"
#include "swizzleperf/trace.h"

namespace swizzleperf {

/// What all questions of a run have in common.
struct Brief {
  const Trace& trace;
  const Machine& machine;
  std::string objective;    ///< "time", "l2", "hbm"
  bool hardware = true;     ///< false: nothing of hardware is said (the paper's baseline)
  std::string context;      ///< text
  std::string language;     ///< text
  nlohmann::json baseline;  ///< metrics of the identity
  std::string file;  ///< the kernel's whole source, where that is to be rewritten; else empty
};

/// Where in a run a question stands.
struct Round {
  std::span<const Attempt> history;   ///< of the rounds before
  std::optional<std::uint64_t> best;  ///< number of the best attempt
  std::uint64_t attempt = 1;          ///< the number of the one asked for
  std::uint64_t attempts_left = 1;    ///< with it, of this proposer
  std::uint64_t sample = 1;           ///< of `samples` asked for with this history
  std::uint64_t samples = 1;
};

/// `files` is left empty.
Question make_question(const Brief& brief, const Round& round);

}  // namespace swizzleperf
