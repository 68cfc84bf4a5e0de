// See host_side.h.
#include "splice/host_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "splice/diff.h"
#include "splice/reach.h"
#include "splice/unit.h"
#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

// --- Before parsing -----------------------------------------------------------------------------

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r\f\v";
  const std::size_t first = line.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kSpace) - first + 1);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Could be, or become, part of a preprocessor directive. (%: and ??= are other spellings of #.)
bool is_directive(std::string_view line) {
  return has(line, "#") || has(line, "%:") || has(line, "??") || trimmed(line).ends_with('\\');
}

/// The one directive that kernels are tuned with.
bool is_unroll(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("#pragma unroll") &&
         std::all_of(line.begin() + 1, line.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == ' ' || c == '(' || c == ')' || c == '_';
         });
}

std::vector<std::string_view> directives(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (is_directive(line) && !is_unroll(line)) all.push_back(trimmed(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  return fmt::format("'{}{}'", text.substr(0, kMost), text.size() > kMost ? "..." : "");
}

}  // namespace

std::string forbidden_change(std::string_view original, std::string_view rewritten) {
  const std::vector<std::string_view> before = directives(original);
  const std::vector<std::string_view> now = directives(rewritten);
  const auto [was, is] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  if (is != now.end()) {
    return fmt::format(
        "the line {} is a preprocessor directive or continues a line and is not the "
        "original's; only #pragma unroll may be added",
        shown(*is));
  }
  if (was != before.end()) {
    return fmt::format("the original's line {} is missing", shown(*was));
  }
  constexpr std::array<std::string_view, 6> kWords = {"asm",           "_Pragma",     "__pragma",
                                                      "__has_include", "__has_embed", "__host__"};
  const auto count = [](std::string_view text, std::string_view word) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) ++n;
    return n;
  };
  for (const std::string_view word : kWords) {
    if (count(rewritten, word) > count(original, word)) {
      return fmt::format("'{}' is used where the original did not use it", word);
    }
  }
  return {};
}

namespace {

// --- What may change ----------------------------------------------------------------------------

bool has_attribute(CXCursor function, CXCursorKind attribute) {
  bool found = false;
  for_children(function,
               [&](CXCursor child) { found = found || clang_getCursorKind(child) == attribute; });
  return found;
}

/// The body of a function: its last compound statement.
Span body_of(const Unit& unit, CXCursor function) {
  Span span;
  for_children(function, [&](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_CompoundStmt) span = unit.span(child);
  });
  return span;
}

void collect(const Unit& unit, CXCursor scope, std::vector<Span>& spans) {
  for_children(scope, [&](CXCursor child) {
    if (!unit.in_main(child)) return;
    const CXCursorKind kind = clang_getCursorKind(child);
    if (!is_function(kind)) {
      if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
          kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
          kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate)
        collect(unit, child, spans);
      return;
    }
    if (has_attribute(child, CXCursor_CUDAGlobalAttr)) {
      spans.push_back(body_of(unit, child));
    } else if (has_attribute(child, CXCursor_CUDADeviceAttr) &&
               !has_attribute(child, CXCursor_CUDAHostAttr)) {
      spans.push_back(unit.span(child));
    }
  });
}

struct Word {
  std::string text;
  unsigned line;
};

/// What is left without what may change, and without comments.
std::vector<Word> host_side(const Unit& unit) {
  std::vector<Span> spans;
  collect(unit, unit.root(), spans);
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Word> words;
  auto next = spans.begin();
  for (const Token& token : unit.tokens()) {
    while (next != spans.end() && next->end <= token.span.begin) ++next;
    const bool may_change = next != spans.end() && next->holds(token.span.begin);
    if (!may_change && token.kind != CXToken_Comment) {
      words.push_back({std::string(unit.text(token)), token.line});
    }
  }
  return words;
}

std::string first_change(const std::vector<Word>& before, const std::vector<Word>& now) {
  const auto [was, is] =
      std::mismatch(before.begin(), before.end(), now.begin(), now.end(),
                    [](const Word& a, const Word& b) { return a.text == b.text; });
  if (was == before.end() && is == now.end()) return {};
  using At = std::vector<Word>::const_iterator;
  const auto words = [](At from, At end) {
    std::string text;
    for (int i = 0; i < 8 && from != end; ++i, ++from) text += (i > 0 ? " " : "") + from->text;
    return text.empty() ? std::string("nothing") : shown(text);
  };
  return fmt::format(
      "outside of kernels' bodies and __device__ functions the file must stay as it "
      "is: where the original has {}, line {} of this has {}",
      words(was, before.end()), is == now.end() ? now.back().line : is->line, words(is, now.end()));
}

/// One edit from the first line that differs to the last.
Edit difference(std::string_view before, std::string_view now) {
  const std::size_t shorter = std::min(before.size(), now.size());
  std::size_t begin = 0;
  while (begin < shorter && before[begin] == now[begin]) ++begin;
  begin = begin == 0 ? 0 : before.rfind('\n', begin - 1) + 1;
  std::size_t tail = 0;
  while (tail < shorter - begin && before[before.size() - 1 - tail] == now[now.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t line = before.find('\n', before.size() - tail);
  tail = line == std::string_view::npos ? 0 : before.size() - line - 1;
  return {{static_cast<unsigned>(begin), static_cast<unsigned>(before.size() - tail)},
          std::string(now.substr(begin, now.size() - tail - begin))};
}

}  // namespace

Rewrite compare_rewrite(const RewriteRequest& request) {
  const std::string original = read_file(request.source);
  Rewrite result;
  result.host_change = forbidden_change(original, request.rewritten);
  if (!result.host_change.empty()) return result;
  Unit unit(request.source, request.compile_arguments, original);
  if (const auto error = unit.first_error()) {
    throw input_error(
        fmt::format("{}; the source must compile for the device to be rewritten", *error));
  }
  const std::vector<Word> before = host_side(unit);
  try {
    unit.reparse(request.rewritten);
    result.error = unit.first_error().value_or("");
  } catch (const Error& error) {  // clang itself gave up
    result.error = error.what();
  }
  if (!result.error.empty()) return result;
  result.host_change = first_change(before, host_side(unit));
  if (result.host_change.empty() && original != request.rewritten) {
    result.patch = unified_diff(original, {difference(original, request.rewritten)},
                                path_in_patch(request.source, request.root));
  }
  return result;
}

}  // namespace swizzleperf::splice
