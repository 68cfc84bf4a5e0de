// What was measured, for people: measured and modelled side by side.
#pragma once

#include <string>

#include "measure/results.h"

namespace swizzleperf::measure {

std::string console(const Results& results, const Bundle& bundle);

}  // namespace swizzleperf::measure
