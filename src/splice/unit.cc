// Parsing for the device half.
//
// A HIP or CUDA file is compiled twice, for the host and for the device, and libclang looks at the
// first of the two unless told otherwise; kernels are only looked at as kernels in the device half.
// The preamble (the file's leading #includes, most of the work) is compiled once and used again
// when the patched text is checked, which makes that check cost a tenth of the first parse.
#include "splice/unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "swizzleperf/error.h"

namespace swizzleperf::splice {

std::string take(CXString text) {
  const char* characters = clang_getCString(text);
  std::string copy = characters != nullptr ? characters : "";
  clang_disposeString(text);
  return copy;
}

namespace {

std::vector<std::string> device_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  all.emplace_back("--offload-device-only");
  all.emplace_back("-Wno-everything");
  all.emplace_back("-ferror-limit=1");
  return all;
}

// Marks the tokens of preprocessor directives: from a '#' that begins its line to the end of that
// line, counting lines that a backslash continues.
void mark_directives(std::string_view text, std::vector<Token>& tokens) {
  unsigned end_of_directive = 0;
  unsigned previous_line = 0;
  for (Token& token : tokens) {
    const bool first_on_line = token.line != previous_line;
    previous_line = token.line;
    if (token.span.begin < end_of_directive) {
      token.directive = true;
      continue;
    }
    if (!first_on_line || text[token.span.begin] != '#') continue;
    std::size_t end = token.span.begin;
    while ((end = text.find('\n', end)) != std::string_view::npos) {
      std::size_t last = end;
      if (last > 0 && text[last - 1] == '\r') --last;
      ++end;
      if (last == 0 || text[last - 1] != '\\') break;
    }
    end_of_directive = static_cast<unsigned>(std::min(end, text.size()));
    token.directive = true;
  }
}

}  // namespace

Unit::Unit(std::filesystem::path source, const std::vector<std::string>& arguments,
           std::string text)
    : source_(std::move(source)), text_(std::move(text)) {
  CXIndexOptions options = {};
  options.Size = sizeof(options);
  options.StorePreamblesInMemory = 1;  // no files that a killed process would leave behind
  index_ = clang_createIndexWithOptions(&options);
  if (index_ == nullptr)
    throw input_error("the libclang at hand is older than the one this program was built with.");
  const std::vector<std::string> all = device_arguments(arguments);
  std::vector<const char*> pointers;
  pointers.reserve(all.size());
  for (const std::string& argument : all) pointers.push_back(argument.c_str());
  const std::string path = source_.string();
  CXUnsavedFile file{path.c_str(), text_.data(), text_.size()};
  const CXErrorCode code = clang_parseTranslationUnit2(
      index_, path.c_str(), pointers.data(), static_cast<int>(pointers.size()), &file, 1,
      CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_PrecompiledPreamble |
          CXTranslationUnit_CreatePreambleOnFirstParse,
      &unit_);
  if (code != CXError_Success) {
    clang_disposeIndex(index_);
    throw input_error(
        fmt::format("{}: clang cannot read this file with the arguments '{}'; check that they are "
                    "those of a HIP or CUDA compile.",
                    path, fmt::join(arguments, " ")));
  }
  index_text();
}

Unit::~Unit() {
  clang_disposeTranslationUnit(unit_);
  clang_disposeIndex(index_);
}

void Unit::reparse(std::string text) {
  text_ = std::move(text);
  const std::string path = source_.string();
  CXUnsavedFile file{path.c_str(), text_.data(), text_.size()};
  if (clang_reparseTranslationUnit(unit_, 1, &file, clang_defaultReparseOptions(unit_)) != 0)
    throw input_error(fmt::format("{}: clang cannot read the patched text.", path));
  index_text();
}

void Unit::index_text() {
  main_ = clang_getFile(unit_, source_.c_str());
  tokens_.clear();
  skipped_.clear();

  const CXSourceRange whole =
      clang_getRange(clang_getLocationForOffset(unit_, main_, 0),
                     clang_getLocationForOffset(unit_, main_, static_cast<unsigned>(text_.size())));
  CXToken* raw = nullptr;
  unsigned count = 0;
  clang_tokenize(unit_, whole, &raw, &count);
  for (unsigned i = 0; i < count; ++i) {
    const CXSourceRange extent = clang_getTokenExtent(unit_, raw[i]);
    const Place begin = place(clang_getRangeStart(extent));
    const Place end = place(clang_getRangeEnd(extent));
    tokens_.push_back({{begin.offset, end.offset}, begin.line, clang_getTokenKind(raw[i]), false});
  }
  if (raw != nullptr) clang_disposeTokens(unit_, raw, count);
  mark_directives(text_, tokens_);

  CXSourceRangeList* ranges = clang_getSkippedRanges(unit_, main_);
  for (unsigned i = 0; i < ranges->count; ++i)
    skipped_.push_back({place(clang_getRangeStart(ranges->ranges[i])).offset,
                        place(clang_getRangeEnd(ranges->ranges[i])).offset});
  clang_disposeSourceRangeList(ranges);
}

std::optional<std::string> Unit::first_error() const {
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit_); ++i) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit_, i);
    const bool error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    const Place at = place(clang_getDiagnosticLocation(diagnostic));
    std::string message = take(clang_getDiagnosticSpelling(diagnostic));
    clang_disposeDiagnostic(diagnostic);
    if (!error) continue;
    if (at.file == nullptr) return message;
    return fmt::format("{}:{}: {}", where(at), at.column, message);
  }
  return std::nullopt;
}

std::string_view Unit::text(const Token& token) const { return text(token.span); }

std::string_view Unit::text(Span span) const {
  return std::string_view(text_).substr(span.begin, span.end - span.begin);
}

std::size_t Unit::token_at(unsigned offset) const {
  const auto after = std::upper_bound(
      tokens_.begin(), tokens_.end(), offset,
      [](unsigned wanted, const Token& token) { return wanted < token.span.begin; });
  if (after == tokens_.begin() || !(after - 1)->span.holds(offset)) return tokens_.size();
  return static_cast<std::size_t>(after - 1 - tokens_.begin());
}

std::size_t Unit::next(std::size_t i) const {
  do ++i;
  while (i < tokens_.size() && tokens_[i].kind == CXToken_Comment);
  return std::min(i, tokens_.size());
}

bool Unit::skipped(unsigned offset) const {
  return std::any_of(skipped_.begin(), skipped_.end(),
                     [&](const Span& span) { return span.holds(offset); });
}

bool Unit::in_main(CXFile file) const {
  return file != nullptr && clang_File_isEqual(file, main_) != 0;
}

Place Unit::place(CXSourceLocation location) {
  Place found;
  clang_getFileLocation(location, &found.file, &found.line, &found.column, &found.offset);
  return found;
}

Place Unit::place(CXCursor cursor) { return place(clang_getCursorLocation(cursor)); }

Span Unit::span(CXCursor cursor) const {
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  const Place begin = place(clang_getRangeStart(extent));
  const Place end = place(clang_getRangeEnd(extent));
  if (!in_main(begin.file) || !in_main(end.file)) return {};
  return {begin.offset, end.offset};
}

unsigned Unit::line(unsigned offset) const {
  return 1 + static_cast<unsigned>(std::count(text_.begin(), text_.begin() + offset, '\n'));
}

std::string Unit::where(const Place& place) const {
  if (place.file == nullptr) return name();
  if (in_main(place.file)) return fmt::format("{}:{}", name(), place.line);
  return fmt::format("{}:{}", take(clang_getFileName(place.file)), place.line);
}

std::string Unit::where(unsigned offset) const {
  return fmt::format("{}:{}", name(), line(offset));
}

}  // namespace swizzleperf::splice
