// See measure_options.h.
#include "cli/measure_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/parallel.h"
#include "cli/values.h"
#include "swizzleperf/error.h"

namespace swizzleperf {
namespace {

/// 1e-3 (of single precision), or 1e-3:f16.
measure::Tolerance tolerance_of(const std::string& text) {
  using measure::Element;
  static const std::map<std::string, Element> kElements = {{"f16", Element::kF16},
                                                           {"bf16", Element::kBf16},
                                                           {"f32", Element::kF32},
                                                           {"f64", Element::kF64}};
  const std::size_t colon = text.find(':');
  const std::string type = colon == std::string::npos ? "f32" : text.substr(colon + 1);
  measure::Tolerance tolerance;
  const char* end = text.data() + std::min(colon, text.size());
  const auto read = std::from_chars(text.data(), end, tolerance.relative);
  const auto element = kElements.find(type);
  if (read.ec != std::errc() || read.ptr != end || !(tolerance.relative > 0) ||
      tolerance.relative > 1 || element == kElements.end()) {
    throw usage_error(fmt::format(
        "--tolerance {}: give a relative error up to 1 and, unless elements are floats, their type "
        "(f16, bf16, f32, f64), such as 1e-3:f16",
        text));
  }
  tolerance.element = element->second;
  return tolerance;
}

}  // namespace

void declare_measure_options(CLI::App& app, const std::shared_ptr<MeasureOptions>& o) {
  const char* const kGroup = "Measuring";
  measure::Settings& s = o->settings;
  const auto add = [&](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->group(kGroup);
  };
  add("--device", s.devices, "The driver's numbers of the GPUs to use (all that are visible)")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024));
  add("--architecture", s.build.architecture,
      "What is compiled for, such as sm_90 (the GPU that is there)");
  add("--tolerance", o->tolerance,
      "Outputs may differ by this, relatively: 1e-3, or 1e-3:f16 (not at all)");
  app.add_flag("--cold", s.cold, "Fill the last-level cache with other data before each launch")
      ->group(kGroup);
  app.add_flag("--no-counters", o->no_counters, "Time only, without a profiler")->group(kGroup);
  add("--timing", s.timing_s, "Seconds of rounds of a candidate, at most about (6)")
      ->check(seconds());
  add("--energy", s.energy_s, "Seconds of launches for a reading of energy; 0: none (1)")
      ->check(number_between(0, 3600));
  add("--reach-limit", s.reach_s, "Seconds until a program is at its launch, and to its end (600)")
      ->check(seconds());
  add("--launch-limit", s.command_s, "Seconds that a few launches may take (120)")
      ->check(seconds());
  add("--host-memory", o->memory_mb,
      "Megabytes that a program may hold on the host (three quarters of what is free)")
      ->check(CLI::Range(1, 1 << 30));
  add("--jobs", s.jobs, "Builds at a time (all cores)")->check(CLI::Range(1, 1024));
}

measure::Settings measure_settings(const MeasureOptions& o, std::uint64_t seed, bool quiet) {
  measure::Settings s = o.settings;
  if (!o.tolerance.empty()) s.tolerance = tolerance_of(o.tolerance);
  s.counters = !o.no_counters;
  s.memory_bytes = o.memory_mb << 20;
  if (s.jobs == 0) s.jobs = default_threads();
  s.seed = seed;
  s.quiet = quiet;
  return s;
}

}  // namespace swizzleperf
