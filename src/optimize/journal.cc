// See journal.h.
#include "optimize/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/files.h"
#include "swizzleperf/error.h"

namespace swizzleperf {

using nlohmann::json;

Journal::Journal(const std::filesystem::path& file) : file_(file) {
  fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    throw input_error(
        fmt::format("{}: cannot be opened for writing: {}", file.string(), std::strerror(errno)));
  }
  const std::string text = read_file(file);
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  std::size_t line = 0;
  for (std::size_t at = 0; at < end;) {
    const std::size_t stop = text.find('\n', at);
    ++line;
    try {
      json record = json::parse(text.substr(at, stop - at));
      std::pair key(record.at("rung").get<std::size_t>(), record.at("spec").get<std::string>());
      records_.emplace(std::move(key), std::move(record));
    } catch (const json::exception&) {
      ::close(fd_);
      throw input_error(
          fmt::format("{}:{}: not a line of a run's journal; start a new run "
                      "directory",
                      file.string(), line));
    }
    at = stop + 1;
  }
  if (::ftruncate(fd_, static_cast<off_t>(end)) != 0 || ::lseek(fd_, 0, SEEK_END) < 0) {
    const int reason = errno;
    ::close(fd_);
    throw input_error(
        fmt::format("{}: cannot be extended: {}", file.string(), std::strerror(reason)));
  }
}

Journal::~Journal() { ::close(fd_); }

std::optional<json> Journal::find(std::size_t rung, const std::string& spec) const {
  const std::lock_guard lock(mutex_);
  const auto it = records_.find({rung, spec});
  if (it == records_.end()) return std::nullopt;
  return it->second;
}

void Journal::append(const json& record) {
  const std::string line = record.dump() + "\n";
  const std::lock_guard lock(mutex_);
  // A full disk takes a part of the line and only refuses the rest.
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    throw input_error(
        fmt::format("{}: cannot be written: {}; the run can be continued with "
                    "--resume once there is room",
                    file_.string(), std::strerror(errno)));
  }
  records_.emplace(
      std::pair(record.at("rung").get<std::size_t>(), record.at("spec").get<std::string>()),
      record);
}

std::size_t Journal::size() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

}  // namespace swizzleperf
