// Tables. rocprofv3 writes a row a counter: Dispatch_Id, Kernel_Name, Counter_Name, Counter_Value
// and, since ROCm 6.3, timestamps. Its predecessors rocprof and rocprofv2 wrote a row a launch and
// a column a counter, under other names. Columns are found by name, whatever else is there.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/csv.h"
#include "base/files.h"
#include "measure/rocprofv3.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

using Fields = std::vector<std::string>;

/// One file while it is read, for messages with its place.
struct Reader {
  const fs::path& file;
  Fields columns;
  std::uint32_t line = 1;

  [[nodiscard]] Error error(const std::string& sentence) const {
    return input_error(fmt::format("{}:{}: {}", file.string(), line, sentence));
  }
  /// The first of the names that is a column.
  [[nodiscard]] std::optional<std::size_t> column(
      std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
      if (const auto found = std::find(columns.begin(), columns.end(), name);
          found != columns.end())
        return static_cast<std::size_t>(found - columns.begin());
    return std::nullopt;
  }
  template <class Number>
  [[nodiscard]] Number number(const std::string& text, std::size_t column) const {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
      throw error(fmt::format("'{}' is no number (column '{}')", text, columns[column]));
    return value;
  }
};

/// Where in a row what is, in any of the forms.
struct Layout {
  std::size_t dispatch;
  std::size_t kernel;
  std::optional<std::size_t> process;
  std::optional<std::size_t> begin;
  std::optional<std::size_t> end;
  std::optional<std::size_t> name;    ///< long form: Counter_Name, and
  std::optional<std::size_t> value;   ///< Counter_Value
  std::vector<std::size_t> counters;  ///< wide form: columns of the cache that we know
};

Layout layout_of(const Reader& reader) {
  const auto dispatch = reader.column({"Dispatch_Id", "Dispatch_ID", "Index"});
  const auto kernel = reader.column({"Kernel_Name", "KernelName"});
  if (!dispatch || !kernel)
    throw reader.error("no columns for the dispatch and its kernel: not a table of counters");
  Layout layout{*dispatch,
                *kernel,
                reader.column({"Process_Id", "PID", "pid"}),
                reader.column({"Start_Timestamp", "BeginNs"}),
                reader.column({"End_Timestamp", "EndNs"}),
                reader.column({"Counter_Name"}),
                reader.column({"Counter_Value"}),
                {}};
  if (layout.name.has_value() != layout.value.has_value())
    throw reader.error("only one of the columns Counter_Name and Counter_Value");
  if (!layout.name)
    for (std::size_t i = 0; i < reader.columns.size(); ++i)
      if (reader.columns[i].starts_with("TCC_")) layout.counters.push_back(i);
  if (!layout.name && layout.counters.empty())
    throw reader.error("no counters of L2 (TCC_...) in this table");
  return layout;
}

void read_row(const Reader& reader, const Layout& layout, const Fields& fields,
              std::vector<CounterRow>& rows) {
  CounterRow row;
  row.process = layout.process ? fields[*layout.process] : reader.file.string();
  row.dispatch = reader.number<std::int64_t>(fields[layout.dispatch], layout.dispatch);
  row.kernel = fields[layout.kernel];
  if (layout.begin)
    row.begin_ns = reader.number<std::int64_t>(fields[*layout.begin], *layout.begin);
  if (layout.end) row.end_ns = reader.number<std::int64_t>(fields[*layout.end], *layout.end);
  if (layout.name && layout.value) {
    row.counter = fields[*layout.name];
    row.value = reader.number<double>(fields[*layout.value], *layout.value);
    rows.push_back(row);
  }
  for (const std::size_t column : layout.counters) {
    row.counter = reader.columns[column];
    row.value = reader.number<double>(fields[column], column);
    rows.push_back(row);
  }
}

}  // namespace

std::vector<CounterRow> read_rocprofv3_csv(const fs::path& file) {
  const std::string text = read_file(file);
  Reader reader{file, {}, 0};
  std::optional<Layout> layout;
  std::vector<CounterRow> rows;
  for (std::string_view rest = text; !rest.empty();) {
    ++reader.line;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos)
      throw reader.error("the file ends within a row: it was cut off");
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto fields = split_csv(line);
    if (!fields) throw reader.error("a quote is not closed");
    if (!layout) {
      reader.columns = std::move(*fields);
      layout = layout_of(reader);
      continue;
    }
    if (fields->size() != reader.columns.size())
      throw reader.error(
          fmt::format("{} fields, but the header has {}", fields->size(), reader.columns.size()));
    read_row(reader, *layout, *fields, rows);
  }
  if (!layout) throw reader.error("no header row");
  return rows;
}

}  // namespace swizzleperf::measure
