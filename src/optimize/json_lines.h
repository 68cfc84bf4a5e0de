// A file of one JSON value a line, only ever appended.
//
// A line is written with one write(2), so a killed run loses at most the line that it was about to
// write. A line that a kill tore in two has no newline; it is cut off when the file is opened
// again. Rejected: a database (a journal must be readable with `tail -f`, and nothing is ever
// updated).
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/fd.h"

namespace swizzleperf {

class JsonLines {
 public:
  /// Opens or creates, and hands each line to `read`, which may throw json::exception or
  /// std::logic_error for one that it does not understand. Throws Error(kInput): cannot be written,
  /// or a line is not what we wrote.
  JsonLines(const std::filesystem::path& file,
            const std::function<void(nlohmann::json&& record)>& read);

  /// Reaches the file before this returns.
  void append(const nlohmann::json& record);

 private:
  std::filesystem::path file_;
  Fd fd_;
};

}  // namespace swizzleperf
