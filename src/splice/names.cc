// Matching is by three spellings, the strictest that fits: the mangled name, the demangled name (if
// the wanted one has template arguments or parameters), the qualified name or its tail.
#include "splice/names.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "splice/reach.h"
#include "swizzleperf/error.h"

namespace swizzleperf::splice {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_kernel(CXCursor function) {
  bool global = false;
  for_children(function, [&](CXCursor child) {
    global = global || clang_getCursorKind(child) == CXCursor_CUDAGlobalAttr;
  });
  return global;
}

bool has_body(CXCursor function) {
  const CXCursor definition = clang_getCursorDefinition(function);
  return clang_Cursor_isNull(definition) == 0 && clang_equalCursors(definition, function) != 0;
}

void collect(const Unit& unit, CXCursor scope, std::vector<Kernel>& kernels) {
  for_children(scope, [&](CXCursor child) {
    if (clang_Location_isInSystemHeader(clang_getCursorLocation(child)) != 0) return;
    const CXCursorKind kind = clang_getCursorKind(child);
    if (!is_function(kind)) {
      if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
          kind == CXCursor_UnexposedDecl)
        collect(unit, child, kernels);
      return;
    }
    if (!is_kernel(child) || !has_body(child)) return;
    const std::string name = qualified_name(child);
    const std::string display = take(clang_getCursorDisplayName(child));
    const std::size_t tail = take(clang_getCursorSpelling(child)).size();
    kernels.push_back({child, {}, name, name + display.substr(std::min(tail, display.size()))});
  });
}

/// Adds each instantiation that the text under `scope` refers to.
void collect_instances(CXCursor scope, std::vector<Kernel>& kernels) {
  for_children(scope, [&](CXCursor child) {
    const CXCursor function = clang_getCursorReferenced(child);
    if (clang_getCursorKind(child) == CXCursor_DeclRefExpr &&
        clang_getCursorKind(function) == CXCursor_FunctionDecl) {
      const CXCursor pattern = pattern_of(function);
      for (Kernel& kernel : kernels)
        if (clang_equalCursors(kernel.definition, pattern) != 0 &&
            clang_equalCursors(function, pattern) == 0 &&
            std::none_of(kernel.instances.begin(), kernel.instances.end(),
                         [&](CXCursor known) { return clang_equalCursors(known, function) != 0; }))
          kernel.instances.push_back(function);
    }
    collect_instances(child, kernels);
  });
}

std::string demangled(const std::string& mangled) {
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr);
  std::string name = text != nullptr ? text : mangled;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): the ABI's contract
  return name;
}

/// The mangled names of a kernel's functions: its own, or those of its instantiations.
std::vector<std::string> symbols(const Kernel& kernel) {
  std::vector<std::string> names;
  if (clang_getCursorKind(kernel.definition) != CXCursor_FunctionTemplate)
    names.push_back(take(clang_Cursor_getMangling(kernel.definition)));
  for (const CXCursor& instance : kernel.instances)
    names.push_back(take(clang_Cursor_getMangling(instance)));
  return names;
}

/// Without spaces, a leading `void` and a leading `::`.
std::string squeezed(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  std::string plain;
  // The space inside `unsigned int` goes as well, on both sides of the comparison.
  for (const char c : name)
    if (c != ' ') plain += c;
  if (plain.starts_with("::")) plain.erase(0, 2);
  return plain;
}

/// `ns::k` of `void ns::k<float>(float*, int)`.
std::string without_arguments(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  std::string plain;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, kAnonymous.size(), kAnonymous) == 0 && depth == 0) {
      plain += kAnonymous;
      i += kAnonymous.size() - 1;
      continue;
    }
    if (name[i] == '(' && depth == 0) break;
    if (name[i] == '<') ++depth;
    if (depth == 0 && name[i] != ' ') plain += name[i];
    if (name[i] == '>') --depth;
  }
  return plain;
}

bool names_it(const Kernel& kernel, const std::string& wanted) {
  if (wanted.starts_with("::")) return kernel.name == wanted.substr(2);
  return kernel.name == wanted || kernel.name.ends_with("::" + wanted);
}

std::string listed(const Unit& unit, const std::vector<const Kernel*>& kernels) {
  std::string list;
  for (const Kernel* kernel : kernels)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", kernel->shown,
                        unit.where(Unit::place(kernel->definition)));
  return list;
}

}  // namespace

std::vector<Kernel> kernels_of(const Unit& unit) {
  std::vector<Kernel> kernels;
  collect(unit, unit.root(), kernels);
  for_children(unit.root(), [&](CXCursor child) {
    if (unit.in_main(child) && clang_isDeclaration(clang_getCursorKind(child)) != 0)
      collect_instances(child, kernels);
  });
  return kernels;
}

const Kernel& find_kernel(const Unit& unit, const std::vector<Kernel>& kernels,
                          const std::string& wanted) {
  std::vector<const Kernel*> matches;
  const auto keep = [&](auto matching) {
    if (!matches.empty()) return;
    for (const Kernel& kernel : kernels)
      if (matching(kernel)) matches.push_back(&kernel);
  };
  const auto any_symbol = [](const Kernel& kernel, auto test) {
    const std::vector<std::string> names = symbols(kernel);
    return std::any_of(names.begin(), names.end(), test);
  };
  const std::string plain = without_arguments(wanted);
  const std::string exact = squeezed(wanted);

  keep([&](const Kernel& kernel) {
    return any_symbol(kernel, [&](const std::string& symbol) { return symbol == wanted; });
  });
  if (squeezed(plain) != exact)
    keep([&](const Kernel& kernel) {
      return squeezed(kernel.shown) == exact || any_symbol(kernel, [&](const std::string& symbol) {
               const std::string name = squeezed(demangled(symbol));
               return name == exact || name.starts_with(exact + "(");
             });
    });
  keep([&](const Kernel& kernel) { return names_it(kernel, plain); });

  if (matches.size() == 1) return *matches.front();
  if (matches.size() > 1)
    throw usage_error(fmt::format("{}: '{}' names {} kernels: {}; give one of these names in full.",
                                  unit.name(), wanted, matches.size(), listed(unit, matches)));
  if (kernels.empty())
    throw usage_error(fmt::format("{}: no kernel '{}': this file has no __global__ function.",
                                  unit.name(), wanted));
  std::vector<const Kernel*> all;
  all.reserve(kernels.size());
  for (const Kernel& kernel : kernels) all.push_back(&kernel);
  throw usage_error(fmt::format("{}: no kernel '{}'; the kernels of this file are {}.", unit.name(),
                                wanted, listed(unit, all)));
}

}  // namespace swizzleperf::splice
