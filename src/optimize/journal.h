// The journal of a run: one JSON line a replayed candidate, only ever appended.
//
// A line is written with one write(2) as soon as its replay is done, so a killed run loses at most
// the replays in flight. A line that a kill tore in two has no newline; it is cut off when the
// journal is opened again. Rejected: a database (a journal must be readable with `tail -f`, and
// nothing is ever updated).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace swizzleperf {

class Journal {
 public:
  /// Opens or creates. Throws Error(kInput): cannot be written, or a line is not what we wrote.
  explicit Journal(const std::filesystem::path& file);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The record of a candidate on a rung, if it is there.
  [[nodiscard]] std::optional<nlohmann::json> find(std::size_t rung, const std::string& spec) const;

  /// Appends a record, which must have "rung" and "spec"; it reaches the file before this returns.
  void append(const nlohmann::json& record);

  [[nodiscard]] std::size_t size() const;

 private:
  std::filesystem::path file_;
  int fd_ = -1;
  mutable std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, nlohmann::json> records_;
};

}  // namespace swizzleperf
