// See table.h. Widths are counted in code points, which is right for all that we print.
#include "report/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace swizzleperf {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 16;  // a wrapped column gets at least this much

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::vector<std::string> break_lines(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    std::string& line = lines.back();
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines.emplace_back(word);
    } else {
      if (!line.empty()) line += ' ';
      line += word;
    }
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  widths.reserve(table.columns.size());
  for (const Column& column : table.columns) widths.push_back(width_of(column.title));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  return widths;
}

void append_trimmed(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + '\n';
}

}  // namespace

std::string render(const Table& table, std::size_t width) {
  std::vector<std::size_t> widths = widths_of(table);
  std::size_t before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + kGap;
  const std::size_t room = std::max(kNarrowest, width - std::min(width, before_last));
  widths.back() = std::min(widths.back(), room);

  std::string text;
  const auto append_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size() && i + 1 < widths.size(); ++i)
      line += padded(row[i], widths[i], table.columns[i].right) + std::string(kGap, ' ');
    if (row.size() < widths.size()) return append_trimmed(text, line);
    for (const std::string& part : break_lines(row.back(), widths.back())) {
      append_trimmed(text, line + padded(part, widths.back(), table.columns.back().right));
      line.assign(before_last, ' ');
    }
  };
  std::vector<std::string> titles;
  titles.reserve(table.columns.size());
  for (const Column& column : table.columns) titles.push_back(column.title);
  append_row(titles);
  for (const auto& row : table.rows) append_row(row);
  return text;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::string margin;
  for (const std::string& line : break_lines(text, width - std::min(width, indent))) {
    result += margin + line + '\n';
    margin.assign(indent, ' ');
  }
  return result;
}

std::size_t output_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_col == 0)
    return 80;
  return std::min<std::size_t>(size.ws_col, 120);
}

}  // namespace swizzleperf
