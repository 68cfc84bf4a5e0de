// Traces kept between runs. A trace depends on the program, its arguments, what it is compiled for
// and told of its device, and on the tracer; not on the cache model, which is what changes from one
// run of `validate` to the next. So a trace's file is named by a hash of all the former.
#pragma once

#include <filesystem>
#include <string>

#include "swizzleperf/trace.h"
#include "vgpu/run.h"

namespace swizzleperf::validate {

class TraceCache {
 public:
  /// Makes the directory. Throws Error(kInput) when it cannot.
  explicit TraceCache(std::filesystem::path directory);

  /// From its file, or traced and written there; `name` is for people who look into the directory.
  [[nodiscard]] Trace get(const std::string& name, const vgpu::ProgramSpec& spec) const;

  /// Whether get() would only read.
  [[nodiscard]] bool has(const std::string& name, const vgpu::ProgramSpec& spec) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& name,
                                              const vgpu::ProgramSpec& spec) const;

  std::filesystem::path directory_;
  std::string tracer_;  ///< hash of what makes traces
};

/// $XDG_CACHE_HOME/swizzleperf/traces or ~/.cache/swizzleperf/traces. Throws Error(kInput) when
/// neither is known.
std::filesystem::path user_trace_directory();

}  // namespace swizzleperf::validate
