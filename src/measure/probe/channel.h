// What the held program and the session say to each other: one JSON object a line, behind which a
// number of bytes may follow that its key "payload" tells. The first line each way carries a
// version; both ends are of one build, so another one means two builds of ours were mixed.
//
// Both sides wait without a time limit here. The session polls before it reads; the program has
// nothing better to do, and ends its wait when the session closes the socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace swizzleperf::measure::probe {

/// Names the socket in the program's environment.
inline constexpr const char* kSocketVariable = "SWIZZLEPERF_PROBE";
inline constexpr int kVersion = 1;

/// Nothing where the path is longer than the 107 characters that a socket's may have.
inline std::optional<sockaddr_un> address_of(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  path.copy(static_cast<char*>(address.sun_path), path.size());
  return address;
}

struct Message {
  nlohmann::json line;
  std::string payload;
};

class Channel {
 public:
  Channel() = default;
  explicit Channel(Fd socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool valid() const { return socket_.valid(); }
  void close() { socket_.reset(); }

  /// False when the other side is gone.
  bool send(nlohmann::json line, std::string_view payload = {}) {
    if (!payload.empty()) line["payload"] = payload.size();
    // What a program prints or names need not be UTF-8.
    const std::string text =
        line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    return send_all(text) && send_all(payload);
  }

  /// One read of what has arrived; false at the end of the stream.
  bool fill() {
    std::array<char, 1 << 16> buffer;
    const ssize_t n = read_some(socket_, buffer.data(), buffer.size());
    if (n <= 0) return false;
    received_.append(buffer.data(), static_cast<std::size_t>(n));
    return true;
  }

  /// The next message, if all of it has arrived. Throws std::runtime_error for what is none.
  std::optional<Message> take() {
    const std::size_t end = received_.find('\n', begin_);
    if (end == std::string::npos) return compact();
    Message message{nlohmann::json::parse(received_.begin() + static_cast<std::ptrdiff_t>(begin_),
                                          received_.begin() + static_cast<std::ptrdiff_t>(end),
                                          nullptr, /*allow_exceptions=*/false),
                    {}};
    if (!message.line.is_object()) throw std::runtime_error("not a JSON object");
    std::size_t bytes = 0;
    if (const auto told = message.line.find("payload"); told != message.line.end()) {
      if (!told->is_number_unsigned() || told->get<std::uint64_t>() > kMostPayload)
        throw std::runtime_error("a payload of no sensible size");
      bytes = told->get<std::size_t>();
    }
    if (received_.size() - (end + 1) < bytes) return std::nullopt;
    message.payload = received_.substr(end + 1, bytes);
    begin_ = end + 1 + bytes;
    return message;
  }

  /// Waits for a message; nothing at the end of the stream.
  std::optional<Message> receive() {
    while (true) {
      if (auto message = take()) return message;
      if (!fill()) return std::nullopt;
    }
  }

 private:
  static constexpr std::uint64_t kMostPayload = 64 << 20;  // hashes of eight terabytes

  bool send_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  /// Forgets what was taken.
  std::optional<Message> compact() {
    received_.erase(0, std::exchange(begin_, 0));
    return std::nullopt;
  }

  Fd socket_;
  std::string received_;
  std::size_t begin_ = 0;  ///< of what is not taken yet
};

}  // namespace swizzleperf::measure::probe
