// Which candidate to take, from what was measured. A pure function, so that it can be argued with.
//
// A gain is one only if its interval excludes what the original shows against itself in a second
// process: two processes of one program differ by where their memory lies, and no number of rounds
// averages that away. With K candidates each interval has confidence 1 - 0.05 / K, so that the
// chance of any false gain among them stays at 5 %. Outputs that could not be compared never win.
#pragma once

#include "measure/results.h"

namespace swizzleperf::measure {

/// Of each interval, when `candidates` are held against the original.
double confidence_for(std::size_t candidates);

/// Fills in `best` and `verdict`.
void choose(Results& results, const Bundle& bundle);

}  // namespace swizzleperf::measure
