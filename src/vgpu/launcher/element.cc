// Narrow floating-point formats differ only in three numbers, so one rounding routine serves them
// all: scale to the format's unit in the last place, round there, put the fields together.
#include "vgpu/launcher/element.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace swizzleperf::vgpu {
namespace {

using Kind = ElementType::Kind;

constexpr std::array kTypes = {
    ElementType{"bool", "i1", 1, Kind::kUnsigned},
    ElementType{"int8", "i8", 1, Kind::kSigned},
    ElementType{"int16", "i16", 2, Kind::kSigned},
    ElementType{"int32", "i32", 4, Kind::kSigned},
    ElementType{"int64", "i64", 8, Kind::kSigned},
    ElementType{"uint8", "u8", 1, Kind::kUnsigned},
    ElementType{"uint16", "u16", 2, Kind::kUnsigned},
    ElementType{"uint32", "u32", 4, Kind::kUnsigned},
    ElementType{"uint64", "u64", 8, Kind::kUnsigned},
    ElementType{"float8_e4m3fn", "fp8e4nv", 1, Kind::kFloat, 4, 3, 7, true},
    ElementType{"float8_e4m3fnuz", "fp8e4b8", 1, Kind::kFloat, 4, 3, 8, true},
    ElementType{"float8_e5m2", "fp8e5", 1, Kind::kFloat, 5, 2, 15, false},
    ElementType{"float8_e5m2fnuz", "fp8e5b16", 1, Kind::kFloat, 5, 2, 16, true},
    ElementType{"float16", "fp16", 2, Kind::kFloat, 5, 10, 15, false},
    ElementType{"bfloat16", "bf16", 2, Kind::kFloat, 8, 7, 127, false},
    ElementType{"float32", "fp32", 4, Kind::kFloat, 8, 23, 127, false},
    ElementType{"float64", "fp64", 8, Kind::kFloat, 11, 52, 1023, false},
};

/// The largest finite value's exponent and mantissa fields. e4m3fn keeps only its last code for
/// NaN, the fnuz formats none of these.
std::uint64_t largest_fields(const ElementType& t) {
  const std::uint64_t all = (std::uint64_t{1} << (t.exponent_bits + t.mantissa_bits)) - 1;
  if (!t.finite) return all - (std::uint64_t{1} << t.mantissa_bits);
  return t.name == "float8_e4m3fn" ? all - 1 : all;
}

std::uint64_t float_bits(const ElementType& t, double value) {
  const std::uint64_t sign = std::signbit(value) ? 1 : 0;
  const double magnitude = std::fabs(value);
  std::uint64_t fields = 0;
  if (magnitude > 0) {
    const int lowest = 1 - t.bias;
    const int exponent = std::max(std::ilogb(magnitude), lowest);
    // In units of the last place; a carry out of the mantissa moves into the exponent by itself.
    const double units =
        std::nearbyint(std::ldexp(magnitude, static_cast<int>(t.mantissa_bits) - exponent));
    const std::uint64_t step = std::uint64_t{1} << t.mantissa_bits;
    const std::uint64_t above = static_cast<std::uint64_t>(exponent - lowest) * step;
    fields = std::min(above + static_cast<std::uint64_t>(units), largest_fields(t));
  }
  // The fnuz formats have one zero; the code of its negative is NaN.
  const bool negative = sign != 0 && !(fields == 0 && t.name.ends_with("fnuz"));
  return (negative ? std::uint64_t{1} << (t.exponent_bits + t.mantissa_bits) : 0) | fields;
}

}  // namespace

const ElementType* find_element_type(std::string_view name) {
  const auto* const at =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.name == name; });
  return at == kTypes.end() ? nullptr : at;
}

std::vector<std::string_view> element_type_names() {
  std::vector<std::string_view> names;
  names.reserve(kTypes.size());
  for (const ElementType& t : kTypes) names.push_back(t.name);
  return names;
}

void encode(const ElementType& type, double value, std::byte* out) {
  if (type.kind != Kind::kFloat) return encode(type, static_cast<std::int64_t>(value), out);
  const std::uint64_t bits = float_bits(type, value);
  std::memcpy(out, &bits, type.bytes);
}

void encode(const ElementType& type, std::int64_t value, std::byte* out) {
  if (type.kind == Kind::kFloat) return encode(type, static_cast<double>(value), out);
  if (type.name == "bool") value = value != 0 ? 1 : 0;
  std::memcpy(out, &value, type.bytes);
}

}  // namespace swizzleperf::vgpu
