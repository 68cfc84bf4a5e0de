// From a specification to a formula: `NAME:param=value,...+NAME...`, a file, or formula text.
//
// Composition is textual. Each stage reads pid and leaves pid, so stages simply follow one another;
// only the intermediate names of a later stage must not read what an earlier one left behind, and
// so a name that is already taken gets the stage's number (`turn`, then `turn2`). What comes out is
// one formula that a person would have written the same way, with a comment above each stage.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "swizzleperf/swizzles.h"
#include "swizzles/families.h"

namespace swizzleperf {
namespace {

// --- small text tools ---

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Calls f with every word of formula text outside comments, and puts what it returns in its place.
template <class F>
std::string map_words(std::string_view text, F f) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      const std::size_t end = std::min(text.find('\n', i), text.size());
      out += text.substr(i, end - i);
      i = end;
    } else if (is_name_part(text[i])) {
      const std::size_t start = i;
      while (i < text.size() && is_name_part(text[i])) ++i;
      out += f(text.substr(start, i - start));
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string indent(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "  " + line + "\n";
  return out;
}

// --- one stage ---

struct Stage {
  const SwizzleTemplate* kind;
  std::map<std::string, std::int64_t, std::less<>> values;
  std::set<std::string, std::less<>> given;
  std::size_t axis = 0;
};

const SwizzleTemplate& find_template(std::string_view name) {
  const std::vector<SwizzleTemplate>& all = swizzle_templates();
  const auto distance = [name](const SwizzleTemplate& t) {
    return edit_distance(name, t.family.name);
  };
  const auto nearest = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return distance(a) < distance(b);
  });
  if (nearest->family.name == name) return *nearest;
  throw usage_error(fmt::format("no swizzle is called '{}'; the nearest name is '{}'", name,
                                nearest->family.name));
}

std::string known_parameters(const SwizzleFamily& family) {
  std::vector<std::string> known;
  known.reserve(family.parameters.size() + 1);
  for (const SwizzleParameter& p : family.parameters) {
    known.push_back(fmt::format("{} ({} to {})", p.name, p.minimum, p.maximum));
  }
  if (!family.axes.empty()) known.push_back(fmt::format("axis ({})", fmt::join(family.axes, ", ")));
  return known.empty() ? "it takes none" : fmt::format("it takes {}", fmt::join(known, ", "));
}

void set_axis(Stage& stage, std::string_view value) {
  const std::vector<std::string>& axes = stage.kind->family.axes;
  const auto found = std::find(axes.begin(), axes.end(), value);
  if (found == axes.end()) {
    throw usage_error(fmt::format("axis={} is not possible for swizzle '{}'; {}", value,
                                  stage.kind->family.name, known_parameters(stage.kind->family)));
  }
  stage.axis = static_cast<std::size_t>(found - axes.begin());
}

void set_parameter(Stage& stage, std::string_view assignment) {
  const SwizzleFamily& family = stage.kind->family;
  const std::size_t equals = assignment.find('=');
  const std::string_view name = trim(assignment.substr(0, equals));
  const std::string_view text =
      equals == std::string_view::npos ? "" : trim(assignment.substr(equals + 1));
  if (name == "axis" && !family.axes.empty()) return set_axis(stage, text);
  const auto parameter = std::find_if(family.parameters.begin(), family.parameters.end(),
                                      [name](const SwizzleParameter& p) { return p.name == name; });
  if (parameter == family.parameters.end()) {
    throw usage_error(fmt::format("swizzle '{}' has no parameter '{}'; {}", family.name, name,
                                  known_parameters(family)));
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || value < parameter->minimum || value > parameter->maximum) {
    throw usage_error(
        fmt::format("'{}' is no value for parameter {} of swizzle '{}'; give a whole "
                    "number from {} to {}",
                    text, name, family.name, parameter->minimum, parameter->maximum));
  }
  stage.values[parameter->name] = value;
  stage.given.insert(parameter->name);
}

Stage parse_stage(std::string_view text) {
  const std::size_t colon = text.find(':');
  Stage stage{&find_template(trim(text.substr(0, colon))), {}, {}};
  for (const SwizzleParameter& p : stage.kind->family.parameters) {
    stage.values[p.name] = p.default_value;
  }
  if (colon == std::string_view::npos) return stage;
  for (const std::string_view part : split(text.substr(colon + 1), ',')) {
    set_parameter(stage, part);
  }
  return stage;
}

/// Fills the places of a template; see families.h.
std::string fill(std::string_view text, const Stage& stage) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::size_t close = text.find('}', open == std::string_view::npos ? 0 : open);
    const std::string_view inside =
        open == std::string_view::npos ? "" : text.substr(open + 1, close - open - 1);
    const std::string_view name = inside.substr(0, inside.find('|'));
    const auto value = stage.values.find(name);
    if (open == std::string_view::npos) return out += text;
    out += text.substr(0, open);
    if (name == "axis") {
      out += stage.kind->family.axes[stage.axis];
    } else if (value == stage.values.end()) {  // a brace of the language
      out += '{';
      text.remove_prefix(open + 1);
      continue;
    } else if (value->second == 0 && name.size() < inside.size()) {
      out += inside.substr(name.size() + 1);
    } else {
      out += std::to_string(value->second);
    }
    text.remove_prefix(close + 1);
  }
  return out;
}

/// A parameter that the text for the chosen axis does not use must not be given in silence.
void check_used(const Stage& stage, std::string_view text) {
  for (const std::string& name : stage.given) {
    const bool used =
        text.find("{" + name) != std::string_view::npos || (stage.kind->on_view && name == kCols);
    if (!used) {
      throw usage_error(fmt::format("parameter {} of swizzle '{}' has no meaning with axis={}",
                                    name, stage.kind->family.name,
                                    stage.kind->family.axes[stage.axis]));
    }
  }
}

std::string stage_text(const Stage& stage) {
  const std::string_view pattern = stage.kind->texts[stage.axis];
  check_used(stage, pattern);
  std::string body = fill(pattern, stage);
  if (!stage.kind->on_view) return body;
  const std::int64_t cols = stage.values.at(std::string(kCols));
  const std::string rows = "rows = num_blocks / cols;\n";
  const bool uses_rows = pattern.find("rows") != std::string_view::npos;
  if (cols == 0) return "cols = num_pid_x;\n" + (uses_rows ? rows : "") + body;
  return fmt::format("cols = {};\n{}if (pid < rows * cols) {{\n{}}}\n", cols, rows, indent(body));
}

// --- all stages ---

std::string_view first_sentence(std::string_view words) {
  const std::size_t end = words.find_first_of(".:");
  return words.substr(0, end);
}

/// `text` as comment lines of at most 90 columns.
std::string comment(std::string_view text) {
  constexpr std::size_t kColumns = 90;
  std::string out;
  std::string line = "//";
  for (const std::string_view word : split(text, ' ')) {
    if (line.size() + 1 + word.size() > kColumns) out += std::exchange(line, "//") + "\n";
    line += fmt::format(" {}", word);
  }
  return out + line + "\n";
}

bool is_language_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "pid", "num_pid_x", "num_pid_y", "num_pid_z", "num_blocks", "num_xcds", "if",   "else",
      "for", "while",     "min",       "max",       "abs",        "cdiv",     "ilog2"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords) ||
         (word[0] >= '0' && word[0] <= '9');
}

/// Gives the intermediate names of stage `number` that are taken already that number as a suffix.
std::string rename_taken(const std::string& text, std::size_t number,
                         std::set<std::string, std::less<>>& taken) {
  std::set<std::string, std::less<>> mine;
  std::string renamed = map_words(text, [&](std::string_view word) {
    if (is_language_word(word)) return std::string(word);
    std::string name(word);
    if (taken.contains(word)) name += std::to_string(number);
    mine.insert(name);
    return name;
  });
  taken.merge(mine);
  return renamed;
}

Swizzle compose(std::string_view spec) {
  std::string text;
  std::string words;
  std::set<std::string, std::less<>> taken;
  std::size_t number = 0;
  for (const std::string_view part : split(spec, '+')) {
    if (part.empty())
      throw usage_error(
          fmt::format("'{}' has a '+' with no swizzle on one side; write NAME or NAME+NAME", spec));
    const Stage stage = parse_stage(part);
    const std::string stage_words = fill(stage.kind->family.words, stage);
    ++number;
    text += comment(fmt::format("{}: {}.", part, first_sentence(stage_words)));
    text += rename_taken(stage_text(stage), number, taken);
    words += (words.empty() ? "" : " Then: ") + stage_words;
  }
  return {std::string(spec), words, Formula::parse(text)};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw usage_error(
        fmt::format("the swizzle file '{}' cannot be read; give the path of a file "
                    "with formula text",
                    path));
  }
  return text.str();
}

/// A formula assigns; a specification has its first '=' behind a ':' and stands on one line.
bool is_formula_text(std::string_view spec) {
  const std::size_t equals = spec.find('=');
  if (equals == std::string_view::npos) return spec.find(';') != std::string_view::npos;
  return spec.find_first_of(";\n(){}") != std::string_view::npos || equals < spec.find(':');
}

}  // namespace

const std::vector<SwizzleFamily>& swizzle_families() {
  static const std::vector<SwizzleFamily> families = [] {
    std::vector<SwizzleFamily> all;
    for (const SwizzleTemplate& t : swizzle_templates()) all.push_back(t.family);
    return all;
  }();
  return families;
}

Swizzle make_swizzle(std::string_view spec, const Params& params) {
  spec = trim(spec);
  if (spec.empty()) throw usage_error("the swizzle is empty; give a name, a formula or @file");
  if (spec.front() == '@') {
    const std::string path(spec.substr(1));
    return {std::string(spec), fmt::format("The formula in {}.", path),
            Formula::parse(read_file(path), params)};
  }
  if (is_formula_text(spec)) {
    return {std::string(spec), "A formula given as text.", Formula::parse(spec, params)};
  }
  if (!params.empty()) {
    throw usage_error(
        fmt::format("'{0}' is no formula, so it takes no --param; write its parameters behind its "
                    "name, such as {0}:{1}={2}",
                    spec, params.begin()->first, params.begin()->second));
  }
  return compose(spec);
}

}  // namespace swizzleperf
