// See space.h.
#include "propose/space.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "fmt/format.h"
#include "swizzleperf/swizzles.h"

namespace swizzleperf {
namespace {

// Above this many blocks a candidate costs milliseconds before it is replayed: fewer values.
constexpr std::uint64_t kLargeGrid = 1 << 16;

struct View {
  std::int64_t columns;  // of the 2-D view that in-die steps use
  std::int64_t rows;
  std::int64_t blocks;
  std::int64_t dies;
  [[nodiscard]] bool large() const { return blocks > static_cast<std::int64_t>(kLargeGrid); }
};

View view_of(const LaunchShape& shape) {
  return {shape.grid.x, static_cast<std::int64_t>(shape.grid.y) * shape.grid.z,
          static_cast<std::int64_t>(shape.grid.count()), shape.num_xcds};
}

/// Values of one parameter. The names are the ones that families use (swizzles.h). Behind most die
/// steps (`dense` is false) only tile heights vary: the climb from the best finds the rest.
std::set<std::int64_t> values_of(const SwizzleParameter& p, const View& view, bool dense) {
  std::set<std::int64_t> values;
  if (p.name == "chunk") {
    for (std::int64_t c = 4; c * view.dies <= view.blocks; c *= 4) values.insert(c);
    for (const std::int64_t rows : {1, 2, 4, 8}) values.insert(rows * view.columns);
    std::erase_if(values, [&](std::int64_t c) { return c * view.dies > view.blocks; });
  } else if (p.name == "height" || p.name == "width") {
    const std::int64_t extent = std::max(view.rows, view.columns);
    values = dense && !view.large()
                 ? std::set<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48}
                 : std::set<std::int64_t>{4, 8, 16};
    std::erase_if(values, [&](std::int64_t h) { return h > extent; });
  } else if (p.name == "group") {
    values = {4 * view.dies, 16 * view.dies};
  } else if (dense && p.name != "cols") {  // cols keeps its default: the grid's own
    for (std::int64_t v = 2; v <= 16; v *= 2) values.insert(v);
  }
  std::erase_if(values, [&](std::int64_t v) { return v < p.minimum || v > p.maximum; });
  return values;
}

/// Some parameters exclude each other; the library knows which.
bool is_meaningful(const std::string& spec) {
  try {
    make_swizzle(spec);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All specifications of one family; parameters vary one at a time from their defaults.
std::vector<std::string> specs_of(const SwizzleFamily& family, const View& view, bool dense) {
  std::vector<std::string> parameters = {""};
  for (const SwizzleParameter& p : family.parameters) {
    for (const std::int64_t v : values_of(p, view, dense)) {
      parameters.push_back(fmt::format("{}={}", p.name, v));
    }
  }
  if (parameters.size() > 1) parameters.erase(parameters.begin());  // the default is among them
  std::vector<std::string> specs;
  for (const std::string& text : parameters) {
    for (const std::string& axis :
         family.axes.empty() ? std::vector<std::string>{""} : family.axes) {
      std::string spec = family.name;
      if (!text.empty()) spec += ":" + text;
      if (!axis.empty()) spec += (text.empty() ? ":axis=" : ",axis=") + axis;
      if (is_meaningful(spec)) specs.push_back(spec);
    }
  }
  return specs;
}

}  // namespace

std::vector<std::string> enumerate_swizzles(const LaunchShape& shape) {
  const View view = view_of(shape);
  std::vector<std::string> die_steps = {""};
  std::vector<std::string> dense_in_die = {""};   // behind no die step or the simplest one
  std::vector<std::string> sparse_in_die = {""};  // behind the others
  for (const SwizzleFamily& family : swizzle_families()) {
    // A random order is a reference for how bad it can get, not a candidate.
    if (!family.always_bijective || family.name == "identity" || family.name == "random") continue;
    if (family.role == SwizzleRole::kDieStep) {
      for (std::string& s : specs_of(family, view, false)) die_steps.push_back(std::move(s));
    } else if (view.blocks > 1) {
      for (std::string& s : specs_of(family, view, true)) dense_in_die.push_back(std::move(s));
      for (std::string& s : specs_of(family, view, false)) sparse_in_die.push_back(std::move(s));
    }
  }
  std::vector<std::string> specs;
  for (const std::string& die : die_steps) {
    const bool dense = die.empty() || die == "die-contiguous";
    for (const std::string& in_die : dense ? dense_in_die : sparse_in_die) {
      if (die.empty() && in_die.empty()) continue;
      specs.push_back(die.empty()      ? in_die
                      : in_die.empty() ? die
                                       : fmt::format("{}+{}", die, in_die));
    }
  }
  return specs;
}

std::vector<std::string> neighbours(const std::string& spec, const LaunchShape& shape) {
  // Every number behind an '=' is a parameter: move each a little and by an eighth.
  std::vector<std::string> out;
  for (std::size_t at = spec.find('='); at != std::string::npos; at = spec.find('=', at + 1)) {
    const std::size_t begin = at + 1;
    std::size_t end = begin;
    while (end < spec.size() && spec[end] >= '0' && spec[end] <= '9') ++end;
    if (end == begin || end - begin > 12) continue;
    const std::int64_t value = std::stoll(spec.substr(begin, end - begin));
    std::set<std::int64_t> moves;
    for (const std::int64_t step : {std::int64_t{1}, std::int64_t{2}, value / 8, value / 4}) {
      moves.insert(value - step);
      moves.insert(value + step);
    }
    moves.erase(value);
    for (const std::int64_t v : moves) {
      if (v < 1 || v > static_cast<std::int64_t>(shape.grid.count())) continue;
      out.push_back(spec.substr(0, begin) + std::to_string(v) + spec.substr(end));
    }
  }
  return out;
}

}  // namespace swizzleperf
