// The program stands at the wanted launch: commands are answered until the session ends.
#pragma once

#include <vector>

#include "measure/probe/channel.h"
#include "measure/probe/device.h"

namespace swizzleperf::measure::probe {

/// Tells the session that the launch is held, answers its commands and returns when it has finished
/// or is gone; the launch itself is then still to be made. Memory is as it was. Never throws.
void serve(Channel& session, Device& device, const LaunchInfo& launch, std::vector<Region> regions);

}  // namespace swizzleperf::measure::probe
