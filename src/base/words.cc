// See words.h.
#include "base/words.h"

#include <fmt/format.h>

#include "swizzleperf/error.h"

namespace swizzleperf {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool escapes = c == '\\' && next != '\0' &&
                         (quote == 0 || (quote == '"' && (next == '"' || next == '\\')));
    if (escapes) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != 0) {
    throw usage_error(fmt::format("the quote {} in '{}' is not closed; close it", quote, text));
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace swizzleperf
