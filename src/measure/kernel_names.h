// Is this row about our kernel?
//
// A kernel has many names: the mangled symbol, the same with ".kd" (its descriptor in AMD's code
// objects), and what three demanglers make of it, with or without return type and arguments,
// "gemm<true>(float const*)" or "void gemm<(bool)1>(const float *)". We ask profilers for mangled
// names, which are exact; files that somebody else had written have any of the others.
#pragma once

#include <string>
#include <string_view>

#include "measure/bundle.h"

namespace swizzleperf::measure {

enum class NameMatch {
  kNo,
  kBase,   ///< the printed name was cut to "gemm": other instantiations of it print the same
  kExact,  ///< up to arguments, where the printed name is not mangled
};

NameMatch match_kernel(std::string_view printed, const Target& target);

/// A pattern (ECMAScript) that this kernel's mangled name matches and no other's. Compilers do not
/// agree on how an anonymous namespace is called, so that part is left open.
std::string symbol_pattern(const std::string& symbol);

/// Whether symbol_pattern() is more than the symbol itself.
bool is_in_anonymous_namespace(const std::string& symbol);

/// A printed name as people write it, for messages.
std::string readable_kernel(std::string_view printed);

}  // namespace swizzleperf::measure
