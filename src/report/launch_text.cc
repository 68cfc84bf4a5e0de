// See launch_text.h.
#include "report/launch_text.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace swizzleperf {
namespace {

std::string scaled(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 5> kPrefix = {"", "k", "M", "G", "T"};
  std::size_t i = 0;
  for (; value >= 1000 && i + 1 < kPrefix.size(); ++i) value /= 1000;
  const int digits = i == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", value, digits, kPrefix[i], unit);
}

}  // namespace

std::string extent_words(const Dim3& e) {
  if (e.z > 1) return fmt::format("{} x {} x {}", e.x, e.y, e.z);
  if (e.y > 1) return fmt::format("{} x {}", e.x, e.y);
  return fmt::format("{}", e.x);
}

std::string launch_words(const Dim3& grid, const Dim3& block) {
  return fmt::format("{} blocks of {} threads", extent_words(grid), extent_words(block));
}

std::string blocks_per_unit_words(std::uint32_t blocks, const Machine& machine) {
  return fmt::format("{} {}", blocks, machine.vendor == "nvidia" ? "an SM" : "a CU");
}

std::string method_words(const Trace& trace) {
  const TraceMethod& m = trace.method;
  if (m.blocks_extrapolated == 0) return "every block was run on the virtual GPU";
  const std::uint64_t blocks = trace.grid.count();
  return fmt::format(
      "{} of {} blocks were run whole on the virtual GPU, the other {} extrapolated from them and "
      "checked on {}",
      blocks - m.blocks_extrapolated, blocks, m.blocks_extrapolated, m.blocks_checked);
}

std::string ms_words(double ms) {
  return ms < 0.1 ? fmt::format("{:.5f}", ms) : fmt::format("{:.3f}", ms);
}

std::string bytes_words(double bytes) { return scaled(bytes, "B"); }

std::string count_words(double count) {
  std::string text = scaled(count, "");
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace swizzleperf
