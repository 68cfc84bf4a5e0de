// The journal of a run: one JSON line a replayed candidate, answered from when it comes again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "optimize/json_lines.h"

namespace swizzleperf {

/// May be used by several threads.
class Journal {
 public:
  /// Opens or creates. Throws Error(kInput): cannot be written, or a line is not what we wrote.
  explicit Journal(const std::filesystem::path& file);

  /// The record of a candidate on a rung, if it is there.
  [[nodiscard]] std::optional<nlohmann::json> find(std::size_t rung, const std::string& spec) const;

  /// Appends a record, which must have "rung" and "spec"; it reaches the file before this returns.
  void append(const nlohmann::json& record);

  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::size_t, std::string>, nlohmann::json> records_;
  JsonLines lines_;
};

}  // namespace swizzleperf
