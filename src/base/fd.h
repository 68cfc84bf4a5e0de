// A file descriptor that closes itself, and the two loops that make read(2) and write(2) whole.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace swizzleperf {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

/// read(2) that a signal does not interrupt.
inline ssize_t read_some(const Fd& fd, char* buffer, std::size_t size) {
  ssize_t n;
  do n = ::read(fd.get(), buffer, size);
  while (n < 0 && errno == EINTR);
  return n;
}

/// Writes all of it, or returns false with errno set.
inline bool write_all(const Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace swizzleperf
