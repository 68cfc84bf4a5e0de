// Whole-number expressions in a launch spec: "cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace swizzleperf::vgpu {

using Names = std::map<std::string, std::int64_t, std::less<>>;

/// Python's arithmetic on whole numbers: + - * // %, brackets, names, and the functions cdiv, min,
/// max and next_power_of_2. Throws Error(kInput) with a sentence that has no place in it: an
/// unknown name (with those that there are), bad syntax, a division by zero, an overflow.
std::int64_t evaluate(std::string_view text, const Names& names);

}  // namespace swizzleperf::vgpu
