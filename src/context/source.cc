// See source.h.
#include "context/source.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace swizzleperf {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// --- Comments and strings -----------------------------------------------------------------------

/// One past the string or character that opens at `at`; a line end closes it, so that an apostrophe
/// in an odd place costs a line and not the file.
std::size_t quoted_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return line_end(text, at);
}

/// Whether the ' at `at` parts the digits of a number, as in 1'000.
bool parts_digits(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return begin < at && text[begin] >= '0' && text[begin] <= '9';
}

/// One past R"x(...)x", whose R stands at `at`; 0 if that is none.
std::size_t raw_string_end(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("R\"") || (at > 0 && is_word(text[at - 1]))) return 0;
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return 0;
  const std::string close = ")" + std::string(text.substr(at + 2, open - at - 2)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? 0 : end + close.size();
}

std::string without_blank_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = line_end(text, at);
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty()) out.append(line).append("\n");
    at = end + 1;
  }
  return out;
}

std::string cpp_without_comments(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.substr(i).starts_with("//")) {
      i = line_end(text, i);
      continue;
    }
    if (text.substr(i).starts_with("/*")) {
      const std::size_t close = text.find("*/", i + 2);
      i = close == std::string_view::npos ? text.size() : close + 2;
      out += ' ';
      continue;
    }
    if (text[i] == 'R') end = std::max(end, raw_string_end(text, i));
    if (text[i] == '"' || (text[i] == '\'' && !parts_digits(text, i))) end = quoted_end(text, i);
    out += text.substr(i, end - i);
    i = end;
  }
  return without_blank_lines(out);
}

/// One past the triple-quoted string at `at`; 0 if there is none.
std::size_t triple_end(std::string_view text, std::size_t at) {
  for (const std::string_view quote : {"\"\"\"", "'''"}) {
    if (!text.substr(at).starts_with(quote)) continue;
    const std::size_t close = text.find(quote, at + 3);
    return close == std::string_view::npos ? text.size() : close + 3;
  }
  return 0;
}

/// A string that is a statement of its own is a comment, too.
std::string python_without_comments(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '#') {
      i = line_end(text, i);
      continue;
    }
    if (text[i] == '"' || text[i] == '\'') {
      const std::size_t triple = triple_end(text, i);
      end = triple > 0 ? triple : quoted_end(text, i);
      if (line_start && line_end(text, end) == text.find_first_not_of(" \t\r", end)) {
        i = end;
        continue;
      }
    }
    out += text.substr(i, end - i);
    line_start = text[i] == '\n' || (line_start && (text[i] == ' ' || text[i] == '\t'));
    i = end;
  }
  return without_blank_lines(out);
}

// --- Top-level declarations ---------------------------------------------------------------------

struct Piece {
  std::string_view text;
  std::string_view name;  ///< what it declares; empty where that is nothing of use
  bool kernel = false;    ///< marked as one
};

/// A step over whatever stands at `at` in text without comments: a string, a word or a character.
std::size_t next_token(std::string_view text, std::size_t at) {
  if (text[at] == 'R') {
    if (const std::size_t end = raw_string_end(text, at); end > 0) return end;
  }
  if (is_word(text[at])) return word_end(text, at);
  if (text[at] == '"' || (text[at] == '\'' && !parts_digits(text, at))) return quoted_end(text, at);
  return at + 1;
}

/// One past the bracket that closes the one at `at`, of its own kind.
std::size_t bracket_end(std::string_view text, std::size_t at, char open, char close) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); i = next_token(text, i)) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

struct Declarator {
  std::string_view name;
  char after = '\0';  ///< ( of a function
};

/// The word before the first ( [ = { : ; of a declaration, template parameters and attributes
/// aside.
Declarator cpp_declarator(std::string_view text) {
  std::string_view last;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t end = next_token(text, i);
    if (is_word(c)) {
      last = text.substr(i, end - i);
      i = last == "template" ? bracket_end(text, i + 8, '<', '>') : end;
      continue;
    }
    if (c == '(' && (last.starts_with("__") || last == "alignas")) {
      i = bracket_end(text, i, '(', ')');
      continue;
    }
    if (c == ':' && text.substr(i).starts_with("::")) {
      i += 2;
      continue;
    }
    if (c == '(' || c == '[' || c == '=' || c == '{' || c == ';' || c == ':') {
      return {last, c};
    }
    i = end;
  }
  return {last, '\0'};
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; at < text.size(); at = next_token(text, at)) {
    if (is_word(text[at]) && text.substr(at, word_end(text, at) - at) == word) return true;
  }
  return false;
}

/// Whether what stands from `begin` to the { at `open` only opens a scope: namespace, extern "C".
bool opens_scope(std::string_view head) {
  return has_word(head, "namespace") || (has_word(head, "extern") && head.find('(') == head.npos);
}

/// One past a directive, continued lines included.
std::size_t directive_end(std::string_view text, std::size_t at) {
  std::size_t end = line_end(text, at);
  while (end > at && end < text.size() && text[end - 1] == '\\') end = line_end(text, end + 1);
  return end;
}

class CppPieces {
 public:
  explicit CppPieces(std::string_view text) : text_(text) {}

  std::vector<Piece> run() {
    for (std::size_t i = 0; i < text_.size();) {
      const char c = text_[i];
      if (begin_ == kNone && (c == ' ' || c == '\n' || c == '\t' || c == '}' || c == ';')) {
        ++i;  // a } here closes a namespace
        continue;
      }
      if (begin_ == kNone && c == '#') {
        i = directive(i);
        continue;
      }
      if (begin_ == kNone) begin_ = i;
      i = c == '{' ? brace(i) : c == '(' ? bracket_end(text_, i, '(', ')') : next_token(text_, i);
      if (c == ';') finish(i);
    }
    if (begin_ != kNone) finish(text_.size());
    return std::move(pieces_);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::size_t directive(std::size_t at) {
    const std::size_t end = directive_end(text_, at);
    std::size_t word = text_.find_first_not_of(" \t", at + 1);
    if (word < end && text_.substr(word).starts_with("define")) {
      word = text_.find_first_not_of(" \t", word + 6);
      if (word < end) {
        pieces_.push_back(
            {text_.substr(at, end - at), text_.substr(word, word_end(text_, word) - word), false});
      }
    }
    return end;
  }

  /// A scope is gone into; a body ends the declaration unless a ; must follow.
  std::size_t brace(std::size_t at) {
    const std::string_view head = text_.substr(begin_, at - begin_);
    if (opens_scope(head)) {
      begin_ = kNone;
      return at + 1;
    }
    const std::size_t end = bracket_end(text_, at, '{', '}');
    if (cpp_declarator(head).after == '(') finish(end);
    return end;
  }

  void finish(std::size_t end) {
    const std::string_view piece = text_.substr(begin_, end - begin_);
    const std::size_t body = std::min(piece.find('{'), piece.size());
    pieces_.push_back(
        {piece, cpp_declarator(piece).name, has_word(piece.substr(0, body), "__global__")});
    begin_ = kNone;
  }

  std::string_view text_;
  std::size_t begin_ = kNone;
  std::vector<Piece> pieces_;
};

/// Statements that begin in the first column; decorators belong to what follows them.
std::vector<Piece> python_pieces(std::string_view text) {
  std::vector<Piece> pieces;
  const auto add = [&](std::string_view piece) {
    Piece p = {piece, {}, false};
    std::size_t at = 0;
    while (at < piece.size() && !is_word(piece[at])) {  // decorators, of one line or more
      const std::string_view line = piece.substr(at, line_end(piece, at) - at);
      p.kernel = p.kernel || (line.starts_with("@") && line.find("jit") != line.npos);
      at = std::min(line_end(piece, at) + 1, piece.size());
    }
    for (const std::string_view word : {"def ", "class "}) {
      if (piece.substr(at).starts_with(word)) at += word.size();
    }
    const std::size_t end = word_end(piece, at);
    const std::string_view name = piece.substr(at, end - at);
    if (name != "import" && name != "from" && name != "if") p.name = name;
    pieces.push_back(p);
  };
  std::size_t begin = 0;
  bool decorated = false;
  for (std::size_t at = 0; at < text.size(); at = line_end(text, at) + 1) {
    const char c = text[at];
    const bool starts = is_word(c) || c == '@';
    if (starts && !decorated && at > begin) {
      add(text.substr(begin, at - begin));
      begin = at;
    }
    if (starts) decorated = c == '@';
  }
  if (begin < text.size()) add(text.substr(begin));
  return pieces;
}

// --- What the kernel uses -----------------------------------------------------------------------

/// "void (anonymous namespace)::gemm<true>(half const*)" is called gemm.
std::string_view base_name(std::string_view kernel) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::size_t at = kernel.find(kAnonymous);
  if (at != kernel.npos && at == kernel.find_first_of("<(")) {
    kernel.remove_prefix(at + kAnonymous.size());
  }
  const std::string_view head = kernel.substr(0, kernel.find_first_of("<("));
  std::size_t begin = head.size();
  while (begin > 0 && is_word(head[begin - 1])) --begin;
  return head.substr(begin);
}

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  for (std::size_t at = 0; at < text.size(); at = next_token(text, at)) {
    if (is_word(text[at])) words.insert(text.substr(at, word_end(text, at) - at));
  }
  return words;
}

/// Indices of the kernels, then of what they name, then of what those name.
std::vector<std::size_t> reached(const std::vector<Piece>& pieces, std::string_view kernel) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(pieces.size());
  const auto take = [&](std::size_t i) {
    if (!taken[i]) order.push_back(i);
    taken[i] = true;
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kernel && pieces[i].name == kernel) take(i);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::set<std::string_view> words = words_of(pieces[order[next]].text);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!pieces[i].name.empty() && words.contains(pieces[i].name)) take(i);
    }
  }
  return order;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

/// Whole lines of at most so many bytes.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t end = text.rfind('\n', most);
  return text.substr(0, end == text.npos ? most : end);
}

}  // namespace

Excerpt kernel_excerpt(std::string_view source, std::string_view file_name, std::string_view kernel,
                       std::size_t most_bytes) {
  const bool python = file_name.ends_with(".py");
  const std::string text = python ? python_without_comments(source) : cpp_without_comments(source);
  const std::vector<Piece> pieces = python ? python_pieces(text) : CppPieces(text).run();
  std::vector<std::size_t> order = reached(pieces, base_name(kernel));
  Excerpt out;
  out.found = !order.empty();
  if (!out.found) {
    out.text = trimmed(cut(text, most_bytes));
    out.shortened = text.size() > most_bytes;
  } else {
    std::size_t bytes = 0;
    std::size_t fit = 0;
    while (fit < order.size() && bytes + pieces[order[fit]].text.size() + 2 <= most_bytes) {
      bytes += pieces[order[fit++]].text.size() + 2;
    }
    out.shortened = fit < order.size();
    order.resize(std::max<std::size_t>(fit, 1));
    std::sort(order.begin(), order.end());
    for (const std::size_t i : order) {
      const std::string_view piece = trimmed(cut(pieces[i].text, most_bytes));
      const bool apart = piece.find('\n') != piece.npos;
      if (!out.text.empty()) out.text += apart ? "\n\n" : "\n";
      out.text += piece;
    }
  }
  if (!out.text.empty()) out.text += "\n";
  out.lines = static_cast<std::size_t>(std::count(out.text.begin(), out.text.end(), '\n'));
  return out;
}

}  // namespace swizzleperf
