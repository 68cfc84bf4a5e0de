// What a proposer is told of a launch, as text and as the figures that the text is printed from.
//
// Three contexts, as in the paper whose loop this is: `aware` says what was measured of this
// kernel's locality and what of this machine decides reuse; `unaware` says nothing of hardware or
// locality; `overload` says everything that there is, unfiltered. Nothing in any of them is written
// for a kernel: what is said of locality comes from the trace, what is said of the machine from its
// model.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "launch/launch.h"
#include "propose/search.h"

namespace swizzleperf {

enum class ContextKind { kUnaware, kAware, kOverload };
std::string_view context_name(ContextKind kind);

struct ContextRequest {
  ContextKind kind = ContextKind::kAware;
  std::string source;       ///< text of the kernel's source file; empty where there is none
  std::string source_name;  ///< file name for the heading
  std::uint64_t seed = 1;
  unsigned threads = 1;
  Objective objective = Objective::kTime;
};

/// What is measured of a launch, once; the text is printed from it and nothing else.
struct Context {
  std::string text;
  nlohmann::json facts;
  std::string language;  ///< how to write a swizzle, as far as this context may say
};

Context make_context(const Launch& launch, const ContextRequest& request);

/// The file that defines the traced kernel. Empty where there is none: of a trace, of IR.
struct KernelSource {
  std::string text;
  std::string name;
};
KernelSource kernel_source(const vgpu::ProgramSpec& spec,
                           const std::optional<vgpu::BuiltProgram>& built, const Trace& trace);

}  // namespace swizzleperf
