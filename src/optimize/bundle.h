// From orders of blocks to a bundle that can be measured where the GPU is (measure/bundle.h).
//
// Each order is proved, put into the source and compared on the virtual GPU before it goes in, like
// the best one of a run. What cannot be patched or computes something else is left out with a
// sentence, and the next order takes its place: what reaches the GPU is known to be right here.
//
// The bundle appears whole or not at all: it is made beside its place and then renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "measure/results.h"
#include "optimize/optimize.h"

namespace swizzleperf {

struct BundleRequest {
  vgpu::ProgramSpec program;        ///< whose language, if it is a source, is set
  std::filesystem::path directory;  ///< where to; must be empty or not be there
  std::filesystem::path project;    ///< what to copy; empty: what the program needs
  std::string build;                ///< a shell command that was run here; empty: none was needed
  std::string test;
  measure::Language language = measure::Language::kCuda;
  std::uint64_t seed = 1;  ///< of the sample, where orders are given
  unsigned threads = 1;
  bool quiet = false;
};

struct BundleOutcome {
  measure::Bundle bundle;
  std::vector<std::string> notes;  ///< sentences: what was left out, what is not portable
};

/// What a program for this machine is written in.
measure::Language language_for(const Machine& machine);

/// Throws Error: the program is not one that can be built elsewhere, the place is taken, the
/// project does not hold it. To be asked before much work is done.
void check_bundle(const BundleRequest& request);

/// The best orders of a run, `top` at most: those that were replayed exactly, then alternatives.
/// Throws Error(kInput) when none of them can be measured.
BundleOutcome write_candidates(const OptimizeOutcome& run, const BundleRequest& request,
                               std::size_t top);

/// Given orders, without a search: traces the program and replays a fine sample of each. The
/// identity and repeated orders are left out; throws Error(kCheckFailed) for one that is no
/// bijection.
BundleOutcome make_bundle(const Machine& machine, const std::vector<std::string>& swizzles,
                          const BundleRequest& request);

/// What measuring a bundle of this run found, wherever that was done. Throws Error(kInput): nothing
/// was measured, or the bundle is of another kernel, launch or run.
measure::Results measured_of(const OptimizeOutcome& run, const measure::Bundle& bundle);

}  // namespace swizzleperf
