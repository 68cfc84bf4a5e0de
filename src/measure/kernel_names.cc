// See kernel_names.h. Names are compared in a form that all demanglers agree on: the qualified name
// with its template arguments, without return type, parameters, spaces, and casts or suffixes of
// literals.
#include "measure/kernel_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <regex>

namespace swizzleperf::measure {
namespace {

constexpr std::string_view kClangsAnonymous = "12_GLOBAL__N_1";

std::optional<std::string> demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::optional<std::string>(text.get()) : std::nullopt;
}

void remove_suffix(std::string& text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
}

/// Without AMD's marks of a kernel descriptor.
std::string without_marks(std::string_view printed) {
  std::string name(printed);
  remove_suffix(name, " [clone .kd]");
  remove_suffix(name, " (.kd)");
  remove_suffix(name, ".kd");
  return name;
}

/// Cuts the last "(...)", which holds parameters where it ends the name.
void cut_parameters(std::string& name) {
  if (!name.ends_with(')')) return;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return name.resize(i);
  }
}

/// Cuts what stands before the last space outside of all brackets.
void cut_return_type(std::string& name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ')') ++depth;
    if (name[i] == '<' || name[i] == '(') --depth;
    if (name[i] == ' ' && depth == 0) {
      name.erase(0, i + 1);
      return;
    }
  }
}

/// "void <unnamed>::gemm<(bool)1, (int)16>(const float *)" -> "gemm<true,16>".
std::string comparable(std::string name) {
  static const std::regex anonymous(R"((\(anonymous namespace\)|<unnamed>|\{anonymous\})::)");
  static const std::regex boolean(R"(\(bool\)([01]))");
  static const std::regex cast(
      R"(\((unsigned |signed )?(char|short|int|long|long long)\)(-?[0-9]))");
  static const std::regex literal(R"(\b([0-9]+)[uUlL]+\b)");
  name = std::regex_replace(name, anonymous, "");
  cut_parameters(name);
  cut_return_type(name);
  name = std::regex_replace(name, boolean, "bool_$1");
  name = std::regex_replace(name, std::regex(R"(\btrue\b)"), "bool_1");
  name = std::regex_replace(name, std::regex(R"(\bfalse\b)"), "bool_0");
  name = std::regex_replace(name, cast, "$3");
  name = std::regex_replace(name, literal, "$1");
  std::erase(name, ' ');
  return name;
}

std::string base_of(const std::string& comparable_name) {
  const std::string name = comparable_name.substr(0, comparable_name.find('<'));
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

NameMatch match_kernel(std::string_view printed, const Target& target) {
  const std::string name = without_marks(printed);
  if (name == target.symbol) return NameMatch::kExact;
  const std::string ours = demangle(target.symbol).value_or(target.kernel);
  if (const auto theirs = demangle(name))
    return *theirs == ours ? NameMatch::kExact : NameMatch::kNo;
  const std::string wanted = comparable(ours);
  const std::string found = comparable(name);
  if (found == wanted) return NameMatch::kExact;
  const bool cut = name.find_first_of("<(") == std::string::npos;
  return cut && base_of(found) == base_of(wanted) ? NameMatch::kBase : NameMatch::kNo;
}

bool is_in_anonymous_namespace(const std::string& symbol) {
  return symbol.find(kClangsAnonymous) != std::string::npos;
}

std::string symbol_pattern(const std::string& symbol) {
  std::string pattern = "^";
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    if (symbol.compare(i, kClangsAnonymous.size(), kClangsAnonymous) == 0) {
      pattern += "[0-9]+_GLOBAL__N_\\w*";
      i += kClangsAnonymous.size() - 1;
      continue;
    }
    if (symbol[i] == '.' || symbol[i] == '$') pattern += '\\';
    pattern += symbol[i];
  }
  return pattern + "$";
}

std::string readable_kernel(std::string_view printed) {
  const std::string name = without_marks(printed);
  return demangle(name).value_or(name);
}

}  // namespace swizzleperf::measure
