// Text to tokens, with the place of each one and the comments between them.
//
// Two things a plain C lexer would throw away are kept: line breaks, because a statement may end at
// one (people who come from Python leave the semicolon out), and comments, because the printers
// carry them into the kernel and because `a // b` deserves an explanation (see parse.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formula/syntax.h"

namespace swizzleperf {

struct Token {
  enum class Kind : std::uint8_t { kName, kNumber, kPunctuation, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< into the formula's text
  Place place;
  std::int64_t value = 0;      ///< of a number
  bool after_newline = false;  ///< first token of its line
  bool after_slashes = false;  ///< a // comment lies between the previous token and this one
  Place slashes;               ///< the place of that comment
  std::string comment;         ///< all comment text between the previous token and this one
};

/// All tokens, the last one of kind kEnd. Throws FormulaError.
std::vector<Token> lex(std::string_view text);

}  // namespace swizzleperf
