// A kernel that was rewritten as a whole: is it the same work in another order, and which order?
//
// The paper's models hand back the kernel's whole file. Nothing in such a text can be trusted, so
// what it is asked for is only what we can find out ourselves: that the host side is as it was,
// that it compiles, and which block of the original each of its blocks stands for. For that both
// are traced, and a block is known by the bytes that it loads and stores: each block of the
// rewritten kernel must have exactly the footprint of one block of the original, and each block of
// the original must be had. Then sampled blocks are run on the same memory and must write the same
// bytes. What was recovered is an order, which is judged and replayed like any other.
//
// The rewritten text is compiled by clang and its kernels run on the virtual GPU only; its host
// side is the original's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "optimize/apply.h"
#include "propose/judgement.h"

namespace swizzleperf {

/// What the trace knows of the bytes a block touches, as one number: equal for blocks that load,
/// store and update the same bytes, in whatever order.
std::vector<std::uint64_t> footprints(const Trace& trace);

/// Which block of the original each block of another launch of the same grid stands for.
struct RecoveredOrder {
  std::vector<std::uint32_t> permutation;  ///< empty: `problem` says why
  std::string problem;
  bool foreign = false;  ///< a block touches what no block of the original does
};
RecoveredOrder recover_order(const Trace& original, const Trace& rewritten);

struct RewriteVerdict {
  AttemptOutcome outcome = AttemptOutcome::kMeasured;  ///< it may be measured
  std::string report;
  std::vector<std::uint32_t> permutation;
  std::uint64_t hash = 0;
  std::string patch;
  vgpu::BlockComparison comparison;
};

/// Only for a program that was given as its one source file. Writes only into `work_directory`.
RewriteVerdict judge_rewrite(const std::string& text, const Launch& launch,
                             const vgpu::ProgramSpec& spec, const vgpu::BuiltProgram& built,
                             const KnownOrders& known, const std::filesystem::path& work_directory);

}  // namespace swizzleperf
