// The types that arrays and values of a launch can have, and how a number becomes one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace swizzleperf::vgpu {

struct ElementType {
  enum class Kind { kSigned, kUnsigned, kFloat };
  std::string_view name;    ///< as numpy and torch call it
  std::string_view triton;  ///< as Triton calls it in a signature
  std::uint32_t bytes;
  Kind kind;
  // kFloat: the layout below the sign bit. Special values as IEEE 754 has them, unless `finite`:
  // then all exponents are numbers (the fp8 formats without infinities).
  std::uint32_t exponent_bits = 0;
  std::uint32_t mantissa_bits = 0;
  std::int32_t bias = 0;
  bool finite = false;
};

/// Null when there is none of this name.
const ElementType* find_element_type(std::string_view name);
std::vector<std::string_view> element_type_names();

/// Writes `type.bytes` bytes. Floating point rounds to nearest even and saturates at the largest
/// finite value; integers are truncated towards zero and wrap.
void encode(const ElementType& type, double value, std::byte* out);
void encode(const ElementType& type, std::int64_t value, std::byte* out);

}  // namespace swizzleperf::vgpu
