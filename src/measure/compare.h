// Does a candidate compute what the original computes, on the device itself?
//
// Both are held at the same launch with equal memory. Each is launched from the same state, and the
// hashes of all device memory afterwards must be equal: not of what somebody declared to be
// outputs, so a write to the wrong place shows as well. Three states make that evidence: memory as
// the program left it; what the launch writes filled with a pattern, so that a block that was lost
// cannot hide behind an older result; and shuffled inputs, so that an answer made for one input
// fails. A state in which the original itself crashes or hangs is left out, and that is said.
//
// Kernels that add with floating-point atomics compute other last bits each time. They are noticed
// (the original is launched twice), and compared only if the user states a tolerance.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/session.h"

namespace swizzleperf::measure {

enum class Element { kF16, kBf16, kF32, kF64 };

/// Elements may differ by `relative` times the greater of the two.
struct Tolerance {
  double relative = 0;
  Element element = Element::kF32;
};

/// The launch of the original, from each state in which it could be launched.
struct Reference {
  MemoryHash before;
  Written written;          ///< what it changes, as it is or with other inputs
  bool repeatable = false;  ///< from the same state it leaves the same bytes
  bool idempotent = false;  ///< launched upon its own result it leaves that as it is
  std::map<Start, MemoryHash> after;
  std::vector<std::string> notes;  ///< which states are left out and why; sentences
};

using StartProgram = std::function<Session()>;

/// Where a state kills the original, `original` is started again by `start`.
/// Throws Refusal when even the launch as it is fails.
Reference learn(Session& original, const StartProgram& start, std::uint64_t seed);

std::string_view state_name(Start start);

/// Launches a candidate from a state that the reference has; "" if it leaves what the original
/// leaves, else where it first differs. With a tolerance the original is launched, too.
std::string difference(Session& own, Session& original, const Reference& reference, Start start,
                       const std::optional<Tolerance>& tolerance, std::uint64_t seed);

/// Whether elements of two equally long ranges of bytes agree; the first byte that does not.
std::optional<std::size_t> first_beyond(std::string_view a, std::string_view b,
                                        const Tolerance& tolerance);

}  // namespace swizzleperf::measure
