// What `measure` is given besides a bundle. Making a bundle of a program needs LLVM and libclang;
// the small build for GPU nodes has another file in the place of measure_program.cc, which says so.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/verb.h"
#include "measure/bundle.h"

namespace swizzleperf {

struct MeasuredProgram {
  std::function<const std::string&()> name;                     ///< a bundle's folder, or a program
  std::function<measure::Bundle(const CommonOptions&)> bundle;  ///< of a program
};

/// Declares PROGRAM and the options that say how to bundle it.
std::shared_ptr<MeasuredProgram> declare_measured_program(CLI::App& app);

}  // namespace swizzleperf
