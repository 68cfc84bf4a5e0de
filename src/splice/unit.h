// One source file as libclang sees it, with its text and its tokens.
//
// libclang's C interface hands out raw handles, and a position can mean three things when macros
// are about. This room uses one meaning everywhere, the *file position*: where the token stands in
// the file, which for text that comes out of a macro's body is the macro's name at the place of
// use, and for text that came in as a macro's argument is the argument itself. Offsets are bytes of
// the file.
#pragma once

#include <clang-c/Index.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "splice/span.h"

namespace swizzleperf::splice {

/// The text of a CXString, which is released.
std::string take(CXString text);

/// Calls visit(child) for each direct child.
template <typename Visit>
void for_children(CXCursor parent, Visit visit) {
  clang_visitChildren(
      parent,
      [](CXCursor child, CXCursor, CXClientData data) {
        (*static_cast<Visit*>(data))(child);
        return CXChildVisit_Continue;
      },
      &visit);
}

struct Place {
  CXFile file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  unsigned offset = 0;
};

struct Token {
  Span span;
  unsigned line = 0;
  CXTokenKind kind = CXToken_Punctuation;
  bool directive = false;  ///< part of a preprocessor directive
};

class Unit {
 public:
  /// Parses `text` as the contents of `source`, for the device.
  Unit(std::filesystem::path source, const std::vector<std::string>& arguments, std::string text);
  ~Unit();
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  /// Parses another text in its place; cursors taken before are dead.
  void reparse(std::string text);

  /// The compiler's first error as "file:line:column: message", if there is one.
  [[nodiscard]] std::optional<std::string> first_error() const;

  [[nodiscard]] CXCursor root() const { return clang_getTranslationUnitCursor(unit_); }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::vector<Token>& tokens() const { return tokens_; }
  [[nodiscard]] std::string_view text(const Token& token) const;
  [[nodiscard]] std::string_view text(Span span) const;
  /// The token that begins at or contains this offset, or tokens().size().
  [[nodiscard]] std::size_t token_at(unsigned offset) const;
  /// The next token after i that is not a comment.
  [[nodiscard]] std::size_t next(std::size_t i) const;
  /// Whether the preprocessor left this offset out.
  [[nodiscard]] bool skipped(unsigned offset) const;

  [[nodiscard]] bool in_main(CXFile file) const;
  [[nodiscard]] bool in_main(CXCursor cursor) const { return in_main(place(cursor).file); }
  [[nodiscard]] static Place place(CXSourceLocation location);
  [[nodiscard]] static Place place(CXCursor cursor);
  [[nodiscard]] Span span(CXCursor cursor) const;
  [[nodiscard]] unsigned line(unsigned offset) const;
  /// "file:line", the source file by its short name.
  [[nodiscard]] std::string where(const Place& place) const;
  [[nodiscard]] std::string where(unsigned offset) const;
  [[nodiscard]] std::string name() const { return source_.filename().string(); }

 private:
  void index_text();

  std::filesystem::path source_;
  std::string text_;
  CXIndex index_ = nullptr;
  CXTranslationUnit unit_ = nullptr;
  CXFile main_ = nullptr;
  std::vector<Token> tokens_;
  std::vector<Span> skipped_;
};

}  // namespace swizzleperf::splice
