// See json_lines.h.
#include "optimize/json_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

using nlohmann::json;

JsonLines::JsonLines(const std::filesystem::path& file,
                     const std::function<void(json&& record)>& read)
    : file_(file), fd_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
  if (!fd_.valid()) {
    throw input_error(
        fmt::format("{}: cannot be opened for writing: {}", file.string(), std::strerror(errno)));
  }
  const std::string text = read_file(file);
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  std::size_t line = 0;
  for (std::size_t at = 0; at < end;) {
    const std::size_t stop = text.find('\n', at);
    ++line;
    const auto refuse = [&] {
      return input_error(fmt::format(
          "{}:{}: not a line of a run's journal; start a new run directory", file.string(), line));
    };
    try {
      read(json::parse(text.substr(at, stop - at)));
    } catch (const json::exception&) {
      throw refuse();
    } catch (const std::logic_error&) {
      throw refuse();
    }
    at = stop + 1;
  }
  if (::ftruncate(fd_.get(), static_cast<off_t>(end)) != 0 || ::lseek(fd_.get(), 0, SEEK_END) < 0) {
    throw input_error(
        fmt::format("{}: cannot be extended: {}", file.string(), std::strerror(errno)));
  }
}

void JsonLines::append(const json& record) {
  const std::string line = record.dump() + "\n";
  // A full disk takes a part of the line and only refuses the rest.
  if (write_all(fd_, line)) return;
  throw input_error(
      fmt::format("{}: cannot be written: {}; the run can be continued with "
                  "--resume once there is room",
                  file_.string(), std::strerror(errno)));
}

}  // namespace swizzleperf
