// Comma-separated tables as measuring tools write them: a header row, quotes where a field has a
// comma. Rows remember their line, because what is wrong in a table is said with its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "swizzleperf/error.h"

namespace swizzleperf::validate {

struct CsvRow {
  std::uint32_t line = 0;
  std::vector<std::string> fields;  ///< as many as the header has
};

struct Csv {
  std::filesystem::path file;
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  /// Throws Error(kInput) when there is no such column, naming the nearest.
  [[nodiscard]] std::size_t column(const std::string& name) const;
  /// A field as a finite number. Throws Error(kInput): "file:line: ...".
  [[nodiscard]] double number(const CsvRow& row, std::size_t column) const;
  [[nodiscard]] Error error(std::uint32_t line, const std::string& sentence) const;
};

/// Throws Error(kInput): cannot be read, no header, a row with more or fewer fields than it.
Csv read_csv(const std::filesystem::path& file);

}  // namespace swizzleperf::validate
