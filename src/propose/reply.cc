// See reply.h.
#include "propose/reply.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/utf8.h"
#include "swizzleperf/formula.h"

namespace swizzleperf {
namespace {

using nlohmann::json;

constexpr std::size_t kMostWords = 4000;             // of a summary, a reason, a critique
constexpr std::size_t kMostCritiques = 100;          // more are no criticism
constexpr std::size_t kMostFormula = 64 * 1024 + 1;  // one more than the parser takes: it says so

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// --- Text ---------------------------------------------------------------------------------------

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos;
       at += part.size()) {
    ++n;
  }
  return n;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// --- Formulas in text ---------------------------------------------------------------------------

bool parses(std::string_view text) {
  try {
    Formula::parse(text);
    return true;
  } catch (const FormulaError&) {
    return false;
  }
}

/// Something that sets pid, well or badly.
bool sets_pid(std::string_view text) {
  return text.find("pid") != std::string_view::npos && text.find('=') != std::string_view::npos;
}

/// Of several texts the last that is a formula, else the last that wants to be one.
std::optional<std::string> choose(const std::vector<std::string_view>& texts) {
  constexpr std::size_t kMostTried = 32;
  const std::size_t first = texts.size() - std::min(kMostTried, texts.size());
  for (std::size_t i = texts.size(); i-- > first;) {
    if (sets_pid(texts[i]) && parses(texts[i])) return std::string(texts[i]);
  }
  for (std::size_t i = texts.size(); i-- > first;) {
    if (sets_pid(texts[i])) return std::string(texts[i]);
  }
  return std::nullopt;
}

/// The contents of ``` fences, without the language behind the first; the last may be open.
std::vector<std::string_view> fenced(std::string_view text) {
  std::vector<std::string_view> blocks;
  while (true) {
    const std::size_t open = text.find("```");
    if (open == std::string_view::npos) return blocks;
    text.remove_prefix(open + 3);
    const std::size_t line_end = text.find('\n');
    const std::size_t close = std::min(text.find("```"), text.size());
    const std::size_t begin = line_end < close ? line_end + 1 : 0;
    blocks.push_back(text.substr(begin, close - begin));
    text.remove_prefix(std::min(close + 3, text.size()));
  }
}

/// What stands `so`, on one line.
std::vector<std::string_view> in_backticks(std::string_view text) {
  std::vector<std::string_view> spans;
  while (true) {
    const std::size_t open = text.find('`');
    if (open == std::string_view::npos) return spans;
    text.remove_prefix(open + 1);
    const std::size_t close = text.find_first_of("`\n");
    if (close == std::string_view::npos) return spans;
    if (text[close] == '`') spans.push_back(text.substr(0, close));
    text.remove_prefix(close + 1);
  }
}

/// Whether a line of text could be a line of a formula. Prose has no assignment but for words that
/// announce one, and those end in a colon.
bool looks_like_code(std::string_view line) {
  line = trim(line);
  if (line.empty() || line.starts_with("//") || line.starts_with("}")) return true;
  if (line.ends_with(';') || line.ends_with('{') || line.ends_with('}')) return true;
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || line.ends_with(':')) return false;
  std::string_view name = trim(line.substr(0, equals));
  if (name.starts_with("int ")) name = trim(name.substr(4));
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-*/%<>&|^").find(c) != std::string_view::npos;
  });
}

/// Neighbouring lines that all look like code.
std::vector<std::string_view> code_lines(std::string_view text) {
  std::vector<std::string_view> blocks;
  const char* begin = nullptr;
  const char* end = nullptr;
  const auto close = [&] {
    if (begin) blocks.emplace_back(begin, static_cast<std::size_t>(end - begin));
    begin = nullptr;
  };
  for (const std::string_view line : lines_of(text)) {
    if (!looks_like_code(line)) {
      close();
      continue;
    }
    if (!begin) begin = line.data();
    end = line.data() + line.size();
  }
  close();
  return blocks;
}

// --- JSON in text -------------------------------------------------------------------------------

/// One past the } that closes the { at `at`; `at` if it is never closed.
std::size_t object_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return at;
}

std::string text_at(const json& object, const char* key, std::size_t most) {
  const auto it = object.find(key);
  if (it == object.end()) return {};
  if (it->is_string()) return clean_text(it->get_ref<const std::string&>(), most);
  if (!it->is_array()) return {};
  std::string lines;  // some write a formula as a list of its lines
  for (const json& line : *it) {
    if (line.is_string() && lines.size() < most) lines += line.get_ref<const std::string&>() + "\n";
  }
  return clean_text(lines, most);
}

std::vector<Critique> critiques_of(const json& object) {
  std::vector<Critique> critiques;
  const auto it = object.find("critiques");
  if (it == object.end() || !it->is_array()) return critiques;
  for (const json& c : *it) {
    if (!c.is_object() || critiques.size() == kMostCritiques) continue;
    const auto attempt = c.find("attempt");
    if (attempt == c.end() || !attempt->is_number_unsigned()) continue;
    critiques.push_back({attempt->get<std::uint64_t>(), text_at(c, "why", kMostWords)});
  }
  return critiques;
}

std::optional<Proposal> proposal_of(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return std::nullopt;
  return Proposal{text_at(object, "formula", kMostFormula), text_at(object, "summary", kMostWords),
                  text_at(object, "reason", kMostWords), critiques_of(object),
                  text_at(object, "kernel", kMostReplyBytes)};
}

/// The last object in the text that has the key: models like to repeat the example first.
std::optional<Proposal> find_object(std::string_view text, const char* wanted) {
  constexpr int kMostFailures = 16;
  std::optional<Proposal> found;
  int failures = 0;
  for (std::size_t at = 0; (at = text.find('{', at)) != std::string_view::npos;) {
    const std::size_t key = text.find_first_not_of(" \t\n", at + 1);
    if (key == std::string_view::npos) break;
    if (text[key] != '"') {
      ++at;
      continue;
    }
    const std::size_t end = object_end(text, at);
    const json object = json::parse(text.substr(at, end - at), nullptr, false);
    if (object.is_discarded()) {
      if (++failures == kMostFailures) break;
      ++at;
      continue;
    }
    if (auto proposal = proposal_of(object, wanted)) found = std::move(proposal);
    at = end;
  }
  return found;
}

struct KeyedText {
  std::string text;
  bool whole = false;  ///< its closing quote is there
};

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\n';
    default:
      return c;
  }
}

/// The string behind the last `"key":`, in text that is no JSON but meant to be: with raw line
/// breaks in strings, commas too many, or cut off.
std::optional<KeyedText> find_keyed(std::string_view text, std::string_view key) {
  const std::string quoted = '"' + std::string(key) + '"';
  for (std::size_t at = text.rfind(quoted); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(quoted, at - 1)) {
    std::size_t i = text.find_first_not_of(" \t\n", at + quoted.size());
    if (i == std::string_view::npos || text[i] != ':') continue;
    i = text.find_first_not_of(" \t\n", i + 1);
    if (i == std::string_view::npos) return KeyedText{};
    if (text[i] != '"') continue;
    KeyedText found;
    for (++i; i < text.size(); ++i) {
      if (text[i] == '"') {
        found.whole = true;
        break;
      }
      const bool escape = text[i] == '\\' && i + 1 < text.size();
      found.text += escape ? unescaped(text[++i]) : text[i];
    }
    return found;
  }
  return std::nullopt;
}

std::string keyed_words(std::string_view text, std::string_view key) {
  const auto found = find_keyed(text, key);
  return found ? clean_text(found->text, kMostWords) : std::string();
}

// --- All of it ----------------------------------------------------------------------------------

/// The formula of a field may itself stand in a fence.
std::string unfenced(const std::string& formula) {
  if (!trim(formula).starts_with("```")) return formula;
  const std::vector<std::string_view> blocks = fenced(formula);
  return blocks.empty() ? formula : std::string(blocks.front());
}

Extracted with_formula(Proposal proposal) {
  proposal.formula = trim(unfenced(proposal.formula));
  if (proposal.formula.empty()) return {{}, "the reply's \"formula\" is empty or no text"};
  return {std::move(proposal), ""};
}

std::optional<std::string> bare_formula(std::string_view text) {
  if (parses(text)) return std::string(text);
  if (auto formula = choose(fenced(text))) return formula;
  if (auto formula = choose(code_lines(text))) return formula;
  return choose(in_backticks(text));
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t most) {
  std::string clean;
  while (!text.empty() && clean.size() < most) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 0 || (length == 1 && first != '\n' && first != '\t' && first != '\r' &&
                        (first < 0x20 || first == 0x7F))) {
      clean += kReplacement;
      text.remove_prefix(1);
    } else if (first == '\r') {
      if (!text.starts_with("\r\n")) clean += '\n';
      text.remove_prefix(1);
    } else if (length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
      clean += kReplacement;  // the control characters of Latin 1
      text.remove_prefix(2);
    } else {
      clean += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  while (clean.size() > most) {  // not in the middle of a letter
    while ((static_cast<unsigned char>(clean.back()) & 0xC0) == 0x80) clean.pop_back();
    clean.pop_back();
  }
  return clean;
}

std::string clean_line(std::string_view text, std::size_t most) {
  std::string line;
  for (const char c : clean_text(text, most)) {
    const bool space = c == '\n' || c == '\t' || c == ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

namespace {

Extracted extract_formula(std::string_view text) {
  if (auto proposal = find_object(text, "formula")) return with_formula(std::move(*proposal));
  if (const auto formula = find_keyed(text, "formula")) {
    if (!formula->whole) return {{}, "the reply ends in the middle of its formula"};
    return with_formula({clean_text(formula->text, kMostFormula),
                         keyed_words(text, "summary"),
                         keyed_words(text, "reason"),
                         {},
                         ""});
  }
  if (auto formula = bare_formula(text)) {
    return with_formula({clean_text(*formula, kMostFormula), "", "", {}, ""});
  }
  return {{}, "the reply has no formula: no JSON object with the key \"formula\", no formula text"};
}

/// A file is too long for the string of an object more often than not, so a fence will do; one that
/// is not closed was cut off.
Extracted extract_kernel(std::string_view text) {
  Proposal proposal = find_object(text, "summary").value_or(Proposal{});
  if (auto whole = find_object(text, "kernel")) proposal = std::move(*whole);
  proposal.formula.clear();
  const bool closed = count(text, "```") % 2 == 0;
  for (const std::string_view block : fenced(text)) {
    if (proposal.kernel.empty() && block.find("__global__") != std::string_view::npos) {
      if (!closed) return {{}, "the reply ends in the middle of the file"};
      proposal.kernel = block;
    }
  }
  if (proposal.kernel.empty()) {
    return {{},
            "the reply has no file: no JSON object with the key \"kernel\", no fence with a "
            "__global__ function"};
  }
  return {std::move(proposal), ""};
}

}  // namespace

Extracted extract(std::string_view reply, Edit edit) {
  const std::string whole = clean_text(reply, kMostReplyBytes);
  std::string_view text = whole;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  if (const std::size_t thought = text.rfind("</think>"); thought != std::string_view::npos) {
    text.remove_prefix(thought + 8);
  }
  text = trim(text);
  if (text.empty()) return {{}, "the reply is empty"};
  return edit == Edit::kFormula ? extract_formula(text) : extract_kernel(text);
}

}  // namespace swizzleperf
