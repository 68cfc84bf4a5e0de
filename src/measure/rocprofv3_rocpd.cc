// rocpd, the SQLite file that is rocprofv3's default since ROCm 7. Its tables end in an identifier
// that differs from file to file; views without it join them. Which views there are, and their
// columns, changes with the version, so the first of these that is there is read:
//
//   counters_collection  ROCm 7.0: a row a launch and counter
//   kernel_pmc_events    later: a row a part of a counter
//   rocpd_*IDENTIFIER    the tables themselves, joined here
#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <memory>
#include <set>

#include "measure/rocprofv3.h"
#include "swizzleperf/error.h"

namespace swizzleperf::measure {
namespace fs = std::filesystem;
namespace {

using Names = std::set<std::string, std::less<>>;

/// One file, opened to be read.
class Database {
 public:
  explicit Database(const fs::path& file) : file_(file.string()) {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(file_.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    handle_.reset(opened);
    if (status != SQLITE_OK) throw error();
  }

  [[nodiscard]] Error error() const {
    return input_error(fmt::format("{}: cannot be read as a SQLite database: {}", file_,
                                   handle_ ? sqlite3_errmsg(handle_.get()) : "out of memory"));
  }
  [[nodiscard]] Error error(const std::string& sentence) const {
    return input_error(fmt::format("{}: {}", file_, sentence));
  }

  /// Calls `row` with the statement at each row of the answer.
  template <class Row>
  void query(const std::string& sql, Row&& row) const {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
      throw error();
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared,
                                                                          sqlite3_finalize);
    int status = 0;
    while ((status = sqlite3_step(prepared)) == SQLITE_ROW) row(prepared);
    if (status != SQLITE_DONE) throw error();
  }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

std::string text_of(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  return text ? reinterpret_cast<const char*>(text) : "";
}

std::optional<std::int64_t> integer_of(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(row, column);
}

/// Names end up in SQL, so only those are believed that need no quoting.
bool is_plain(const std::string& name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                              "WXYZ0123456789_-") == std::string::npos;
}

Names names_of(const Database& database, const std::string& sql) {
  Names names;
  database.query(sql, [&](sqlite3_stmt* row) { names.insert(text_of(row, 0)); });
  return names;
}

Names columns_of(const Database& database, const std::string& table) {
  return names_of(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table));
}

std::string column_or_null(const Names& columns, const std::string& name) {
  return columns.contains(name) ? fmt::format("\"{}\"", name) : "NULL";
}

/// pid, dispatch, kernel, counter, value, begin, end.
std::string query_of_view(const Database& database, const std::string& view, const char* kernel,
                          const char* counter, const char* value) {
  const Names columns = columns_of(database, view);
  for (const char* needed : {"dispatch_id", kernel, counter, value})
    if (!columns.contains(needed))
      throw database.error(fmt::format("view {} has no column {}", view, needed));
  return fmt::format("SELECT {}, dispatch_id, {}, {}, {}, {}, {} FROM {}",
                     column_or_null(columns, "pid"), kernel, counter, value,
                     column_or_null(columns, "start"), column_or_null(columns, "end"), view);
}

/// The identifier that the tables end in.
std::string identifier_of(const Database& database, const Names& tables) {
  constexpr std::string_view kTable = "rocpd_pmc_event";
  for (const std::string& table : tables)
    if (table.starts_with(kTable) && is_plain(table)) return table.substr(kTable.size());
  throw database.error("no table of counters: was the program run with --pmc?");
}

std::string query_of_tables(const Database& database, const Names& tables) {
  const std::string id = identifier_of(database, tables);
  const Names columns = columns_of(database, "rocpd_kernel_dispatch" + id);
  const bool timed = columns.contains("start") && columns.contains("end");
  const bool by_reference = columns.contains("start_id") && columns.contains("end_id");
  const auto time = [&](const char* own) {
    if (timed) return fmt::format("d.\"{}\"", own);
    if (by_reference)
      return fmt::format("(SELECT value FROM \"rocpd_timestamp{}\" t WHERE t.id = d.{}_id)", id,
                         own);
    return std::string("NULL");
  };
  return fmt::format(
      "SELECT {}, d.dispatch_id, s.kernel_name, i.name, e.value, {}, {} "
      "FROM \"rocpd_pmc_event{id}\" e JOIN \"rocpd_info_pmc{id}\" i ON i.id = e.pmc_id "
      "JOIN \"rocpd_kernel_dispatch{id}\" d ON d.event_id = e.event_id "
      "JOIN \"rocpd_info_kernel_symbol{id}\" s ON s.id = d.kernel_id",
      columns.contains("pid") ? "d.pid" : "NULL", time("start"), time("end"), fmt::arg("id", id));
}

std::string query_for(const Database& database) {
  const Names names =
      names_of(database, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
  if (names.contains("counters_collection"))
    return query_of_view(database, "counters_collection", "kernel_name", "counter_name", "value");
  if (names.contains("kernel_pmc_events"))
    return query_of_view(database, "kernel_pmc_events", "name", "pmc_name", "pmc_value");
  return query_of_tables(database, names);
}

}  // namespace

std::vector<CounterRow> read_rocprofv3_rocpd(const fs::path& file) {
  const Database database(file);
  std::vector<CounterRow> rows;
  database.query(query_for(database), [&](sqlite3_stmt* row) {
    const std::string process = text_of(row, 0);
    rows.push_back({process.empty() ? file.string() : process, sqlite3_column_int64(row, 1),
                    text_of(row, 2), text_of(row, 3), sqlite3_column_double(row, 4),
                    integer_of(row, 5), integer_of(row, 6)});
  });
  return rows;
}

}  // namespace swizzleperf::measure
