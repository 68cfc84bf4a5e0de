// Tables for people: aligned columns, two spaces apart, and a last column that wraps at words, so
// that 80 columns are enough. Nothing but text: it looks the same in a terminal, a pipe and a file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace swizzleperf {

struct Column {
  std::string title;
  bool right = false;  ///< aligned to the right, for numbers
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< a row may be shorter than the columns
};

/// Every line ends in a newline and has no spaces before it.
std::string render(const Table& table, std::size_t width);

/// The text broken at spaces into lines of at most `width`, each after the first indented.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

/// Columns of the terminal on stdout, at most 120; 80 when it is none.
std::size_t output_width();

}  // namespace swizzleperf
