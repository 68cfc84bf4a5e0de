// What the two back ends tell, from inside the program: which memory it has and what it launches.
//
// None of these functions throws, and all are of no effect when no session waits (no socket in the
// environment, or the launch has been served).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/probe/device.h"

namespace swizzleperf::measure::probe {

/// Says hello to the session that the environment names, as `library`. Called once.
void connect(const char* library);

/// Tells the session why this program cannot be held: a sentence without a full stop.
void give_up(const std::string& why);

/// True in the thread that serves: what it calls is our own doing, not the program's. Also true
/// where there is nobody to tell.
bool unobserved();

void allocated(void* base, std::uint64_t bytes);
void freed(void* base);

/// A launch that becomes a part of a graph instead of being made now.
void captured(const std::string& symbol);

/// A launch is about to be made. Returns at once, or, when it is the one that the session waits
/// for, when the session is done with it. `make_device` is called only then; `more` are regions
/// that the back end knows of besides those that were told.
using MakeDevice = std::function<std::unique_ptr<Device>()>;
using MoreRegions = std::function<std::vector<Region>()>;
void launching(const LaunchInfo& launch, const MakeDevice& make_device,
               const MoreRegions& more = nullptr);

}  // namespace swizzleperf::measure::probe
