// The records of runtime/embedded.h, written and read on the compilers' side.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/run.h"

namespace swizzleperf::vgpu {

/// Before the hash of a unit, defined in objects whose device code others may refer to.
inline constexpr const char* kLinkedSymbol = "__swizzleperf_linked_";

/// The bytes of one object's record.
std::string make_record(const Unit& unit, std::string_view bitcode);

/// The units of an executable or shared library, in link order; none when we did not compile it.
std::vector<Unit> units_of(const std::filesystem::path& executable);

}  // namespace swizzleperf::vgpu
