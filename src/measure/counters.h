// What counters must satisfy before anybody is shown them.
//
// Profilers print zeros for what they did not count and, now and then, numbers that no hardware can
// reach (per-die sums over whole-chip peaks gave a published "303 % utilisation"). A wrong number
// is worse than none, so what cannot be is taken out, and a note says which value it was.
#pragma once

#include <string>
#include <vector>

#include "measure/profile.h"

namespace swizzleperf::measure {

/// Computes the hit rate; takes out what is impossible. `memory_bytes_per_ns` is what a model
/// counts on, so bytes are believed up to twice of it.
void judge(Counters& counters, double memory_bytes_per_ns);

/// "a, b, c and 4 others".
std::string some_of(const std::vector<std::string>& names);

/// The last line of a program's output that is not empty, without what is around it; may be "".
std::string last_line(const std::string& text);

}  // namespace swizzleperf::measure
