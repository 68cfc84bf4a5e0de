// From a formula to a checked patch: prove, print, splice, compile, compare.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "splice/splice.h"
#include "swizzleperf/swizzles.h"
#include "swizzleperf/verify.h"

namespace swizzleperf {

/// What is known of a formula beyond the launch it was found on.
struct Proof {
  RangeVerdict range;
  Guard guard;                      ///< empty where the formula needs none
  double guarded_share = 0;         ///< of the range's launches that fall back to the identity
  std::uint64_t launch_blocks = 0;  ///< blocks of the launch grid, each checked
};

Proof prove(const Swizzle& swizzle, const LaunchShape& shape, unsigned threads);

/// The helper's text for a kernel's source, with a comment that says what it does and what was
/// proved.
std::string helper_code(const Swizzle& swizzle, const Launch& launch, const Proof& proof,
                        const vgpu::ProgramSpec& spec);

struct Applied {
  std::filesystem::path source;  ///< the file that the patch changes
  splice::SpliceResult splice;
  vgpu::BlockComparison comparison;  ///< on the virtual GPU, on the launch as traced
};

/// What the patch's file name is relative to: where we stand, so that `git apply` works from there;
/// for a source that does not lie below, its own folder.
std::filesystem::path patch_root(const std::filesystem::path& source);

/// Blocks to compare: as many as take half a second on the virtual GPU, from four up. Whether each
/// block goes to the right place is proved elsewhere, for all of them; this checks the code.
std::uint64_t compared_blocks(const Trace& trace);

/// Compiles a changed copy for the device; what the source includes from beside itself it must
/// still find.
std::filesystem::path build_patched(vgpu::Unit unit, const std::filesystem::path& source,
                                    const std::filesystem::path& patched,
                                    const std::filesystem::path& directory);

/// Throws Error when the source cannot be patched; `comparison` tells whether the patch computes
/// the same bytes. Writes only into `work_directory`.
Applied apply(const Swizzle& swizzle, const Launch& launch, const Proof& proof,
              const vgpu::ProgramSpec& spec, const vgpu::BuiltProgram& built,
              const std::filesystem::path& work_directory);

}  // namespace swizzleperf
