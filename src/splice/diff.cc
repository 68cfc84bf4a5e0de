// Edits grow to whole lines, changed lines that touch become one change, changes at most six lines
// apart share a hunk. Lines keep whatever ends them: a CR is part of the line, a missing last
// newline is said as diff says it.
#include "splice/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

constexpr std::size_t kContext = 3;

/// Where each line begins, and the end of the text.
std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' && i + 1 < text.size()) starts.push_back(i + 1);
  starts.push_back(text.size());
  return starts;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  const std::vector<std::size_t> starts = line_starts(text);
  for (std::size_t i = 0; i + 1 < starts.size() && starts[i] < text.size(); ++i)
    lines.emplace_back(text.substr(starts[i], starts[i + 1] - starts[i]));
  return lines;
}

/// Lines [begin, end) of the original become `lines`.
struct Change {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<std::string> lines;
};

std::vector<Change> changed_lines(std::string_view original, const std::vector<Edit>& edits) {
  const std::vector<std::size_t> starts = line_starts(original);
  const auto line_of = [&](std::size_t offset) {
    return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end() - 1, offset) -
                                    starts.begin() - 1);
  };
  std::vector<Change> changes;
  for (std::size_t i = 0; i < edits.size();) {
    const std::size_t begin = line_of(edits[i].span.begin);
    std::size_t end = begin;
    std::vector<Edit> inside;
    for (; i < edits.size(); ++i) {
      const Span span = edits[i].span;
      const std::size_t first = line_of(span.begin);
      if (first > end || (first == end && !inside.empty() && first > begin)) break;
      // Whole lines put before a line leave that line as it is.
      const bool between_lines = span.begin == span.end && span.begin == starts[first] &&
                                 edits[i].text.ends_with('\n') && end == begin;
      if (!between_lines)
        end = std::max(end, line_of(span.begin == span.end ? span.begin : span.end - 1) + 1);
      inside.push_back({{static_cast<unsigned>(span.begin - starts[begin]),
                         static_cast<unsigned>(span.end - starts[begin])},
                        edits[i].text});
    }
    const std::string_view old_text = original.substr(starts[begin], starts[end] - starts[begin]);
    std::vector<std::string> lines = split_lines(apply_edits(old_text, inside));
    if (!changes.empty() && changes.back().end == begin && changes.back().begin < begin) {
      changes.back().end = end;
      changes.back().lines.insert(changes.back().lines.end(), lines.begin(), lines.end());
    } else {
      changes.push_back({begin, end, std::move(lines)});
    }
  }
  return changes;
}

std::string file_name_line(const char* mark, const std::string& path) {
  // A tab ends a name that has a space in it, as git writes it.
  return fmt::format("{}{}{}\n", mark, path, path.find(' ') != std::string::npos ? "\t" : "");
}

void put(std::string& diff, char mark, const std::string& line) {
  diff += mark;
  diff += line;
  if (!line.ends_with('\n')) diff += "\n\\ No newline at end of file\n";
}

}  // namespace

void sort_edits(std::vector<Edit>& edits) {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return std::pair(a.span.begin, a.span.end) < std::pair(b.span.begin, b.span.end);
  });
}

std::string apply_edits(std::string_view original, const std::vector<Edit>& edits) {
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    text += original.substr(at, edit.span.begin - at);
    text += edit.text;
    at = edit.span.end;
  }
  text += original.substr(at);
  return text;
}

std::string unified_diff(std::string_view original, const std::vector<Edit>& edits,
                         const std::string& path) {
  const std::vector<Change> changes = changed_lines(original, edits);
  if (changes.empty()) return {};
  const std::vector<std::string> lines = split_lines(original);
  std::string diff = file_name_line("--- a/", path) + file_name_line("+++ b/", path);
  std::ptrdiff_t shift = 0;  // lines gained before this hunk
  for (std::size_t i = 0; i < changes.size();) {
    std::size_t last = i;
    while (last + 1 < changes.size() && changes[last + 1].begin - changes[last].end <= 2 * kContext)
      ++last;
    const std::size_t begin = changes[i].begin - std::min(changes[i].begin, kContext);
    const std::size_t end = std::min(lines.size(), changes[last].end + kContext);

    std::string body;
    std::size_t at = begin;
    std::size_t gained = 0;
    std::size_t lost = 0;
    for (; i <= last; ++i) {
      for (; at < changes[i].begin; ++at) put(body, ' ', lines[at]);
      for (; at < changes[i].end; ++at) put(body, '-', lines[at]);
      for (const std::string& line : changes[i].lines) put(body, '+', line);
      gained += changes[i].lines.size();
      lost += changes[i].end - changes[i].begin;
    }
    for (; at < end; ++at) put(body, ' ', lines[at]);

    const std::size_t old_count = end - begin;
    const std::size_t new_count = old_count + gained - lost;
    // An empty range is said by the line before it.
    const auto first = [](std::size_t line, std::size_t count) {
      return count == 0 ? line : line + 1;
    };
    diff += fmt::format("@@ -{},{} +{},{} @@\n", first(begin, old_count), old_count,
                        first(begin + shift, new_count), new_count);
    diff += body;
    shift += static_cast<std::ptrdiff_t>(gained) - static_cast<std::ptrdiff_t>(lost);
  }
  return diff;
}

std::string path_in_patch(const std::filesystem::path& source, const std::filesystem::path& root) {
  if (root.empty()) return source.filename().generic_string();
  const std::filesystem::path relative =
      std::filesystem::absolute(source).lexically_normal().lexically_relative(
          std::filesystem::absolute(root).lexically_normal());
  if (relative.empty() || *relative.begin() == "..")
    throw usage_error(fmt::format("{} does not lie under {}, which the patch is to apply in.",
                                  source.string(), root.string()));
  return relative.generic_string();
}

}  // namespace swizzleperf::splice
