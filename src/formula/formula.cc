// The public face of the language: parse once, evaluate for any launch.

#include "swizzleperf/formula.h"

#include <fmt/format.h>

#include <limits>

#include "formula/interpret.h"
#include "formula/specialise.h"
#include "formula/syntax.h"

namespace swizzleperf {

FormulaError::FormulaError(std::uint32_t line, std::uint32_t column, const std::string& sentence)
    : Error(Exit::kUsage, fmt::format("{}:{}: {}", line, column, sentence)),
      line_(line),
      column_(column) {}

namespace {

/// The grid's blocks; x * y fits 64 bits, times z it may not.
std::uint64_t checked_count(const Dim3& grid) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::uint64_t plane = static_cast<std::uint64_t>(grid.x) * grid.y;
  if (plane > kMost || plane * grid.z > kMost) {
    throw input_error(fmt::format("the grid {}x{}x{} has more than 2^31 - 1 blocks; launch fewer",
                                  grid.x, grid.y, grid.z));
  }
  return plane * grid.z;
}

}  // namespace

Formula Formula::parse(std::string_view text, const Params& params) {
  return Formula(std::make_shared<const FormulaProgram>(parse_formula(text, params)));
}

std::vector<std::int64_t> Formula::evaluate(const LaunchShape& shape) const {
  const std::uint64_t count = checked_count(shape.grid);
  std::vector<std::int64_t> targets(count);
  if (count == 0) return targets;
  const std::optional<LaneCode> code = specialise(*program_, shape);
  if (code && run_lanes(*code, count, targets.data())) return targets;
  Interpreter interpreter(*program_, shape);
  for (std::uint64_t pid = 0; pid < count; ++pid) targets[pid] = interpreter.block(pid);
  return targets;
}

const std::string& Formula::text() const { return program_->text; }

}  // namespace swizzleperf
