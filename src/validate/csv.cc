// See csv.h.
#include "validate/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/csv.h"
#include "base/files.h"
#include "base/nearest.h"

namespace swizzleperf::validate {

Error Csv::error(std::uint32_t line, const std::string& sentence) const {
  return input_error(fmt::format("{}:{}: {}", file.string(), line, sentence));
}

std::size_t Csv::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) {
    throw error(1, fmt::format("no column '{}'{}", name, did_you_mean(name, columns)));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

double Csv::number(const CsvRow& row, std::size_t column) const {
  const std::string& text = row.fields[column];
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw error(row.line, fmt::format("'{}' is no number (column '{}')", text, columns[column]));
  }
  return value;
}

Csv read_csv(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  Csv csv;
  csv.file = file;
  std::uint32_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::optional<std::vector<std::string>> fields = split_csv(line);
    if (!fields) throw csv.error(number, "a quote is not closed");
    if (csv.columns.empty()) {
      csv.columns = std::move(*fields);
      continue;
    }
    if (fields->size() != csv.columns.size()) {
      throw csv.error(number, fmt::format("{} fields, but the header has {}", fields->size(),
                                          csv.columns.size()));
    }
    csv.rows.push_back({number, std::move(*fields)});
  }
  if (csv.columns.empty()) throw csv.error(1, "no header row");
  return csv;
}

}  // namespace swizzleperf::validate
