// The kernels of a file, and which of them a name means.
//
// A person writes `k` or `ns::k`; the virtual GPU and the profilers write the demangled name of one
// instantiation, `void ns::k<float>(float*, int)`, or the mangled one. All of them lead to one
// text.
#pragma once

#include <clang-c/Index.h>

#include <string>
#include <vector>

#include "splice/unit.h"

namespace swizzleperf::splice {

struct Kernel {
  CXCursor definition;              ///< a template's pattern
  std::vector<CXCursor> instances;  ///< its instantiations in this file
  std::string name;                 ///< qualified, without template arguments and parameters
  std::string shown;                ///< with both, for messages
};

/// Every __global__ function of the translation unit that has a body, in the order of the source.
std::vector<Kernel> kernels_of(const Unit& unit);

/// The one that `wanted` names; throws Error(kUsage) listing the candidates otherwise.
const Kernel& find_kernel(const Unit& unit, const std::vector<Kernel>& kernels,
                          const std::string& wanted);

}  // namespace swizzleperf::splice
