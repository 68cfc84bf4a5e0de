// The host's printf does the work, one conversion at a time: a conversion is cut out of the format,
// its length modifier decides how many of the 64 bits that arrived are meant, and is replaced by
// that of the type we pass. What is malformed is copied as it stands.
#include "vgpu/exec/text.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace swizzleperf::vgpu {
namespace {

struct Conversion {
  std::string flags;   ///< with width and precision, '*' already replaced
  std::string length;  ///< h, hh, l, ll, ...
  char letter = 0;
};

class Formatter {
 public:
  explicit Formatter(const Message& message) : pieces_(message.pieces) {}

  std::string run() {
    const std::string format = next_string();
    for (std::size_t at = 0; at < format.size();) {
      if (format[at] != '%') {
        out_ += format[at++];
        continue;
      }
      at = conversion(format, at);
    }
    return out_;
  }

 private:
  std::uint64_t next_number() {
    if (next_ >= pieces_.size()) return 0;
    const auto* number = std::get_if<std::uint64_t>(&pieces_[next_++]);
    return number == nullptr ? 0 : *number;
  }
  std::string next_string() {
    if (next_ >= pieces_.size()) return "";
    const auto* text = std::get_if<std::string>(&pieces_[next_++]);
    return text == nullptr ? "(null)" : text->c_str();  // up to the terminator
  }

  /// Appends the conversion at `begin`; returns where the text goes on.
  std::size_t conversion(const std::string& format, std::size_t begin) {
    Conversion c;
    std::size_t at = begin + 1;
    for (; at < format.size() && std::strchr("-+ #0123456789.*", format[at]) != nullptr; ++at) {
      if (format[at] == '*')
        c.flags += std::to_string(static_cast<int>(next_number()));
      else
        c.flags += format[at];
    }
    for (; at < format.size() && std::strchr("hlqjzt", format[at]) != nullptr; ++at)
      c.length += format[at];
    if (at == format.size()) {
      out_ += format.substr(begin);
      return at;
    }
    c.letter = format[at];
    append(c);
    return at + 1;
  }

  template <class T>
  void print(const Conversion& c, const char* length, T value) {
    const std::string spec = "%" + c.flags + length + c.letter;
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    out_.append(text, 0, static_cast<std::size_t>(size));
  }

  void append(const Conversion& c) {
    switch (c.letter) {
      case '%':
        out_ += '%';
        return;
      case 'd':
      case 'i':
        return print(c, "ll", as_signed(c.length, next_number()));
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return print(c, "ll", as_unsigned(c.length, next_number()));
      case 'c':
        return print(c, "", static_cast<int>(next_number()));
      case 'p':
        return pointer(c, next_number());
      case 's':
        return print(c, "", next_string().c_str());
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double value = 0;
        const std::uint64_t bits = next_number();
        std::memcpy(&value, &bits, sizeof value);
        return print(c, "", value);
      }
      default:
        out_ += "%" + c.flags + c.length + c.letter;
    }
  }

  void pointer(const Conversion& c, std::uint64_t value) {
    Conversion hexadecimal = c;
    hexadecimal.letter = 'x';
    hexadecimal.flags += '#';
    print(hexadecimal, "ll", static_cast<unsigned long long>(value));
  }

  static long long as_signed(std::string_view length, std::uint64_t value) {
    if (length == "hh") return static_cast<signed char>(value);
    if (length == "h") return static_cast<short>(value);
    if (length.empty()) return static_cast<int>(value);
    return static_cast<long long>(value);
  }
  static unsigned long long as_unsigned(std::string_view length, std::uint64_t value) {
    if (length == "hh") return static_cast<unsigned char>(value);
    if (length == "h") return static_cast<unsigned short>(value);
    if (length.empty()) return static_cast<unsigned>(value);
    return value;
  }

  const std::vector<std::variant<std::uint64_t, std::string>>& pieces_;
  std::size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string formatted(const Message& message) { return Formatter(message).run(); }

}  // namespace swizzleperf::vgpu
