// The lexer. See lex.h for what it keeps and why.
//
// Formulas come from strangers (a language model, a file), so the first check is on size, and any
// byte that is not printable ASCII outside a comment is refused at its place. Inside a comment
// UTF-8 is welcome; control bytes are not, because the comment is printed into source code.

#include "formula/lex.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace swizzleperf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    check_size();
    std::vector<Token> tokens;
    do {
      tokens.push_back(next());
    } while (tokens.back().kind != Token::Kind::kEnd);
    return tokens;
  }

 private:
  [[noreturn]] void fail(const Place& place, const std::string& sentence) const {
    throw FormulaError(place.line, place.column, sentence);
  }

  void check_size() {
    if (text_.size() <= kMaxTextBytes) return;
    while (at_ < kMaxTextBytes) advance();
    fail(place_, fmt::format("the formula is longer than {} bytes; shorten it", kMaxTextBytes));
  }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not a UTF-8 continuation byte
      ++place_.column;
    }
  }

  void refuse_control_byte() const {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') {
      fail(place_, fmt::format("control byte 0x{:02x} is not allowed; remove it", c));
    }
  }

  Token next() {
    Token token;
    token.after_newline = at_ == 0;
    skip_space_and_comments(token);
    token.place = place_;
    const std::size_t start = at_;
    if (at_ == text_.size()) return token;
    if (is_name_start(peek())) {
      token.kind = Token::Kind::kName;
      while (is_name_part(peek())) advance();
    } else if (is_digit(peek())) {
      token.kind = Token::Kind::kNumber;
      token.value = number();
    } else {
      token.kind = Token::Kind::kPunctuation;
      punctuation();
    }
    token.text = text_.substr(start, at_ - start);
    return token;
  }

  void skip_space_and_comments(Token& token) {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        token.after_newline |= c == '\n';
        advance();
      } else if (c == '/' && peek(1) == '/') {
        line_comment(token);
      } else if (c == '/' && peek(1) == '*') {
        block_comment(token);
      } else {
        return;
      }
    }
  }

  void line_comment(Token& token) {
    if (!token.after_newline) {  // it shares its line with the end of a statement, or should
      token.after_slashes = true;
      token.slashes = place_;
    }
    while (peek() == '/') advance();
    const std::size_t start = at_;
    while (at_ < text_.size() && peek() != '\n') {
      refuse_control_byte();
      advance();
    }
    keep_comment(token, text_.substr(start, at_ - start));
  }

  void block_comment(Token& token) {
    const Place opened = place_;
    advance();
    advance();
    const std::size_t start = at_;
    while (at_ < text_.size() && !(peek() == '*' && peek(1) == '/')) {
      refuse_control_byte();
      token.after_newline |= peek() == '\n';
      advance();
    }
    if (at_ == text_.size()) fail(opened, "this comment is never closed; end it with */");
    keep_comment(token, text_.substr(start, at_ - start));
    advance();
    advance();
  }

  /// Only comments that stand on lines of their own describe the statement below them.
  static void keep_comment(Token& token, std::string_view comment) {
    if (!token.after_newline) return;
    while (!comment.empty() && (comment.back() == ' ' || comment.back() == '\r')) {
      comment.remove_suffix(1);
    }
    if (!comment.empty() && comment.front() == ' ') comment.remove_prefix(1);
    if (!token.comment.empty()) token.comment += '\n';
    token.comment += comment;
  }

  /// Decimal, 0x and 0b; C's suffixes are tolerated, its octal numbers refused as a trap.
  std::int64_t number() {
    const Place place = place_;
    int base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) base = 16;
    if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B')) base = 2;
    if (base != 10) {
      advance();
      advance();
    } else if (peek() == '0' && is_digit(peek(1))) {
      fail(place, "a number must not begin with 0 (C would read it as octal)");
    }
    std::int64_t value = 0;
    bool any = false;
    for (int digit = digit_value(peek()); digit >= 0 && digit < base; digit = digit_value(peek())) {
      if (__builtin_mul_overflow(value, base, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        fail(place, "the number does not fit 64 bits");
      }
      any = true;
      advance();
    }
    if (!any) fail(place, "digits are missing after the number's prefix");
    while (peek() == 'u' || peek() == 'U' || peek() == 'l' || peek() == 'L') advance();
    if (peek() == '.') fail(place_, "only whole numbers exist in a formula; drop the fraction");
    if (is_name_part(peek())) fail(place, "a number runs into a name; put a space between them");
    return value;
  }

  static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  void punctuation() {
    static constexpr std::array<std::string_view, 43> kPunctuation = {
        "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "++", "--", "+=", "-=", "*=",
        "/=",  "%=",  "&=", "|=", "^=", "->", "::", "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",
        "~",   "!",   "<",  ">",  "=",  "?",  ":",  ";",  ",",  "(",  ")",  "{",  "}"};
    for (const std::string_view p : kPunctuation) {
      if (text_.substr(at_, p.size()) != p) continue;
      for (std::size_t i = 0; i < p.size(); ++i) advance();
      return;
    }
    refuse_character();
  }

  [[noreturn]] void refuse_character() const {
    refuse_control_byte();
    const char c = peek();
    if (c == '#') fail(place_, "comments begin with //, not with #");
    if (c == '"' || c == '\'') fail(place_, "text in quotes has no meaning in a formula");
    if (c == '[') fail(place_, "a formula has no memory to index; [ is not allowed");
    if (c == '.') fail(place_, "a formula has no members or fractions; '.' is not allowed");
    if (static_cast<unsigned char>(c) >= 0x7F) {
      fail(place_, fmt::format("byte 0x{:02x} is not ASCII; only comments may hold other letters",
                               static_cast<unsigned char>(c)));
    }
    fail(place_, fmt::format("'{}' has no meaning in a formula", c));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
};

}  // namespace

std::vector<Token> lex(std::string_view text) { return Lexer(text).run(); }

}  // namespace swizzleperf
