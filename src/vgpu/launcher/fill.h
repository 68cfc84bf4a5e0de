// Initial contents of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "vgpu/launcher/element.h"

namespace swizzleperf::vgpu {

/// Fills fresh, zeroed memory that begins at a page. `fill` is an object as docs/launch-spec.md
/// describes it, with all numbers resolved. Throws Error(kInput): a file that cannot be read or
/// has another size.
void fill_array(std::span<std::byte> memory, const ElementType& type, const nlohmann::json& fill);

}  // namespace swizzleperf::vgpu
